#include "sim/scenario/stack.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/text.h"

namespace slmsim {

namespace {

constexpr Range<double> kTrafficRange{0, 1e4};  // bytes
constexpr Range<BytesPerSecond> kRateRange{{1e6}, {1e14}};
// DeepSpeed's defaults (deepspeed/runtime/zero/config.py; deepspeed/runtime/swap_tensor/constants.py).
constexpr double kBucket = 5e8;  // reduce_bucket_size, allgather_bucket_size, elements
constexpr double kLive = 1e9;    // stage3_max_live_parameters
// Time per layer of DeepSpeed's Python hooks (fetch, wait, release): the time per layer of ZeRO-3 beyond that of ZeRO-2
// on one node of four A100, Table V of "Bandwidth Characterization of DeepSpeed on Distributed LLM Training". Not
// measured on another machine; 1 to 4 ms are likely.
constexpr Seconds kModuleHook{2e-3};
constexpr Bytes kIoBlock{kMebi};
constexpr int kIoDepth = 8;

constexpr Range<double> kElements{0, 1e3}, kBytes{0, 1e4}, kCycles{0, 1e4}, kCasts{0, 100}, kKept{0, 100};
constexpr Range<Seconds> kHostRange{{0}, {1}};

MemoryTraffic read_moves(const Node& node, const std::string& path, Reading& reading) {
  Fields fields(node, path, reading);
  const MemoryTraffic moves{
      fields.number({"elements", "Elements moved per element written, at the data sheet's bandwidth."}, kElements),
      fields.number({"bytes", "Bytes moved in addition, whatever the precision."}, kBytes, 0.0),
      fields.number({"cycles", "Cycles of a multiprocessor per element, where these take longer than memory."}, kCycles,
                    0.0),
      fields.number({"bf16_bytes", "Bytes that bf16 moves in addition."}, kBytes, 0.0),
      fields.number({"casts", "Passes among these that load one element at a time."}, kCasts, 0.0),
      fields.number({"bf16_casts", "Such passes that bf16 adds."}, kCasts, 0.0),
      fields.number({"half_bytes", "Bytes that fp16 and bf16 move in addition."}, kBytes, 0.0),
      fields.number({"half_casts", "Such passes that fp16 and bf16 add."}, kCasts, 0.0),
      fields.number({"launches", "Kernels that the host launches, by the time of an element-wise one; with `product`."},
                    kCasts, 0.0)};
  fields.done();
  return moves;
}

KernelTraffic read_kernel(const Node& node, const std::string& path, Reading& reading) {
  Fields fields(node, path, reading);
  KernelTraffic kernel;
  if (const Node* forward = fields.child({"forward", "In the forward pass."}, true))
    kernel.forward = read_moves(*forward, fields.path_of("forward"), reading);
  if (const Node* backward = fields.child({"backward", "In the backward pass."}, true))
    kernel.backward = read_moves(*backward, fields.path_of("backward"), reading);
  const FileKey kept{"kept", "Tensors kept for the backward pass besides the operator's inputs and masks.", "none"};
  fields.inside(kept, [&](Fields& tensors) {
    kernel.kept.elements = tensors.number({"elements", "Elements kept per element written."}, kKept, 0.0);
    kernel.kept.bytes = tensors.number({"bytes", "Bytes kept in addition, whatever the precision."}, kKept, 0.0);
    kernel.kept.half_bytes = tensors.number({"half_bytes", "Bytes that fp16 and bf16 add."}, kKept, 0.0);
  });
  Parameter parameter{.path = path,
                      .value = fmt::format("{:g}/{:g}", kernel.forward.elements, kernel.backward.elements),
                      .owner = reading.owner};
  parameter.provenance =
      static_cast<Provenance>(fields.choice({"provenance", "Kind of source of these figures."}, provenance_names()));
  parameter.source = fields.text({"source", "Reference of the figures, or the data that they were fitted to."}, "");
  if (parameter.source.empty()) fields.error("source", path + " states no source; add source: \"...\"");
  parameter.spread = fields.number(
      {"spread", "Relative spread: 80 % of times lie within this share of the prediction.", "not known"}, {0, 10}, 0.0);
  fields.done();
  if (!reading.describing()) reading.parameters.push_back(std::move(parameter));
  return kernel;
}

}  // namespace

Framework read_framework(Fields fields) {
  Framework s;
  s.cpu_adam = fields.number(
      FileKey{"cpu_adam", "Bytes of host memory that CPU Adam moves per parameter under ZeRO-1 and ZeRO-2."}
          .measured_by(kFit, Use::kHostAdamBelowStage3),
      kTrafficRange, s.cpu_adam);
  s.cpu_adam_stage3 = fields.number(
      FileKey{"cpu_adam_stage3", "The same under ZeRO-3, which copies its sub-groups once more."}.measured_by(
          kFit, Use::kHostAdamStage3),
      kTrafficRange, s.cpu_adam_stage3);
  s.cpu_adam_rate = fields.quantity<BytesPerSecond>(
      FileKey{"cpu_adam_rate", "Host memory that one rank's CPU Adam moves per second."}.measured_by(kFit,
                                                                                                     Use::kHostAdam),
      kRateRange, BytesPerSecond{30e9});
  s.module_hook = fields.quantity<Seconds>(
      FileKey{"module_hook", "Host time to fetch and release a layer's parameters under ZeRO-3, per pass."}.measured_by(
          kFit, Use::kStage3),
      {{0}, {1}}, kModuleHook);
  s.drive_share = fields.number(
      FileKey{"drive_share", "Share of a drive's rated throughput that asynchronous I/O reaches."}.measured_by(
          kFit, Use::kDrives),
      {0.01, 1}, 1.0);
  s.swap_rate = fields.quantity<BytesPerSecond>(
      FileKey{"swap_rate", "Rate of one rank that reads parameters tensor by tensor."}.measured_by(kFit, Use::kDrives),
      kRateRange, BytesPerSecond{1e9});
  s.sub_group = fields.number({"sub_group", "Parameters per rank that Infinity swaps and updates at a time."},
                              {1e5, 1e12}, s.sub_group);
  s.io_block = fields.quantity<Bytes>({"io_block", "Size of one request to a drive."}, {{4096}, {kGibi}}, kIoBlock);
  s.io_depth =
      static_cast<int>(fields.integer({"io_depth", "Number of concurrent requests of a rank."}, {1, 65536}, kIoDepth));
  s.reduce_bucket =
      fields.number({"reduce_bucket", "Elements in a bucket of DeepSpeed's reductions."}, {1e3, 1e12}, kBucket);
  s.gather_bucket =
      fields.number({"allgather_bucket", "Elements in a bucket of DeepSpeed's gathers."}, {1e3, 1e12}, kBucket);
  s.live_parameters = fields.number({"live_parameters",
                                     "Maximum number of parameters that ZeRO-3 keeps gathered, and that are used "
                                     "between two uses of one that it keeps."},
                                    {0, 1e12}, kLive);
  s.gradient_copies = static_cast<int>(
      fields.integer({"gradient_copies",
                      "Number of fp32 copies of 16-bit gradients that an undivided optimizer holds during its step: 1 "
                      "in Megatron-LM; 2 in DeepSpeed's FP16_Optimizer, which converts all, then flattens them."},
                     {0, 4}, s.gradient_copies));
  fields.done();
  return s;
}

FlashShares read_flash(const Node& node, const std::string& path, Reading& reading) {
  constexpr Range<double> kShare{0.01, 2};
  Fields fields(node, path, reading);
  FlashShares out;
  const FileKey forward = FileKey{"forward", "In the forward pass."}.matters_to(Use::kFlash);
  const FileKey backward = FileKey{"backward", "In the backward pass."}.matters_to(Use::kFlash);
  out.forward.share = fields.number(forward, kShare);
  out.backward.share = fields.number(backward, kShare);
  const FileKey half{"half_length",
                     "Sequence length in tokens that reaches half of that; the share grows as n / (n + half)."};
  fields.inside(half, [&](Fields& lengths) {
    constexpr Range<double> kTokens{0, 1e6};
    out.forward.half_length = lengths.number(forward, kTokens);
    out.backward.half_length = lengths.number(backward, kTokens);
  });
  const FileKey on{"architectures", "Factors on both for architectures that the kernels do not fully use."};
  fields.inside(on, [&](Fields& architectures) {
    for (const auto& name : architecture_names()) {
      const FileKey share = FileKey{name, "Factor on such GPUs.", "1"}.matters_to(Use::kFlashOn);
      if (architectures.has(name)) out.on[name] = architectures.number(share, kShare);
    }
  });
  fields.done();
  return out;
}

std::vector<KernelPart> read_kernels(const Node& node, const std::string& path, Reading& reading, Software& software) {
  Fields fields(node, path, reading);
  const Owned owned = fields.owned_by(Scope::kKernel);
  std::vector<KernelPart> out;
  for (std::size_t p = 0; p < kKernelParts; ++p) {
    const std::string& name = kernel_part_names()[p];
    const Node* kernel = fields.child({name, "Figures of this kernel."});
    if (!kernel) continue;
    software.kernels[p] = read_kernel(*kernel, fields.path_of(name), reading);
    out.push_back(static_cast<KernelPart>(p));
  }
  fields.done();
  return out;
}

namespace {

void read_adam(Fields& fields, Software& software) {
  software.adam = fields.number(FileKey{"adam",
                                        "Bytes of GPU memory that the optimizer moves per parameter that it updates; "
                                        "0: those of a fused Adam in mixed precision."}
                                    .matters_to(Use::kGpuAdam),
                                {0, 1e4}, 0.0);
  software.adam_kernel = fields.text(
      {"adam_kernel",
       "The optimizer's kernels, as a GPU's profile names them: adam, adam_foreach, or adam_single, a loop over "
       "tensors in Python, for which the GPU may wait. A measured time is used."},
      "");
  if (!software.adam_kernel.empty()) {
    static const std::vector<std::string> kWays = {"adam", "adam_foreach", "adam_single"};
    if (std::ranges::find(kWays, software.adam_kernel) == kWays.end())
      fields.error("adam_kernel", fmt::format("{} is \"{}\"; {}", fields.path_of("adam_kernel"),
                                              printable(software.adam_kernel).substr(0, 64),
                                              did_you_mean(software.adam_kernel, kWays)));
  }
}

void read_host(Fields& fields, Software& software) {
  const FileKey host{
      "host",
      "Host time of one of the kernels' `launches`; without kernel `product`, of one operator, of which a "
      "layer has twelve.",
      "no time"};
  fields.inside(host, [&](Fields& times) {
    software.host.forward = times.quantity<Seconds>({"forward", "In the forward pass."}, kHostRange);
    software.host.backward = times.quantity<Seconds>({"backward", "In the backward pass."}, kHostRange);
    software.host_checkpoint = times.quantity<Seconds>(
        {"checkpoint", "In addition for each layer that is recomputed (torch.utils.checkpoint)."}, kHostRange,
        Seconds{0});
  });
}

}  // namespace

void read_stack(const Node& node, const std::string& path, Reading& reading, Software& software) {
  Fields fields(node, path, reading);
  const Owned owned = fields.owned_by(Scope::kStack);
  software.stack = fields.name({"name", "Name of the stack."});
  software.title = fields.text({"title", "Description in one line.", "its name"}, software.stack);
  software.least_capability = static_cast<int>(std::lround(
      10 *
      fields.number({"compute_capability",
                     "Minimum CUDA compute capability of its kernels; a warning appears for a GPU below it.", "any"},
                    {0, 20}, 0.0)));
  software.attention =
      static_cast<AttentionKernel>(fields.choice({"attention", "The kernels of attention."}, attention_kernel_names()));
  software.attention_elsewhere = static_cast<AttentionKernel>(fields.choice(
      {"attention_elsewhere", "The kernels of attention where the GPU or the precision cannot run the former."},
      attention_kernel_names(), 0));
  if (const Node* kernels =
          fields.child({"kernels",
                        "Bytes that the kernels between matrix products move, each per element that its operator "
                        "writes; a kernel left out moves its operator's inputs and outputs."})) {
    read_kernels(*kernels, fields.path_of("kernels"), reading, software);
  }
  if (const Node* flash = fields.child(
          {"flash",
           "Share of the rate of large products that flash attention reaches, by the FLOPs of the causal half."}))
    software.flash = read_flash(*flash, fields.path_of("flash"), reading);
  software.autocast =
      fields.flag({"autocast",
                   "Whether weights are in fp32 and cast by each pass, and norms and the softmax compute and save in "
                   "fp32 (torch.autocast). Only for 16-bit training with gradients in fp32."},
                  false);
  if (const Node* cast =
          fields.child({"weight_cast", "Bytes that casting moves per weight that a product reads.", "nothing"}))
    software.weight_cast = read_kernel(*cast, fields.path_of("weight_cast"), reading);
  software.pads =
      fields.flag({"pads", "Whether rows of products are padded to 16 bytes; unpadded rows are slower."}, false);
  software.keeps_norms =
      fields.flag({"keeps_norms", "Whether outputs of norms are kept for the backward pass, not recomputed."}, true);
  software.keeps_activations =
      fields.flag({"keeps_activations", "Whether outputs of GELU and SwiGLU are kept for the backward pass."}, true);
  software.loss_memory = fields.number(
      {"loss_memory", "Bytes kept per logit besides the logits; 8: an fp32 softmax and its gradient."}, {0, 100}, 8.0);
  software.ddp_buckets = fields.flag(
      {"ddp_buckets",
       "Whether replicas of the Megatron technique reduce gradients in PyTorch's DDP buckets, beside fp32 sums."},
      false);
  software.stages_by_weights = fields.flag(
      {"stages_by_weights",
       "Whether stages of the Megatron technique are cut by the sum of weights with the head's, not by layers."},
      false);
  software.usable_memory = fields.number(
      {"usable_memory", "Share of the device memory that the framework may take, where the scenario states none."},
      {0.05, 1.0}, kCachingUsable);
  software.caching_allocator =
      fields.flag({"caching_allocator",
                   "Whether memory is allocated when needed and cached (PyTorch); no: a pool taken at once (XLA)."},
                  true);
  software.recompute_stops_early = fields.flag({"recompute_stops_early",
                                                "Whether recomputing a layer stops at the last tensor that its "
                                                "backward pass needs, as PyTorch's non-reentrant checkpoints do."},
                                               false);
  read_adam(fields, software);
  read_host(fields, software);
  fields.done();
}

}  // namespace slmsim
