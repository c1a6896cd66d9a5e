// A GPU model: its data sheet and its measurements, its names, and the effect of a power limit.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"
#include "sim/platform/profile.h"

namespace slmsim {

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
  std::shared_ptr<const KernelTable> kernels;  // sim/platform/kernel_table.h
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

}  // namespace slmsim
