#include <fmt/format.h>

#include "sim/technique/export/export.h"

namespace slmsim {
namespace {

// Each block is divided by a scale that maps its largest number to the format's maximum.
constexpr const char* kShares =
    R"(# Gradients as numbers of few bits, each block with a scale, summed by shares: every rank gets its share from all
# others, adds up, and sends the sum to all.
import torch
import torch.distributed as dist

BLOCK = {block}


def encode(numbers):
    """Rows of blocks as bytes, and their scales."""
    scales = numbers.abs().amax(dim=-1, keepdim=True).float().clamp_min(1e-30) / {most}
    scaled = numbers.float() / scales
{pack}


def decode(packed, scales):
{unpack}


def exchange(packed, scales, all_to_all):
    out = [torch.empty_like(packed), torch.empty_like(scales)]
    for received, sent in zip(out, (packed, scales)):
        if all_to_all:
            dist.all_to_all_single(received, sent)
        else:
            dist.all_gather(list(received.split(1)), sent[:1].contiguous())
    return out


def hook(_, bucket):
    gradients, ranks = bucket.buffer(), dist.get_world_size()
    padded = torch.nn.functional.pad(gradients, (0, -gradients.numel() % (ranks * BLOCK)))
    shares = padded.view(ranks, -1, BLOCK)
    mean = decode(*exchange(*encode(shares), True)).mean(dim=0, keepdim=True)
    packed, scales = encode(mean)
    whole = decode(*exchange(packed.expand(ranks, -1, -1), scales.expand(ranks, -1, -1), False))
    future = torch.futures.Future(devices=[gradients.device] if gradients.is_cuda else None)
    future.set_result(whole.reshape(-1)[: gradients.numel()].to(gradients.dtype))
    return future
)";

constexpr const char* kInt8Pack = "    return scaled.round().to(torch.int8), scales";
constexpr const char* kInt8Unpack = "    return packed.float() * scales";
constexpr const char* kFp8Pack = "    return scaled.to(torch.float8_e4m3fn).view(torch.uint8), scales";
constexpr const char* kFp8Unpack = "    return packed.view(torch.float8_e4m3fn).float() * scales";
constexpr const char* kInt4Pack =
    "    whole = (scaled.round() + 8).to(torch.uint8)\n"
    "    return whole[..., ::2] * 16 + whole[..., 1::2], scales";
constexpr const char* kInt4Unpack =
    "    halves = torch.stack((packed // 16, packed % 16), dim=-1).flatten(-2)\n"
    "    return (halves.float() - 8) * scales";

constexpr const char* kLargest = R"(# The largest gradients only; the rest is added to the next step's.
import torch
import torch.distributed as dist

DENSITY = {density:g}
rest = {{}}


def hook(_, bucket):
    gradients, ranks = bucket.buffer(), dist.get_world_size()
    if bucket.index() not in rest or rest[bucket.index()].numel() != gradients.numel():
        rest[bucket.index()] = torch.zeros_like(gradients)  # DDP cuts its buckets anew after the first step
    left = rest[bucket.index()].add_(gradients)
    count = -int(-gradients.numel() * DENSITY // 1)
    places = left.abs().topk(count, sorted=False).indices
    values = left[places]
    left[places] = 0
    places = places.to(torch.int32)
    all_values = values.new_empty(ranks * count)
    all_places = places.new_empty(ranks * count)
    dist.all_gather(list(all_values.split(count)), values)
    dist.all_gather(list(all_places.split(count)), places)
    gradients.zero_().index_add_(0, all_places, all_values / ranks)
    future = torch.futures.Future(devices=[gradients.device] if gradients.is_cuda else None)
    future.set_result(gradients)
    return future
)";

std::string by_shares(int most, const char* pack, const char* unpack) {
  return fmt::format(fmt::runtime(kShares), fmt::arg("block", static_cast<int>(kScaleBlock)), fmt::arg("most", most),
                     fmt::arg("pack", pack), fmt::arg("unpack", unpack));
}

constexpr const char* kOwnFile = "import compress\n\nmodel.register_comm_hook(None, compress.hook)\n";

std::string of_pytorch(const char* hook) {
  return fmt::format(
      "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\n\n"
      "model.register_comm_hook(None, default_hooks.{})\n",
      hook);
}

}  // namespace

Hook hook_of_torch(const Compression& compression, int warm_up) {
  constexpr int kMostInt8 = 127, kMostFp8 = 448, kMostInt4 = 7;
  switch (compression.by) {
    case Compressor::kBf16:
      return {of_pytorch("bf16_compress_hook"), ""};
    case Compressor::kFp16:
      return {of_pytorch("fp16_compress_hook"), ""};
    case Compressor::kFp8:
      return {kOwnFile, by_shares(kMostFp8, kFp8Pack, kFp8Unpack)};
    case Compressor::kInt8:
      return {kOwnFile, by_shares(kMostInt8, kInt8Pack, kInt8Unpack)};
    case Compressor::kInt4:
      return {kOwnFile, by_shares(kMostInt4, kInt4Pack, kInt4Unpack)};
    case Compressor::kPowerSgd:
      return {fmt::format("from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook\n\n"
                          "state = powerSGD_hook.PowerSGDState(process_group=None, matrix_approximation_rank={}, "
                          "start_powerSGD_iter={})\n"
                          "model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)\n",
                          compression.rank, warm_up),
              ""};
    case Compressor::kTopK:
      return {kOwnFile, fmt::format(fmt::runtime(kLargest), fmt::arg("density", compression.density))};
    default:
      return {};
  }
}

}  // namespace slmsim
