// A GPU's measured kernels, prepared for many look-ups (sim/compute/profile_time.h).
//
// Times are stored relative to the data sheet's: a ratio of 1.3 is 30 % slower. The ratio varies far less than the
// times themselves.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sim/platform/gpu.h"

namespace slmsim {

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
