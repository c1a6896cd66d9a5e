// Checks whether times are possible on a GPU. Times that no GPU reaches are errors; times that the requested GPU cannot reach
// are left out with a remark; repeated times of one size must agree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/import/measurement/format.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// A time with its place.
struct TimedRow {
  Seconds time;
  const InputFile* file = nullptr;
  int line = 0;
};

// Checks the kernels of a profile one after the other, against a data sheet where there is one.
class Plausibility {
 public:
  explicit Plausibility(const Gpu* gpu) : gpu_(gpu) {}

  // False where the time is left out: it is an error, or faster than the data sheet allows.
  bool admit(const KernelTime& one, const InputFile& file);
  bool admit(const CollectiveTime& one, const InputFile& file);
  // Throws InputError with every impossible time, or where the median is impossible: then unit, GPU or precision are wrong.
  // Otherwise returns remarks.
  std::vector<std::string> finish() const;

 private:
  struct RatioRow {
    double ratio;  // time over the data sheet's, or FLOP/s
    TimedRow row;
  };
  void check_median() const;
  void check_short() const;
  void check_slow() const;

  const Gpu* gpu_;
  std::vector<Error> errors_;
  std::vector<RatioRow> ratios_;  // for kernels long enough, with a data sheet
  std::vector<RatioRow> short_;   // for shorter ones, relative to what a launch takes
  std::vector<RatioRow> rates_;   // for large products
  std::size_t fast_ = 0;
  std::string first_fast_;
};

// Times of one size that differ more than threefold, with their places. The worst is listed, the others are counted.
class Disagreement {
 public:
  void add(const std::string& what, const std::vector<TimedRow>& times);
  std::vector<std::string> remarks() const;

 private:
  std::size_t sizes_ = 0;
  double worst_ = 0;
  std::string text_;
};

}  // namespace slmsim
