// The DeepSpeed study's throughputs, fitted to a part of them and judged by the rest.
//
// Enters: the study's table, whose column `use` says which rows may be fitted (fit) and which judge (test), and the scenarios
// of its node. What was inferred from its throughputs is unknown again, with priors that were written down without them.
// Leaves: of every row that judges, what is predicted before any run is known, and with the rows that may be fitted as pilot
// runs; each with its interval.
#pragma once

#include "sim/validate/deepspeed_facts.h"
#include "sim/validate/fabric_protocol.h"

namespace slmsim {

struct JudgedThroughput {
  DeepSpeedFact fact;
  double predicted = 0;  // TFLOP/s of all GPUs, as measured; the median
  Interval interval;

  double error() const { return predicted / fact.measured - 1; }
  bool held() const { return interval.low <= fact.measured && fact.measured <= interval.high; }
};

struct DeepSpeedProtocol {
  double level = 0.8;
  std::vector<JudgedThroughput> before, after;  // without a run, and with those of `fit`; the same rows
  std::size_t fitted = 0;                       // rows
  std::vector<Unknown> unknowns;
  std::vector<Narrowing> narrowings;
  std::size_t simulated = 0;
  double emulated_error = 0;
  bool complete = true;
};

// Of `options` points, seed, level, stop and progress count. Throws InputError where a file does not read, or the table does
// not say what each row is for.
DeepSpeedProtocol validate_deepspeed_held_out(const std::filesystem::path& root, const std::filesystem::path& reference,
                                              const ProtocolOptions& options);

// What the study leaves open of its software, in ranges that hold for other programs too.
std::vector<Unknown> deepspeed_unknowns();

}  // namespace slmsim
