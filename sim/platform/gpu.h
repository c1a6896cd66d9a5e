// A GPU model as its data sheet describes it, and what was measured of it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"
#include "sim/platform/precision.h"
#include "sim/platform/profile.h"

namespace slmsim {

class KernelTable;
class Profiles;

// What large matrix products reach of the peak, alone on the GPU. Of bf16 that the GPU lacks, what they reach of fp32's peak:
// cuBLAS computes them in fp32 from and to 16 bits there, at 0.5 to 0.75 of the rate of fp32.
struct MatrixEfficiency {
  double share = 0;
  double spread = 0;     // of ten products, eight lie within this share of it
  bool assumed = false;  // taken from kin, since nobody measured this GPU in this precision

  bool operator==(const MatrixEfficiency&) const = default;
};

// What a limit on its power leaves of a GPU's rates (sim/platform/power_limit.h).
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
  double sustained = 1;                                    // what is left of it while training goes on
  BytesPerSecond pcie;                                     // one direction
  BytesPerSecond nvlink;                                   // one direction, all links; 0 without NVLink
  bool peer_to_peer = true;                                // whether its driver copies to another GPU over PCIe
  int compute_capability = 0;                              // 86: 8.6
  Watts board_power;  // of the whole card or module under load, as its data sheet has it; 0: not stated
  Watts power_limit;  // what it may draw here; 0: that
  PowerShares left;
  // What the profile holds that the GPU names, where it names one, and the GPU that it was measured on ("" where it says
  // nothing): this one, or another variant of its chip.
  std::string measured_on;
  std::shared_ptr<const KernelTable> kernels;  // sim/platform/kernel_table.h
  MeasuredBuses buses;
  Watts measured_limit;          // of its power, while it was measured; 0: not told
  PowerShares left_of_measured;  // of the rates that it was measured at
  // Time that its VM's host needs per launch, in proportion to the software stacks' figures: the VM type's, else that of the
  // machine on which the profile was measured.
  double host = 1;

  // Cycles per second, unlimited: the fp32 peak over the lanes that do two FLOP each in a cycle (CUDA C++ Programming Guide,
  // arithmetic instructions: 64 lanes in a multiprocessor of 6.0, 7.x and 8.0, 128 in others).
  double clock() const;
  BytesPerSecond bandwidth() const { return memory_bandwidth * left.memory; }

  bool operator==(const Gpu&) const = default;
};

const std::vector<std::string>& architecture_names();

// The data sheet's rate, the fp32 rate where the GPU lacks the precision.
FlopsPerSecond peak_of(const Gpu& gpu, Precision precision);
// Which precision's efficiency products in `precision` have: fp32's where the GPU lacks it, but for bf16, which is emulated.
Precision counted_as(const Gpu& gpu, Precision precision);
// What products reach of peak_of(), alone on the GPU.
const MatrixEfficiency& efficiency_of(const Gpu& gpu, Precision precision);

// Without `profiles`, what `profile` names is not looked up.
Gpu read_gpu(const Node& node, const std::string& path, Reading& reading, Profiles* profiles = nullptr);

}  // namespace slmsim
