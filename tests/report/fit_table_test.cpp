// Output of a fit.
#include <gmock/gmock.h>

#include "sim/report/report.h"

namespace slmsim::fit_table_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// One line of the table: of a run that was measured so, and fitted as 10 s, 8 to 12.
std::string told(Measure measure, double measured, double predicted) {
  FitReport report;
  Pilot run;
  run.cell = {"gpt2m", "Data", {"utah"}};
  run.measure = measure;
  run.value = measured;
  report.residuals = {{run, predicted, 8, 12}};
  return to_table(report);
}

TEST(FitTable, SaysWhichRunsAreNotMet) {
  EXPECT_THAT(told(Measure::kIteration, 11, 10), Not(HasSubstr("not met")));
  EXPECT_THAT(told(Measure::kIteration, 12.1, 10), HasSubstr("8 s to 12 s  not met"));
  EXPECT_THAT(told(Measure::kIteration, 7.9, 10), HasSubstr("not met"));
  EXPECT_THAT(told(Measure::kFits, 1, 1), Not(HasSubstr("not met")));
  EXPECT_THAT(told(Measure::kFits, 0, 1), HasSubstr("not met"));
}

}  // namespace
}  // namespace slmsim::fit_table_test
