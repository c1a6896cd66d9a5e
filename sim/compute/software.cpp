#include "sim/compute/software.h"

#include <algorithm>

#include <boost/range/iterator_range.hpp>

#include "sim/compute/operator_graph.h"
#include "sim/compute/roofline.h"

namespace slmsim {
namespace {

constexpr int kFlashCapability = 80;            // FlashAttention-2's and PyTorch's flash kernels: Ampere and newer
constexpr int kMemoryEfficientCapability = 50;  // aten/src/ATen/native/transformers/cuda/sdp_utils.cpp
constexpr double kLogSumExp = 4;  // bytes kept by flash and memory-efficient attention per row of the scores

constexpr double kScaledBlock = 256;  // bitsandbytes' block of parameters that share a scale

}  // namespace

const std::vector<std::string>& kernel_part_names() {
  static const std::vector<std::string> kNames = {"embedding",     "norm",
                                                  "bias",          "rotary",
                                                  "mask",          "softmax",
                                                  "fused_softmax", "dropout",
                                                  "residual",      "addition",
                                                  "gelu",          "gelu_new",
                                                  "quick_gelu",    "swiglu",
                                                  "loss",          "rms_norm",
                                                  "shared_input",  "repeat",
                                                  "repeat_flash",  "logit_cast",
                                                  "product",       "attention_product",
                                                  "attention"};
  return kNames;
}

const std::vector<std::string>& attention_kernel_names() {
  static const std::vector<std::string> kNames = {"unfused", "fused_softmax", "memory_efficient", "flash"};
  return kNames;
}

bool can_run(AttentionKernel kernel, const Gpu& gpu, Precision precision) {
  if (kernel == AttentionKernel::kFlash) return is_half(precision) && gpu.compute_capability >= kFlashCapability;
  if (kernel == AttentionKernel::kFusedSoftmax) return is_half(precision);
  return kernel == AttentionKernel::kUnfused || gpu.compute_capability >= kMemoryEfficientCapability;
}

AttentionKernel Software::attention_on(const Gpu& gpu, Precision precision) const {
  if (can_run(attention, gpu, precision)) return attention;
  return can_run(attention_elsewhere, gpu, precision) ? attention_elsewhere : AttentionKernel::kUnfused;
}

double Software::matrix_of(const Gpu& gpu, Precision precision) const {
  if (const auto own = matrix.find(gpu.name); own != matrix.end()) return own->second;
  if (const auto kind = matrix.find(gpu.architecture); kind != matrix.end()) return kind->second;
  // In fp32 products run on CUDA cores, whose power does not reduce the clock.
  return efficiency_of(gpu, precision).share * (precision == Precision::kFp32 ? 1.0 : gpu.sustained);
}

FlopsPerSecond Software::product_rate(const Gpu& gpu, Precision precision) const {
  return peak_of(gpu, precision) * (matrix_of(gpu, precision) * gpu.left.cores);
}

std::vector<PartUse> parts_of(const Operator& op, AttentionKernel attention) {
  const auto whole = [&](KernelPart part) { return std::vector<PartUse>{{part, op.outputs}}; };
  switch (op.kind) {
    case OperatorKind::kEmbedding:
      return whole(KernelPart::kEmbedding);
    case OperatorKind::kNorm:
      return whole(KernelPart::kNorm);
    case OperatorKind::kResidual:
      return whole(op.dropout ? KernelPart::kResidual : KernelPart::kAddition);
    case OperatorKind::kActivation:
      return whole(op.role == Role::kSwiglu ? KernelPart::kSwiglu : KernelPart::kGelu);
    case OperatorKind::kLoss: {
      std::vector<PartUse> parts = whole(KernelPart::kLoss);
      if (op.capped) parts.push_back({KernelPart::kMask, op.outputs});
      if (op.casts_logits) parts.push_back({KernelPart::kLogitCast, op.outputs});
      return parts;
    }
    case OperatorKind::kSoftmax: {
      if (keeps_no_scores(attention)) return {{KernelPart::kAttention}};
      std::vector<PartUse> parts =
          attention == AttentionKernel::kFusedSoftmax
              ? whole(KernelPart::kFusedSoftmax)
              : std::vector<PartUse>{{KernelPart::kMask, op.outputs}, {KernelPart::kSoftmax, op.outputs}};
      if (op.capped) parts.push_back({KernelPart::kMask, op.outputs});
      if (op.dropout) parts.push_back({KernelPart::kDropout, op.outputs});
      return parts;
    }
    case OperatorKind::kMatrix:
      break;
  }
  if (op.is_attention_core())
    return keeps_no_scores(attention) ? std::vector<PartUse>{} : std::vector<PartUse>{{KernelPart::kAttentionProduct}};
  std::vector<PartUse> parts{{KernelPart::kProduct}};
  if (op.dropout) parts.push_back({KernelPart::kDropout, op.inputs});
  if (op.bias > 0 && op.role == Role::kQkv) parts.push_back({KernelPart::kBias, op.outputs});
  if (op.rotated > 0) parts.push_back({KernelPart::kRotary, op.rotated});
  if (op.products > 1) parts.push_back({KernelPart::kSharedInput, (op.products - 1) * op.inputs});
  // Attention keeps keys and values anyway, of which there are (outputs - queries).
  if (op.repeated > 0)
    parts.push_back({keeps_no_scores(attention) ? KernelPart::kRepeatFlash : KernelPart::kRepeat, op.repeated,
                     op.outputs - op.repeated / 2});
  return parts;
}

KernelPart stated_part(const Operator& op, KernelPart part, const Software& software) {
  KernelPart written = part;
  if (part == KernelPart::kNorm && op.is_rms_norm()) written = KernelPart::kRmsNorm;
  if (part == KernelPart::kGelu && op.gelu != GeluForm::kOneKernel)
    written = op.gelu == GeluForm::kNew ? KernelPart::kGeluNew : KernelPart::kQuickGelu;
  return software.kernels[static_cast<std::size_t>(written)] ? written : part;
}

HostTime host_time(const Operator& op, AttentionKernel attention, const Software& software) {
  if (!software.kernels[static_cast<std::size_t>(KernelPart::kProduct)])
    return {software.host.forward, op.unreached ? Seconds{0} : software.host.backward};
  double forward = 0, backward = 0;
  const auto add = [&](const KernelTraffic& kernel, double times) {
    forward += times * kernel.forward.launches;
    backward += times * kernel.backward.launches;
  };
  for (const PartUse& use : parts_of(op, attention)) {
    const auto& stated = software.kernels[static_cast<std::size_t>(stated_part(op, use.part, software))];
    const int times = use.part == KernelPart::kProduct       ? op.products
                      : use.part == KernelPart::kSharedInput ? op.products - 1
                                                             : 1;
    if (stated) add(*stated, times);
  }
  // A bias is cast too.
  if (op.kind == OperatorKind::kMatrix && op.has_weights())
    add(software.weight_cast, op.products * (op.bias > 0 ? 2 : 1));
  return {software.host.forward * forward, software.host.backward * (op.unreached ? 0.0 : backward)};
}

double kept_bytes(const Operator& op, Precision precision, AttentionKernel attention, const Software& software) {
  const double size = element_bytes(precision);
  const bool in_fp32 =
      software.autocast && !op.cast_first && (op.kind == OperatorKind::kNorm || op.kind == OperatorKind::kSoftmax);
  const double own_size = in_fp32 ? element_bytes(Precision::kFp32) : size;
  const bool of_norm = !op.reads_stream && (op.role == Role::kQkv || op.role == Role::kMlpUp || op.role == Role::kHead);
  // Flash attention needs its output, the projection's input.
  const bool unneeded = op.input_unneeded && !(op.role == Role::kProjection && keeps_no_scores(attention));
  const bool anew =
      (of_norm && !software.keeps_norms) || (op.role == Role::kMlpDown && !software.keeps_activations) || unneeded;
  double bytes = op.kind == OperatorKind::kLoss ? software.loss_memory * op.outputs : op.saved_bytes;
  for (const PartUse& use : op.unreached ? std::vector<PartUse>{} : parts_of(op, attention)) {
    const auto& stated = software.kernels[static_cast<std::size_t>(stated_part(op, use.part, software))];
    if (!stated || (use.part == KernelPart::kSharedInput && op.input_unneeded)) continue;
    bytes += (use.elements - use.kept_elsewhere) * stated->kept.bytes_of(precision);
  }
  const double kept = (anew ? 0.0 : op.saved_elements * own_size) + bytes;
  // Without dropout, the product with the values keeps its own 16-bit copy of an fp32 softmax.
  const bool copied = software.autocast && op.role == Role::kValues && attention == AttentionKernel::kUnfused;
  const double squares = copied ? static_cast<double>(op.matrix.batch * op.matrix.m * op.matrix.k) : 0.0;
  const double scores = std::max(op.saved_scores, op.unreached ? 0.0 : squares);
  if (!keeps_no_scores(attention)) return kept + scores * own_size + op.saved_score_bytes;
  return kept + op.beside_values * size +
         (op.kind == OperatorKind::kSoftmax ? kLogSumExp * op.outputs / op.tokens : 0.0);
}

const std::vector<std::string>& update_rule_names() {
  static const std::vector<std::string> kNames = {"adam", "adam8bit", "adam16bit", "momentum", "sgd"};
  return kNames;
}

double state_of(UpdateRule rule) {
  constexpr double kFull = 4;
  if (rule == UpdateRule::kAdam8bit) return 2 * (1 + kFull / kScaledBlock);
  if (rule == UpdateRule::kMomentum || rule == UpdateRule::kAdam16bit) return kFull;
  return rule == UpdateRule::kSgd ? 0 : 2 * kFull;
}

Seconds update_time(double parameters, const Gpu& gpu, const Update& update, const Software& software,
                    TimeBasis* basis) {
  const bool halved = update.rule == UpdateRule::kAdam16bit;  // all that the stack's Adam moves
  const Precision timed = halved ? Precision::kFp32 : update.weights;
  const bool adams = update.is_adam() && parameters > 0 && !software.adam_kernel.empty();
  if (adams && was_timed(gpu, timed, software.adam_kernel)) {
    KernelShape kernel = adam_kernel(parameters);
    kernel.name = software.adam_kernel;
    const ProfileTime time = profile_time(gpu, timed, kernel);
    if (basis) *basis += time.basis;
    return time.time * (halved ? 0.5 : 1);
  }
  if (software.adam > 0) {
    const double moved =
        halved ? software.adam / 2 : software.adam - 2 * (state_of(UpdateRule::kAdam) - state_of(update.rule));
    const Seconds time = Bytes{parameters * moved} / gpu.bandwidth() + software.launch;
    if (basis) basis->roofline += time;
    return time;
  }
  const auto bytes = [](const Update& one) {  // read, and written
    return element_bytes(one.gradients) + 2 * (one.element() + state_of(one.rule)) +
           (one.has_master() ? element_bytes(one.weights) : 0);
  };
  if (gpu.kernels && gpu.kernels->knows_others() && parameters > 0) {
    // Measured with Adam's state and gradients in training precision; other formats scale the time.
    const ProfileTime kernel = profile_time(gpu, update.weights, adam_kernel(parameters));
    if (basis) *basis += kernel.basis;
    return kernel.time * (bytes(update) / bytes({update.weights, update.weights}));
  }
  const Seconds time = Bytes{parameters * bytes(update)} / (gpu.bandwidth() * software.memory) + software.launch;
  if (basis) basis->roofline += time;
  return time;
}

Seconds update_loop_time(double tensors, const Gpu& gpu, const Software& software) {
  if (software.adam_kernel != "adam_single") return {};
  return software.host.forward * (gpu.host * kLoopOperators * tensors);
}

double trained_tensors(const OperatorGraph& graph) {
  double count = 0;
  for (const auto vertex : boost::make_iterator_range(boost::vertices(graph))) {
    const Operator& op = graph[vertex];
    if (op.parameters <= 0) continue;
    if (op.kind == OperatorKind::kMatrix) {
      count += op.products * (op.bias > 0 ? 2 : 1);
    } else if (op.kind == OperatorKind::kNorm) {
      // A layer norm has a shift too; the scales of queries' and keys' norms are two.
      count += op.role == Role::kQueryNorm || op.weights * op.tokens > op.outputs ? 2 : 1;
    } else {
      // A table of positions.
      count += op.weights > static_cast<double>(op.rows * op.columns) ? 2 : 1;
    }
  }
  return count;
}

}  // namespace slmsim
