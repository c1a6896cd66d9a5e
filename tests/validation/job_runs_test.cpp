// The comparison with logs of long runs, by a small made-up table.
#include "tests/validation/job_runs.h"

#include <cmath>
#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/errors_of.h"

namespace slmsim::job_runs_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kHead =
    "run,stretch,iterations,iteration_s,elapsed_h,checkpoint_every,checkpoint_s,evaluate_every,evaluation_s,stops,"
    "source\n";

class JobRuns : public testing::Test {
 protected:
  std::filesystem::path table(const std::string& rows) const {
    std::ofstream(file_) << kHead << rows;
    return file_;
  }
  ~JobRuns() override { std::filesystem::remove(file_); }

 private:
  std::filesystem::path file_ = testing::TempDir() + "slmsim-job-" + std::to_string(getpid()) + ".csv";
};

// 1000 iterations of 36 s are 10 h; a checkpoint of 72 s every 100 but behind the last one, 9 x 72 s; an evaluation of 180 s
// every 500: 10 h of 10 h, 648 s and 360 s.
TEST_F(JobRuns, WithoutStopsAreTheirCheckpointsAndEvaluations) {
  const JobRun run = validate_jobs(table("a,all,1000,36,12.5,100,72,500,180,,made up\n")).runs.front();
  EXPECT_DOUBLE_EQ(run.measured, 0.8);
  // Intervals are of work with evaluation in it: 36 360 s of work make ten intervals of 3600 s and one more.
  EXPECT_NEAR(run.predicted, 36000 / (36000 + 360 + 10 * 72.0), 1e-9);
  EXPECT_DOUBLE_EQ(run.lost.value, 2.5 * 3600);
}

// Stops once in 5 h that take half an hour each, no checkpoints: renewal theory's (e^2 - 1) (5 h + X).
TEST_F(JobRuns, AreAsLongAsTheirStopsMakeThem) {
  const JobRun run = validate_jobs(table("a,all,1000,36,100,0,0,0,0,5 h: 30 min,made up\n")).runs.front();
  // Repairs overlap: (e^{0.1} - 1) 5 h.
  const double recovery = std::expm1(0.1) * 5;
  EXPECT_NEAR(run.predicted / (10 / (std::expm1(2) * (5 + recovery))), 1, 0.02);
}

// All but one whose log tells neither how far back it went nor when it was seen (docs/validation/job.md).
TEST_F(JobRuns, ThatWerePublishedAreWithinATenth) {
  const JobValidation v = validate_jobs(SLMSIM_SOURCE_DIR "/tests/reference/job.csv");
  EXPECT_GE(v.runs.size(), 4u);
  for (const JobRun& run : v.runs) {
    if (run.run != "IDEFICS-80B") {
      EXPECT_LT(std::abs(*run.judged().error()), 0.1) << run.run;
    }
    // Events missing in the logs only make a job longer.
    EXPECT_GT(run.predicted, run.measured) << run.run;
  }
}

TEST_F(JobRuns, AreRefusedWithTheirPlace) {
  const auto errors = [&](const std::string& row) { return errors_of([&] { validate_jobs(table(row)); }); };
  EXPECT_THAT(errors("a,all,0,36,100,0,0,0,0,,x\n"),
              ElementsAre(HasSubstr("2:1: error: iterations: \"0\" is not a number from 1")));
  EXPECT_THAT(errors("a,all,9,36,100,0,0,0,0,5 h,x\n"),
              ElementsAre(HasSubstr("stops: \"5 h\" is not like \"168 h: 2 h\"")));
  EXPECT_THAT(errors("a,all,9,36,100,0,0,0,0,5: 1 h,x\n"), ElementsAre(HasSubstr("stops: ")));
}

}  // namespace
}  // namespace slmsim::job_runs_test
