// Measurements of a GPU: a file of platforms/profiles, as slmsim-calibrate writes it (schema slmsim/gpu-profile/1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"

namespace slmsim {

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

}  // namespace slmsim
