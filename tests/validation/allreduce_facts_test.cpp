// Measured all-reduces against predictions; all measurements here are made up.
#include "tests/validation/allreduce_facts.h"

#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/errors_of.h"

namespace slmsim::allreduce_facts_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kHead = "source,machine,gpus,bytes,seconds\n";

std::string table(const std::string& rows) {
  const std::string file = testing::TempDir() + "slmsim-allreduce-" + std::to_string(::getpid()) + ".csv";
  std::ofstream(file) << kHead << rows;
  return file;
}

// Slots of 15.75 GB/s of which 0.36 pass: 5.67 GB/s. Two GPUs take two steps of half of the buffer and a copy of it.
TEST(AllReduceFacts, ArePredictedAsARunPredictsThem) {
  const auto report = validate_all_reduce(table("Sailor,Titan-RTX,2,1e9,0.25\n"));
  ASSERT_THAT(report.rows, SizeIs(1));
  EXPECT_EQ(report.rows[0].gpus, 2);
  const double seconds = 3 * 0.5e9 / 5.67e9;
  EXPECT_NEAR(report.rows[0].predicted.value, seconds, 0.02 * seconds);  // beside it the latency of some 120 loops
}

TEST(AllReduceFacts, AreSummedUpByMachineAndByItsNumberOfGpus) {
  const auto report = validate_all_reduce(
      table("Sailor,Titan-RTX,2,1e9,0.25\nSailor,Titan-RTX,4,1e9,0.25\nSailor,Titan-RTX,4,1e6,0.25\n"));
  ASSERT_THAT(report.machines, SizeIs(3));  // all, 2, 4
  EXPECT_EQ(report.machines[0].gpus, 0);
  EXPECT_EQ(report.machines[0].vm_type, "gpu-server");
  EXPECT_EQ(report.machines[0].large.cells, 2);
  EXPECT_EQ(report.machines[0].small.cells, 1);
  EXPECT_EQ(report.machines[2].gpus, 4);
  EXPECT_EQ(report.machines[2].large.cells, 1);
}

TEST(AllReduceFacts, NameTheMachinesThatStandForNothing) {
  const auto report = validate_all_reduce(table("me,desk,2,1e6,1\nme,desk,4,1e6,1\n"));
  EXPECT_THAT(report.rows, SizeIs(0));
  EXPECT_THAT(report.unknown, ElementsAre("me desk"));
}

TEST(AllReduceFacts, SayWhereATableIsWrong) {
  const auto errors = [](const std::string& rows) {
    const std::string file = table(rows);
    return errors_of([&] { validate_all_reduce(file); });
  };
  EXPECT_THAT(errors("Sailor,Titan-RTX,2,much,1\n"),
              ElementsAre(HasSubstr(":2:1: error: bytes: \"much\" is not a number")));
  EXPECT_THAT(errors("Sailor,Titan-RTX,2,1e6,1\nSailor,Titan-RTX,9,1e6,1\n"),
              ElementsAre(HasSubstr(":3:1: error: gpus: Titan-RTX has 2 to 8, not 9")));
  EXPECT_THAT(errors("Sailor,Titan-RTX,2,1e6\n"), ElementsAre(HasSubstr(":2:1: error: 4 cells")));
  EXPECT_THAT(errors_of([] { validate_all_reduce("no-such.csv"); }), ElementsAre(HasSubstr("no such file")));
}

TEST(ErrorSummary, KnowsWhatNineTenthsAreWithin) {
  std::vector<std::optional<double>> errors;
  for (int i = 1; i <= 10; ++i) errors.emplace_back(i / 100.0);
  EXPECT_DOUBLE_EQ(summary_of_errors(errors).tenth_worst, 0.09);  // the ninth of ten
  EXPECT_DOUBLE_EQ(summary_of_errors({0.5}).tenth_worst, 0.5);
}

}  // namespace
}  // namespace slmsim::allreduce_facts_test
