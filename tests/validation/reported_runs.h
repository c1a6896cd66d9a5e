// Training runs that others report, compared with predictions. The sustained speed of GPUs (Gpu::sustained) was chosen with
// those of tests/reference/runs.csv in view.
//
// Input: a table of runs with the columns
//   source                      who reports it, and on which hardware: its rows are summarised together
//   what                        which run it is, for the reader
//   scenario                    a file, from the folder that holds scenarios/, with one model, one technique and one group
//   set                         values in place of the file's, as --set takes them, separated by semicolons; may be empty
//   tokens_per_second_per_gpu   as reported; or iteration_s, the time of an iteration
//   choice                      may be left out; rows of a source with the same text are alternatives of one user
//   reserved_gib                may be left out or empty; the peak that PyTorch's allocator reserved on the fullest GPU
// Output: each row with its prediction, errors by source, and the regret of each choice: the measured time of the alternative
// that is predicted to be fastest over the measured best, less one. Out-of-memory predictions have times too: the runs did
// fit, so memory is judged separately.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/fit/measured_step.h"
#include "sim/predict/predict.h"

namespace slmsim {

struct ReportedRun {
  std::string source, what, scenario, choice;
  double measured = 0;  // tokens per second and GPU
  Bytes reserved;       // on the fullest GPU; 0: not reported
  Prediction prediction;

  double predicted() const { return prediction.tokens_per_second / prediction.gpus; }
  bool fits() const;
  Comparison judged() const { return {measured, predicted()}; }
  Bytes predicted_reserved() const;
};

struct SourceErrors {
  std::string source;
  ErrorSummary errors;
  double median = 0;  // of signed relative errors: positive where predictions are too fast
  int fit = 0;        // runs that are predicted to fit in memory
  ErrorSummary memory;
};

struct MeasuredChoice {
  std::string source, choice;
  int alternatives = 0;
  std::string picked, best;  // what() of the rows
  double regret = 0;
};

struct RunsValidation {
  std::vector<ReportedRun> runs;      // in the table's order
  std::vector<SourceErrors> sources;  // in order of appearance
  std::vector<MeasuredChoice> choices;
};

// `root` holds scenarios/. Throws InputError with file and line where the table or a scenario is invalid, or a run is
// impossible.
RunsValidation validate_runs(const std::filesystem::path& root, const std::filesystem::path& table);

}  // namespace slmsim
