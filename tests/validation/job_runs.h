// Drawn jobs compared with long runs whose logs were published: goodput from the logs' failure figures.
//
// A row states a run's iterations and their mean time, how often and how long it wrote checkpoints and evaluated, and its
// stops: "168 h: 2 h; ..." is one stop per 168 h on average, with 2 h until training resumes. Measured goodput is iterations
// times their time over the elapsed time; the predicted one comes from jobs drawn with these figures, without a fit. Figures
// missing in a log count as 0.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/fit/measured_step.h"
#include "sim/predict/job/job_process.h"

namespace slmsim {

struct JobRun {
  std::string run, stretch, source;
  JobProcess process;
  Seconds elapsed;           // measured
  double measured = 0;       // goodput
  double predicted = 0;      // goodput
  Seconds lost, lost_drawn;  // time without training: measured, and mean of the drawn jobs

  Comparison judged() const;
};

struct JobValidation {
  std::vector<JobRun> runs;
  ErrorSummary errors;
};

// Reads a table with the columns above. Throws InputError with its place.
JobValidation validate_jobs(const std::filesystem::path& file);

}  // namespace slmsim
