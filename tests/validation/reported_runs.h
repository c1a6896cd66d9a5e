// Training runs that others report, compared with predictions. The sustained speed of GPUs (Gpu::sustained) was chosen with
// those of tests/reference/runs.csv in view.
//
// Input: a table of runs with the columns
//   source                      who reports it, and on which hardware: its rows are summarised together
//   what                        which run it is, for the reader
//   scenario                    a file, from the folder that holds scenarios/, with one model, one technique and one group
//   set                         values in place of the file's, as --set takes them, separated by semicolons; may be empty
//   tokens_per_second_per_gpu   as reported
// Output: each row with its prediction, and errors by source. Out-of-memory predictions have times too: the runs did fit, so
// memory is judged separately.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/predict/predict.h"
#include "sim/fit/error_summary.h"

namespace slmsim {

struct ReportedRun {
  std::string source, what, scenario;
  double measured = 0;  // tokens per second and GPU
  Prediction prediction;

  double predicted() const { return prediction.tokens_per_second / prediction.gpus; }
  bool fits() const;
  Comparison judged() const { return {measured, predicted()}; }
};

struct SourceErrors {
  std::string source;
  ErrorSummary errors;
  double median = 0;  // of signed relative errors: positive where predictions are too fast
  int fit = 0;        // runs that are predicted to fit in memory
};

struct RunsValidation {
  std::vector<ReportedRun> runs;      // in the table's order
  std::vector<SourceErrors> sources;  // in order of appearance
};

// `root` holds scenarios/. Throws InputError with file and line where the table or a scenario is invalid, or a run is
// impossible.
RunsValidation validate_runs(const std::filesystem::path& root, const std::filesystem::path& table);

}  // namespace slmsim
