// Drawn jobs beside long runs whose logs were published: what the model of failures makes of their failure figures.
//
// A run's table row states its iterations and their mean time, how often and how long it wrote checkpoints and evaluated, and
// its stops: "168 h: 2 h; ..." is one every 168 h on the mean that takes 2 h until training goes on. Measured goodput is
// iterations by their time over the elapsed time; the predicted one comes from jobs drawn with these figures and nothing
// fitted. What a log does not state counts as 0.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/job/course.h"
#include "sim/validate/error_summary.h"

namespace slmsim {

struct JobRun {
  std::string run, stretch, source;
  Course course;
  Seconds elapsed;           // measured
  double measured = 0;       // goodput
  double predicted = 0;      // goodput
  Seconds lost, lost_drawn;  // time that was not training: measured, and mean of the jobs drawn

  Judged judged() const;
};

struct JobValidation {
  std::vector<JobRun> runs;
  ErrorSummary errors;
};

// Of a table with the columns above. Throws InputError with its place.
JobValidation validate_jobs(const std::filesystem::path& file);

}  // namespace slmsim
