// Whether times are such as a GPU can have. What no GPU could do is an error; what the GPU that was asked for cannot do is
// left out and told; and sizes that were timed several times must agree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/import/file_rows.h"
#include "sim/import/input_file.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// A time, and where it stands.
struct TimedRow {
  Seconds time;
  const InputFile* file = nullptr;
  int line = 0;
};

// "t4.csv:12"
std::string place_text(const TimedRow& row);

// Why no GPU takes this time: of a product more than 5 PFLOP/s, of a collective more than any NVLink carries. Nothing where
// one may.
std::optional<std::string> impossible(const KernelTime& one);
std::optional<std::string> impossible(const CollectiveTime& one);

// Judges the kernels of a profile one after the other, against a data sheet where there is one.
class Plausibility {
 public:
  explicit Plausibility(const Gpu* gpu) : gpu_(gpu) {}

  // False where the time is to be left out: it is an error, or faster than the data sheet allows.
  bool admit(const KernelTime& one, const InputFile& file);
  bool admit(const CollectiveTime& one, const InputFile& file);
  // Throws InputError with every time that is impossible, or where the median is: then unit, GPU or precision are wrong. Else
  // leaves what there is to tell.
  std::vector<std::string> finish() const;

 private:
  struct Judged {
    double ratio;  // of the time to that of the data sheet, or FLOP/s
    TimedRow row;
  };
  void check_median() const;
  void check_slow() const;

  const Gpu* gpu_;
  std::vector<Error> errors_;
  std::vector<Judged> ratios_;  // of kernels long enough, with a data sheet
  std::vector<Judged> rates_;   // of large products
  std::size_t fast_ = 0;
  std::string first_fast_;
};

// Of times of one size that differ more than threefold: which, and where they stand. The worst is told, the others counted.
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
