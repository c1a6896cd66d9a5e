// A GPU model: its data sheet and its measurements, its names, and the effect of a power limit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"

namespace slmsim {

// Measurements of a GPU: a file of platforms/profiles, as slmsim-calibrate writes it (schema slmsim/gpu-profile/1).

// The number formats in which a model is trained.
enum class Precision { kFp16, kBf16, kTf32, kFp32 };
inline constexpr std::size_t kPrecisions = 4;

const std::vector<std::string>& precision_names();

// Bytes of one element in memory.
double element_bytes(Precision precision);

// Names of the kernels that a profile may hold, as slmsim-calibrate times them (sim/compute/kernel.h describes each).
// In alphabetical order.
const std::vector<std::string>& kernel_names();
bool is_kernel(const std::string& name);

// A kernel by the name and sizes under which slmsim-calibrate times it (listed in sim/compute/kernel.h).
struct KernelShape {
  std::string name;
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  auto operator<=>(const KernelShape&) const = default;  // NOLINT(modernize-use-nullptr): see sim/base/unit.h
};
bool is_product(const std::string& kernel);  // gemm-nn, -nt, -tn
bool is_flash(const std::string& kernel);    // of attention, forward or backward

struct KernelPoint {
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  Seconds time;  // of one launch in a row of launches
};

// Rates of copies and collectives inside one VM; 0 where not measured.
//
// Copies: the highest size / time over the sizes, from and to pinned memory. Between GPUs: the highest bus bandwidth
// (as nccl-tests define it, that of one link of a ring) of NCCL's all-reduce, else of another collective, else of
// peer-to-peer copies; and the shortest such collective's time divided by its steps: 2 (n-1) of an all-reduce, n-1 of
// an all-gather and a reduce-scatter, 1 otherwise.
struct MeasuredBuses {
  BytesPerSecond to_device, from_device;
  BytesPerSecond peer;
  Seconds peer_latency;

  bool operator==(const MeasuredBuses&) const = default;
};

// Host time per launch relative to the software stacks' figures.
inline constexpr Range<double> kHostShare{0.05, 20};

// Keys of a measured time besides its median, as slmsim-calibrate writes them; the simulator does not use them.
inline constexpr const char* kSpreadKeys[] = {"low",   "high",     "least",     "most",  "samples", "launches",
                                              "error", "outliers", "imprecise", "drift", "clock",   "throttled"};

struct GpuProfile {
  std::string name;
  std::string gpu;  // the driver's name, "NVIDIA A30"
  // By kernel ("gemm-nn") and precision, in the order of their sizes.
  std::map<std::string, std::array<std::vector<KernelPoint>, kPrecisions>, std::less<>> kernels;
  Seconds launch;  // of an empty kernel in a row of launches; 0 where it was not measured
  MeasuredBuses buses;
  Watts power_limit;           // of the GPU during measurement; 0: not stated
  std::optional<double> host;  // host time per launch of its machine, relative to the software stacks' figures
};

bool is_profile(const Node& node);
GpuProfile read_profile(const Node& node, const std::string& path, Reading& reading);

class KernelTable;
class Profiles;

// Share of the peak that large matrix products reach, alone on the GPU. For bf16 on a GPU without it, a share of fp32's
// peak: cuBLAS then computes in fp32 from and to 16 bits, at 0.5 to 0.75 of the rate of fp32.
struct MatrixEfficiency {
  double share = 0;
  double spread = 0;     // eight of ten products lie within this relative distance of `share`
  bool assumed = false;  // taken from similar GPUs, without a measurement in this precision

  bool operator==(const MatrixEfficiency&) const = default;
};

// Shares of a GPU's rates that remain under a power limit (limit_power).
struct PowerShares {
  double cores = 1, memory = 1;

  bool operator==(const PowerShares&) const = default;
};

struct Gpu {
  std::string name;   // "a30"
  std::string title;  // "NVIDIA A30"
  std::string architecture;
  int multiprocessors = 0;
  Bytes memory;
  BytesPerSecond memory_bandwidth;
  std::array<FlopsPerSecond, kPrecisions> peak{};          // dense; 0 where the GPU does not have it
  std::array<MatrixEfficiency, kPrecisions> efficiency{};  // of products timed alone
  double sustained = 1;                                    // share that remains during sustained training
  BytesPerSecond pcie;                                     // one direction
  BytesPerSecond nvlink;                                   // one direction, all links; 0 without NVLink
  bool peer_to_peer = true;                                // whether its driver copies to another GPU over PCIe
  int compute_capability = 0;                              // 86: 8.6
  Watts board_power;  // of the whole card or module under load, as its data sheet has it; 0: not stated
  Watts power_limit;  // limit of its draw; 0: the board's power
  PowerShares left;
  // Contents of the GPU's profile, if it names one, and the GPU on which it was measured ("" where the profile does not
  // say): this one, or another variant of its chip.
  std::string measured_on;
  std::shared_ptr<const KernelTable> kernels;
  MeasuredBuses buses;
  Watts measured_limit;          // power limit during measurement; 0: not stated
  PowerShares left_of_measured;  // relative to the measured rates
  // Host time per launch relative to the software stacks' figures: that of the VM's type, else that of the machine on which
  // the profile was measured.
  double host = 1;

  // Cycles per second, unlimited: the fp32 peak divided by two FLOP per lane and cycle (CUDA C++ Programming Guide,
  // arithmetic instructions: 64 lanes in a multiprocessor of 6.0, 7.x and 8.0, 128 in others).
  double clock() const;
  BytesPerSecond bandwidth() const { return memory_bandwidth * left.memory; }

  bool operator==(const Gpu&) const = default;
};

const std::vector<std::string>& architecture_names();

// The data sheet's rate; the fp32 rate where the GPU lacks the precision.
FlopsPerSecond peak_of(const Gpu& gpu, Precision precision);
// The precision whose efficiency applies: fp32 where the GPU lacks `precision`, except for bf16, which is emulated.
Precision counted_as(const Gpu& gpu, Precision precision);
// Share of peak_of() that products reach, alone on the GPU.
const MatrixEfficiency& efficiency_of(const Gpu& gpu, Precision precision);

// Without `profiles`, the name in `profile` is not looked up.
Gpu read_gpu(const Node& node, const std::string& path, Reading& reading, Profiles* profiles = nullptr);

// Compares names of GPUs as data sheets ("NVIDIA Tesla T4"), drivers ("NVIDIA A100-SXM4-40GB") and people ("t4") spell
// them. Names of makers and families, case and punctuation are ignored.

// All words are the same, in any order; the driver's "NVIDIA H100 80GB HBM3" is "NVIDIA H100 SXM5 80GB".
bool is_same_gpu(const std::string& a, const std::string& b);

// The chip is the same, or one name does not state it; memory and slot may differ: "NVIDIA A100-SXM4-40GB" and "NVIDIA
// A100 PCIe 80GB".
bool is_same_chip(const std::string& a, const std::string& b);

// Both names state a memory size or a slot, and these differ; memory rate and clocks then differ too.
bool is_other_variant(const std::string& a, const std::string& b);

// Refuses an unknown name of a GPU: names that it may misspell, else what a GPU's map states and where one is shown.
std::string no_such_gpu(const std::string& name, const std::vector<std::string>& known);

// Whether a name has words besides those of makers and families.
bool names_a_gpu(const std::string& text);

// The effect of a power limit (nvidia-smi --power-limit) on a GPU's rates during training.
//
// GPUs that multiply matrices continuously draw their board's power. Below a limit the driver lowers the clock f of the
// cores and, as far as possible, the voltage. Switching draws f V^2, so that, with the clock and the board's power both
// taken as 1 without a limit,
//
//   draw = kStill + (1 - kStill) f^3                    the voltage follows the clock,
//   draw = kStill + (1 - kStill) kLeastVoltage^2 f      it is at its minimum: f < kLeastVoltage.
//
// The clock is a mean over many kernels, since the driver changes it more slowly than kernels run. Memory has its own
// clock, and its bandwidth is used less only where f < kAsking: it scales as min(1, f / kAsking). A GPU that draws less
// than its board's power during training slows less than this predicts. docs/validation/runs.md gives the three
// constants and their accuracy.

// The relative clock f. 0 < share <= 1: the limit divided by the board's power.
double cores_within(double share);

// The lowest limit relative to the board's power: NVIDIA's drivers allow no less than 100 W of 300.
inline constexpr double kLeastLimit = 1.0 / 3;

// Sets the power limit of a GPU that states its board's power, and the rates that remain, also relative to those during
// its profile's measurement.
void limit_power(Gpu& gpu, Watts limit);

// A GPU's measured kernels, prepared for many look-ups (sim/compute/roofline.h).
//
// Times are stored relative to the data sheet's: a ratio of 1.3 is 30 % slower. The ratio varies far less than the
// times themselves.

// Time of a kernel by the data sheet: max(FLOPs / peak, bytes / bandwidth) + launch, with the bytes that
// slmsim-calibrate's kernels move. Flash attention: two products of the causal half forward, five backward.
Seconds ideal_time(const Gpu& gpu, Precision precision, const KernelShape& kernel, Seconds launch);

// Bytes that slmsim-calibrate's kernel of this name moves per element of m x n; not for products.
double kernel_bytes(const std::string& kernel, Precision precision);

using KernelSizes = std::array<double, 4>;  // logarithms of batch, m, n, k
KernelSizes sizes_of(const KernelShape& kernel);

struct KernelSample {
  KernelPoint point;
  KernelSizes sizes{};
  double ratio = 0;  // logarithm of time over ideal time
};

class KernelTable {
 public:
  KernelTable(const Gpu& gpu, const GpuProfile& profile);

  Seconds launch() const { return launch_; }
  // Samples of one kernel, in the order of their sizes; nullptr where it was not measured in this precision.
  const std::vector<KernelSample>* find(const std::string& kernel, Precision precision) const;
  // Whether any product, and any other kernel, was measured. Without one, the table has no ratio for the class.
  bool knows_products() const { return known_[1]; }
  bool knows_others() const { return known_[0]; }
  // Whether a kernel's class was measured.
  bool knows_class_of(const std::string& kernel) const { return known_[is_product(kernel) ? 1 : 0]; }
  // The median ratio of a kernel's samples; without samples, that of its class (products; others) in this precision,
  // else in any; 0 where the class was not measured.
  double usual_ratio(const std::string& kernel, Precision precision) const;

 private:
  struct Series {
    std::vector<KernelSample> samples;
    double ratio = 0;  // median
  };
  std::map<std::string, std::array<Series, kPrecisions>, std::less<>> kernels_;
  std::array<std::array<double, kPrecisions>, 2> class_ratios_{};  // products last
  std::array<bool, 2> known_{};                                    // products last
  Seconds launch_;
};

// A platform's profiles by the names that its GPUs give.
class Profiles {
 public:
  void add(const std::string& name, GpuProfile profile) { profiles_[name] = std::move(profile); }
  // Sets the GPU's `measured_on`, `buses` and, where kernels or launches were measured, its `kernels`; equal GPUs share
  // a table. Returns false where there is no such profile.
  bool attach(const std::string& name, Gpu& gpu);

 private:
  using Key = std::tuple<std::string, BytesPerSecond, std::array<FlopsPerSecond, kPrecisions>>;
  std::map<std::string, GpuProfile> profiles_;
  std::map<Key, std::shared_ptr<const KernelTable>> tables_;
};

}  // namespace slmsim
