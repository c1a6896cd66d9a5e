// Training runs that people report, against this program's predictions. What GPUs sustain (Gpu::sustained) was chosen with
// those of tests/reference/runs.csv in view.
//
// Enters: a table of runs with the columns
//   source                      who reports it, and on what: its rows are summed up together
//   what                        which run it is, for the reader
//   scenario                    a file, from the folder that holds scenarios/, with one model, one technique and one group
//   set                         values in place of the file's, as --set takes them, with a semicolon between two; may be empty
//   tokens_per_second_per_gpu   as reported
// Leaves: each row with what is predicted, and errors by source. What does not fit in memory is timed all the same: such runs
// did fit, so that memory is judged apart.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/predict/predict.h"
#include "sim/validate/error_summary.h"

namespace slmsim {

struct ReportedRun {
  std::string source, what, scenario;
  double measured = 0;  // tokens per second and GPU
  Prediction prediction;

  double predicted() const { return prediction.tokens_per_second / prediction.gpus; }
  bool fits() const;
  Judged judged() const { return {measured, predicted()}; }
};

struct SourceErrors {
  std::string source;
  ErrorSummary errors;
  double median = 0;  // of signed relative errors: positive where predictions are too fast
  int fit = 0;        // of its runs, predicted to fit in memory
};

struct RunsValidation {
  std::vector<ReportedRun> runs;      // as the table has them
  std::vector<SourceErrors> sources;  // in order of appearance
};

// `root` holds scenarios/. Throws InputError with file and line where the table or a scenario does not read, or a run cannot be.
RunsValidation validate_runs(const std::filesystem::path& root, const std::filesystem::path& table);

}  // namespace slmsim
