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

}  // namespace

Framework read_framework(Fields fields) {
  Framework s;
  s.cpu_adam = fields.number(
      FileKey{"cpu_adam", "Bytes of host memory that CPU Adam moves per parameter under ZeRO-1 and ZeRO-2."}
          .measured_by(kFit),
      kTrafficRange, s.cpu_adam);
  s.cpu_adam_stage3 = fields.number(
      FileKey{"cpu_adam_stage3", "The same under ZeRO-3, whose sub-groups are copied once more."}.measured_by(kFit),
      kTrafficRange, s.cpu_adam_stage3);
  s.cpu_adam_rate = fields.quantity<BytesPerSecond>(
      FileKey{"cpu_adam_rate", "Host memory that one rank's CPU Adam moves per second."}.measured_by(kFit), kRateRange,
      BytesPerSecond{30e9});
  s.module_hook = fields.quantity<Seconds>(
      FileKey{"module_hook", "What fetching and releasing a layer's parameters under ZeRO-3 costs the host, per pass."}
          .measured_by(kFit),
      {{0}, {1}}, kModuleHook);
  s.drive_share = fields.number(
      FileKey{"drive_share", "Share of a drive's rated throughput that asynchronous I/O reaches."}.measured_by(kFit),
      {0.01, 1}, 1.0);
  s.swap_rate = fields.quantity<BytesPerSecond>(
      FileKey{"swap_rate", "What one rank reaches where it reads parameters tensor by tensor."}.measured_by(kFit),
      kRateRange, BytesPerSecond{1e9});
  s.sub_group = fields.number({"sub_group", "Parameters per rank that Infinity swaps and updates at a time."},
                              {1e5, 1e12}, s.sub_group);
  s.io_block = fields.quantity<Bytes>({"io_block", "Size of one request to a drive."}, {{4096}, {kGibi}}, kIoBlock);
  s.io_depth = static_cast<int>(
      fields.integer({"io_depth", "Requests of a rank that are under way at once."}, {1, 65536}, kIoDepth));
  s.reduce_bucket =
      fields.number({"reduce_bucket", "Elements in a bucket of DeepSpeed's reductions."}, {1e3, 1e12}, kBucket);
  s.gather_bucket =
      fields.number({"allgather_bucket", "Elements in a bucket of DeepSpeed's gathers."}, {1e3, 1e12}, kBucket);
  s.live_parameters =
      fields.number({"live_parameters", "Parameters that ZeRO-3 keeps gathered at most."}, {0, 1e12}, kLive);
  s.gradient_copies = static_cast<int>(
      fields.integer({"gradient_copies",
                      "Copies of 16-bit gradients in fp32 that an optimizer which is not divided holds while it steps. "
                      "Megatron-LM's holds one; DeepSpeed's FP16_Optimizer converts all, then flattens them: 2."},
                     {0, 4}, s.gradient_copies));
  fields.done();
  return s;
}

namespace {

constexpr Range<double> kElements{0, 1e3}, kBytes{0, 1e4}, kCycles{0, 1e4}, kCasts{0, 100};
constexpr Range<Seconds> kHostRange{{0}, {1}};

Moves read_moves(const Node& node, const std::string& path, Reading& reading) {
  Fields fields(node, path, reading);
  const Moves moves{
      fields.number({"elements", "Elements moved per element written, at the data sheet's bandwidth."}, kElements),
      fields.number({"bytes", "Bytes moved beside, whatever the precision."}, kBytes, 0.0),
      fields.number({"cycles", "Cycles of a multiprocessor per element, where these take longer than memory."}, kCycles,
                    0.0),
      fields.number({"bf16_bytes", "Bytes that bf16 moves beside."}, kBytes, 0.0),
      fields.number({"casts", "Passes among these that load one element at a time."}, kCasts, 0.0),
      fields.number({"bf16_casts", "Such passes that bf16 adds."}, kCasts, 0.0)};
  fields.done();
  return moves;
}

KernelMoves read_kernel(const Node& node, const std::string& path, Reading& reading) {
  Fields fields(node, path, reading);
  KernelMoves kernel;
  if (const Node* forward = fields.child({"forward", "Going forward."}, true))
    kernel.forward = read_moves(*forward, fields.path_of("forward"), reading);
  if (const Node* backward = fields.child({"backward", "Going backward."}, true))
    kernel.backward = read_moves(*backward, fields.path_of("backward"), reading);
  Parameter parameter{.path = path,
                      .value = fmt::format("{:g}/{:g}", kernel.forward.elements, kernel.backward.elements),
                      .provenance = Provenance::kTypical,
                      .source = "",
                      .spread = 0};
  parameter.provenance = static_cast<Provenance>(
      fields.choice({"provenance", "What kind of source these figures have."}, provenance_names()));
  parameter.source = fields.text({"source", "Where they stand, or what they were fitted to."}, "");
  if (parameter.source.empty()) fields.error("source", path + " does not say its source; add source: \"...\"");
  parameter.spread =
      fields.number({"spread", "Eight of ten times lie within this share of what follows.", "not known"}, {0, 10}, 0.0);
  fields.done();
  if (!reading.describing()) reading.parameters.push_back(std::move(parameter));
  return kernel;
}

}  // namespace

FlashShares read_flash(const Node& node, const std::string& path, Reading& reading) {
  constexpr Range<double> kShare{0.01, 2};
  Fields fields(node, path, reading);
  FlashShares out;
  out.forward.share = fields.number({"forward", "Going forward."}, kShare);
  out.backward.share = fields.number({"backward", "Going backward."}, kShare);
  if (const Node* half = fields.child(
          {"half_length", "Tokens of a sequence of which half of that is reached; it grows as n / (n + half)."})) {
    constexpr Range<double> kTokens{0, 1e6};
    Fields lengths(*half, fields.path_of("half_length"), reading);
    out.forward.half_length = lengths.number({"forward", "Going forward."}, kTokens);
    out.backward.half_length = lengths.number({"backward", "Going backward."}, kTokens);
    lengths.done();
  }
  if (const Node* on = fields.child(
          {"architectures", "What is left of both on an architecture that the kernels do not make full use of."})) {
    Fields architectures(*on, fields.path_of("architectures"), reading);
    for (const auto& name : architecture_names()) {
      const FileKey share{name, "On such GPUs.", "1"};
      if (architectures.has(name)) out.on[name] = architectures.number(share, kShare);
    }
    architectures.done();
  }
  fields.done();
  return out;
}

std::vector<KernelPart> read_kernels(const Node& node, const std::string& path, Reading& reading, Software& software) {
  Fields fields(node, path, reading);
  std::vector<KernelPart> out;
  for (std::size_t p = 0; p < kKernelParts; ++p) {
    const std::string& name = kernel_part_names()[p];
    const Node* kernel = fields.child({name, "This kernel."});
    if (!kernel) continue;
    software.kernels[p] = read_kernel(*kernel, fields.path_of(name), reading);
    out.push_back(static_cast<KernelPart>(p));
  }
  fields.done();
  return out;
}

void read_stack(const Node& node, const std::string& path, Reading& reading, Software& software) {
  Fields fields(node, path, reading);
  software.stack = fields.name({"name", "What the stack is called."});
  software.title = fields.text({"title", "What it is, in a line.", "its name"}, software.stack);
  software.least_capability = static_cast<int>(
      std::lround(10 * fields.number({"compute_capability",
                                      "The least of CUDA's compute capabilities that its kernels need; a GPU below "
                                      "it is told.",
                                      "any"},
                                     {0, 20}, 0.0)));
  software.attention =
      static_cast<AttentionKernel>(fields.choice({"attention", "The kernels of attention."}, attention_kernel_names()));
  software.attention_elsewhere = static_cast<AttentionKernel>(
      fields.choice({"attention_elsewhere", "Those where the GPU or the precision cannot run the former."},
                    attention_kernel_names(), 0));
  if (const Node* kernels = fields.child({"kernels",
                                          "What the kernels between the matrix products move, each per "
                                          "element that its operator writes; one that is left out moves "
                                          "its operator's inputs and outputs."})) {
    read_kernels(*kernels, fields.path_of("kernels"), reading, software);
  }
  if (const Node* flash = fields.child(
          {"flash", "What flash attention's FLOPs, of the causal half, reach of the rate of large products."}))
    software.flash = read_flash(*flash, fields.path_of("flash"), reading);
  software.autocast = fields.flag({"autocast",
                                   "Whether weights are in fp32 and cast by each pass, and norms and the softmax "
                                   "compute in fp32 and keep what they "
                                   "need so (torch.autocast). Of 16-bit training with gradients in fp32 alone."},
                                  false);
  if (const Node* cast =
          fields.child({"weight_cast", "What casting moves per weight that a product reads.", "nothing"}))
    software.weight_cast = read_kernel(*cast, fields.path_of("weight_cast"), reading);
  software.pads = fields.flag({"pads", "Whether rows of products are padded to 16 bytes; others are slower."}, false);
  software.keeps_norms = fields.flag(
      {"keeps_norms", "Whether outputs of norms are kept for the backward pass, and not computed anew."}, true);
  software.keeps_activations =
      fields.flag({"keeps_activations", "Whether outputs of GELU and SwiGLU are kept for the backward pass."}, true);
  software.written_out = fields.flag({"written_out",
                                      "Whether RMSNorm and SwiGLU are written out in Python, and products that read "
                                      "the same input keep copies of it under "
                                      "autocast: more is kept for the backward pass."},
                                     false);
  software.loss_memory = fields.number(
      {"loss_memory", "Bytes kept per logit beside the logits; 8: an fp32 softmax and its gradient."}, {0, 100}, 8.0);
  software.recompute_stops_early = fields.flag(
      {"recompute_stops_early",
       "Whether computing a layer anew leaves out what comes after the last tensor that its backward pass needs, as "
       "PyTorch's checkpoints that are not reentrant do."},
      false);
  software.adam = fields.number({"adam",
                                 "Bytes of GPU memory that the optimizer moves per parameter that it updates; "
                                 "0: those of a fused Adam in mixed precision."},
                                {0, 1e4}, 0.0);
  software.adam_kernel =
      fields.text({"adam_kernel",
                   "Which kernel of a GPU's profile does the same, adam, adam_foreach or adam_single; "
                   "where it was timed, its time counts."},
                  "");
  if (!software.adam_kernel.empty()) {
    static const std::vector<std::string> kWays = {"adam", "adam_foreach", "adam_single"};
    if (std::find(kWays.begin(), kWays.end(), software.adam_kernel) == kWays.end())
      fields.error("adam_kernel", fmt::format("{} is \"{}\"; {}", fields.path_of("adam_kernel"),
                                              printable(software.adam_kernel).substr(0, 64),
                                              did_you_mean(software.adam_kernel, kWays)));
  }
  if (const Node* host =
          fields.child({"host", "What the host needs to launch one operator; a layer has twelve.", "no time"})) {
    Fields times(*host, fields.path_of("host"), reading);
    software.host.forward = times.quantity<Seconds>({"forward", "Going forward."}, kHostRange);
    software.host.backward = times.quantity<Seconds>({"backward", "Going backward."}, kHostRange);
    times.done();
  }
  fields.done();
}

}  // namespace slmsim
