// The DeepSpeed study's throughputs: a fit to some of them, tested on the rest.
//
// Input: the study's table, whose column `use` marks rows that may be fitted (fit) and rows to test on (test), and the
// scenarios of its node. Values inferred from its throughputs are unknown again, with priors written down without them. Output:
// for every test row, the prediction without any run, and with the `fit` rows as pilot runs; each with its interval.
#pragma once

#include "tests/validation/deepspeed_facts.h"
#include "tests/validation/fabric_protocol.h"

namespace slmsim {

struct ThroughputComparison {
  DeepSpeedFact fact;
  double predicted = 0;  // TFLOP/s of all GPUs: measured, and the median
  Interval interval;

  double error() const { return predicted / fact.measured - 1; }
  bool held() const { return interval.low <= fact.measured && fact.measured <= interval.high; }
};

struct DeepSpeedProtocol {
  double level = 0.8;
  std::vector<ThroughputComparison> before, after;  // without a run, and with those of `fit`; the same rows
  std::size_t fitted = 0;                       // number of rows
  std::vector<Unknown> unknowns;
  std::vector<Marginal> marginals;
  std::size_t simulated = 0;
  double emulated_error = 0;
  bool complete = true;
};

// `options`: points, seed, level, stop and progress are used. Throws InputError where a file is invalid, or where the table
// does not mark each row.
DeepSpeedProtocol validate_deepspeed_held_out(const std::filesystem::path& root, const std::filesystem::path& reference,
                                              const ProtocolOptions& options);

// Unknowns of the study's software, in ranges that apply to other programs too.
std::vector<Unknown> deepspeed_unknowns();

}  // namespace slmsim
