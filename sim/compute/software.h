// A software stack: the kernels of each operator, the bytes that each moves, the share of the data sheet's rates that
// they reach, and the host's time to launch them. Read from a file of scenarios/stacks and a scenario's `software`.
//
// A kernel other than a matrix product is bound by memory and moves the same bytes on every GPU, stated per element of
// the operator's output and as bytes at the data sheet's bandwidth:
//
//   bytes = elements x element size + fixed bytes            (masks, fp32 statistics, traffic that a kernel cannot hide)
//   time  = max(bytes / bandwidth, cycles / (multiprocessors x clock))
//
// where `cycles` of a multiprocessor bind only if memory is very fast relative to the cores (GH200). PyTorch's kernels
// that convert 16 bits to 32, or read a tensor of another shape, load one element at a time
// (unrolled_elementwise_kernel, elementwise_kernel): each such pass, of kCastBytes, takes at least kCastCycles. An
// operator without a stated kernel moves its own inputs and outputs, at `memory` of the bandwidth.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/compute/operator.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// The kernels between the matrix products, each per element of its operator's output.
enum class KernelPart {
  kEmbedding,
  kNorm,
  kBias,          // of queries, keys and values; other biases belong to the kernels below
  kRotary,        // per rotated element
  kMask,          // scaling and masking the scores, if the softmax does not; bounding scores and logits by tanh
  kSoftmax,       // of the scores alone
  kFusedSoftmax,  // scale, causal mask and softmax in one
  kDropout,       // of the attention's probabilities
  kResidual,      // bias, dropout and addition
  kAddition,      // bias and addition, in models without dropout
  kGelu,          // with its bias; a ReLU moves the same
  kGeluNew,       // gelu_new and quick_gelu where they are written out in Python; without a statement, kGelu
  kQuickGelu,
  kSwiglu,  // or another gating function
  kLoss,    // per logit
  // Modules written out in Python, which other stacks do not state:
  kRmsNorm,      // without a statement, kNorm
  kSharedInput,  // copies of an input, and sums of its gradients, per element and for each product beyond the first
  kRepeat,       // keys and values repeated for the heads that share them, per repeated element
  kRepeatFlash,  // the same before flash attention, as transformers before 4.54 and PyTorch before 2.5 do
  kLogitCast,    // per logit, where they are cast to fp32 before the loss
  // Launches of products, which have no traffic of their own: of one with weights, of one of unfused attention, of
  // attention as one kernel.
  kProduct,
  kAttentionProduct,
  kAttention
};
// Whether profiles of GPUs time its kernel.
inline bool is_profiled(KernelPart part) { return part <= KernelPart::kLoss; }
inline constexpr std::size_t kKernelParts = static_cast<std::size_t>(KernelPart::kAttention) + 1;
// As in the stacks' files: "fused_softmax".
const std::vector<std::string>& kernel_part_names();

inline bool is_half(Precision precision) { return element_bytes(precision) < 4; }

struct MemoryTraffic {
  double elements = 0, bytes = 0, cycles = 0;
  double bf16_bytes = 0;  // additional, where a kernel converts fp16 as it reads and bf16 needs a kernel of its own
  // The part of the bytes in passes by kernels that load one element at a time; and those that bf16 adds.
  double casts = 0, bf16_casts = 0;
  double half_bytes = 0, half_casts = 0;  // what both 16-bit formats add, where a function casts to fp32 and back
  double launches = 0;                    // kernels that the host launches (Software::host)
  double casts_of(Precision precision) const {
    return casts + (precision == Precision::kBf16 ? bf16_casts : 0.0) + (is_half(precision) ? half_casts : 0.0);
  }
  double bytes_of(Precision precision) const {
    return elements * element_bytes(precision) + bytes + (precision == Precision::kBf16 ? bf16_bytes : 0.0) +
           (is_half(precision) ? half_bytes : 0.0);
  }

  bool operator==(const MemoryTraffic&) const = default;
};

// 6 bytes at 85 % of memory's rate. Measured on one H200: bf16 and fp16 to fp32 2.91 ps per element, 0.76 cycles of each of 132
// multiprocessors at 1980 MHz; masks and sums of different formats take as long (tests/reference/h200/elementwise.csv).
inline constexpr double kCastBytes = 7.06, kCastCycles = 0.76;

// Tensors that a kernel keeps for the backward pass beside those of the operator graph (Operator::saved_elements), per element
// of its output: `elements` in training precision, and bytes that do not depend on it.
struct KeptTensors {
  double elements = 0, bytes = 0;
  double half_bytes = 0;  // in addition where the training precision has 16 bits
  double bytes_of(Precision precision) const {
    return elements * element_bytes(precision) + bytes + (is_half(precision) ? half_bytes : 0.0);
  }

  bool operator==(const KeptTensors&) const = default;
};

struct KernelTraffic {
  MemoryTraffic forward, backward;
  KeptTensors kept;

  bool operator==(const KernelTraffic&) const = default;
};

// The computation of softmax(Q K^T) V. Flash attention (Dao, arXiv 2307.08691) keeps no scores in memory, computes only
// their causal half, and computes them again in the backward pass. So does PyTorch 2's memory-efficient attention (Rabe and Staats,
// arXiv 2112.05682; xFormers' kernels), which runs on older GPUs and in fp32 too.
enum class AttentionKernel { kUnfused, kFusedSoftmax, kMemoryEfficient, kFlash };
inline bool keeps_no_scores(AttentionKernel kernel) {
  return kernel == AttentionKernel::kMemoryEfficient || kernel == AttentionKernel::kFlash;
}
const std::vector<std::string>& attention_kernel_names();

// Host time until kernels are launched; the GPU may be ahead or behind.
struct HostTime {
  Seconds forward, backward;

  friend HostTime operator*(const HostTime& time, double factor) {
    return {time.forward * factor, time.backward * factor};
  }
  bool operator==(const HostTime&) const = default;
};

// Rate of flash attention: for a long sequence a share of the rate of large products, and half of that for a sequence
// of `half_length` tokens (n 1/2 of Hockney and Jesshope, Parallel Computers 2, 1988). Each tile of rows has work
// before and after its sum, tiles on the diagonal are computed whole, and the backward pass has traffic that grows
// linearly with the sequence.
struct FlashPass {
  double share = 1;
  double half_length = 0;  // tokens

  double reached(double sequence) const { return share * sequence / (sequence + half_length); }
  bool operator==(const FlashPass&) const = default;
};

// Rates of memory-efficient attention relative to flash attention's. Its kernels resemble those of the first FlashAttention,
// which reach 30 to 50 % of the peak forward and 25 to 35 % backward where the second reaches 0.68 and 0.66 of products that take
// 78 % (arXiv 2307.08691, section 1 and figures 4 to 6).
inline constexpr double kMemoryEfficientForward = 0.74, kMemoryEfficientBackward = 0.57;

// The same, with the remaining share on architectures for which the kernels were not written.
struct FlashShares {
  FlashPass forward, backward;
  std::map<std::string, double> on;

  double left_on(const std::string& architecture) const {
    const auto own = on.find(architecture);
    return own == on.end() ? 1 : own->second;
  }
  bool operator==(const FlashShares&) const = default;
};

// PyTorch takes what the driver leaves: 15.77 of 16 GiB on V100, 39.39 of 40 on A100, 79.1 of 80 on H100, by
// torch.cuda.get_device_properties().
inline constexpr double kCachingUsable = 0.985;

struct Software {
  std::string stack;  // its file's name; "" where operators move their own inputs and outputs
  std::string title;
  int least_capability = 0;    // CUDA compute capability that its kernels need; 70: 7.0
  bool stack_assumed = false;  // the scenario names none
  // Share of the peak that a large product reaches, by GPU or architecture; overrides the GPU's file.
  std::map<std::string, double> matrix;
  double memory = 0;  // share of the bandwidth that products and unstated kernels reach
  Seconds launch;     // fixed cost of one kernel on the GPU
  std::array<std::optional<KernelTraffic>, kKernelParts> kernels{};
  double adam = 0;  // bytes per parameter updated; 0: those of a fused mixed-precision Adam
  // The kernel of slmsim-calibrate with the same work, whose measured time is used; "": none.
  std::string adam_kernel;
  // The attention kernel, and its replacement where the GPU or precision does not support it.
  AttentionKernel attention = AttentionKernel::kUnfused, attention_elsewhere = AttentionKernel::kUnfused;
  FlashShares flash;
  HostTime host;            // per launch; per operator where the stack counts no launches
  Seconds host_checkpoint;  // in addition for each layer that is recomputed
  // torch.autocast, for 16-bit training only: weights are in fp32 and cast for each pass, as are the outputs of norms
  // and of the softmax that products read; these compute in fp32 and keep fp32 tensors.
  bool autocast = false;
  KernelTraffic weight_cast;  // per weight that a product reads
  // Whether sizes of products are padded to multiples for tensor cores (XLA, TorchInductor; Megatron-LM pads the
  // vocabulary).
  bool pads = false;
  // Tensors kept for the backward pass: outputs of norms and activations, or only their inputs (Megatron Core's
  // recompute_modules layernorm, moe_act), and bytes per logit beside the logits (eager: an fp32 softmax and its
  // gradient).
  bool keeps_norms = true, keeps_activations = true;
  double loss_memory = 8;
  // The same for the cross entropy of logits divided over GPUs (megatron/mpu/cross_entropy.py and nanotron's): fp32 logits 4,
  // their softmax 4, which becomes the gradient, and that in 16 bits 2. A scenario's loss_memory replaces both.
  double sharded_loss_memory = 10;
  // Whether replicas of tensor and pipeline parallelism are wrapped in PyTorch's DistributedDataParallel: its buckets hold
  // gradients in training precision beside their fp32 sums, which take a micro-batch's gradients after its pass (nanotron).
  bool ddp_buckets = false;
  // Whether a pipeline's stages are cut where the sum of weights, the head's among them, passes its share, and not at equal
  // numbers of layers (nanotron/models/base.py, build_model).
  bool stages_by_weights = false;
  // Default share of a GPU's memory that the framework may take.
  double usable_memory = kCachingUsable;
  // Whether the framework allocates memory as it needs it and caches it (PyTorch); else it takes all of it at once (XLA).
  bool caching_allocator = true;
  // Whether recomputation of a layer ends with the last tensor that its backward pass needs, without the layer's last
  // product (PyTorch 2.1, torch.utils.checkpoint, use_reentrant=False with set_checkpoint_early_stop).
  bool recompute_stops_early = false;

  bool runs_on(const Gpu& gpu) const { return gpu.compute_capability >= least_capability; }
  // Share of peak_of() in this precision, at full power.
  double matrix_of(const Gpu& gpu, Precision precision) const;
  // Rate of large products at the clock under the GPU's power limit.
  FlopsPerSecond product_rate(const Gpu& gpu, Precision precision) const;
  AttentionKernel attention_on(const Gpu& gpu, Precision precision) const;
  // Bytes per element of the stream between layers.
  double stream_bytes(Precision precision) const { return element_bytes(autocast ? Precision::kFp32 : precision); }
  bool operator==(const Software&) const = default;
};

// Flash attention's kernels need compute capability 8.0 and 16-bit numbers, fused softmaxes 16-bit numbers, memory-efficient
// attention compute capability 5.0.
bool can_run(AttentionKernel kernel, const Gpu& gpu, Precision precision);

// A kernel of an operator and its number of elements, for one sequence and undivided.
struct PartUse {
  KernelPart part = KernelPart::kNorm;
  double elements = 0;
  double kept_elsewhere = 0;  // those of them that other operators keep for the backward pass
};
// Kernels beside the operator's matrix product, if it has one. Flash attention has none between its products.
std::vector<PartUse> parts_of(const Operator& op, AttentionKernel attention);

// The kernel that the stack states for this part of the operator: gelu_new, quick_gelu, rms_norm where it states them.
KernelPart stated_part(const Operator& op, KernelPart part, const Software& software);

// Host time to launch the operator's kernels, on a host as the stack's figures are of.
HostTime host_time(const Operator& op, AttentionKernel attention, const Software& software);

// Bytes that the undivided operator keeps for the backward pass of one sequence. `attention`: its attention kernel.
double kept_bytes(const Operator& op, Precision precision, AttentionKernel attention, const Software& software);

}  // namespace slmsim
