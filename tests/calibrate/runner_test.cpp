#include "calibrate/gpu/runner.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

#include <gmock/gmock.h>

#include "calibrate/common/failure.h"

namespace slmsim::calibrate::runner_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() { std::filesystem::remove(file_); }
  ~RunnerTest() override { std::filesystem::remove(file_); }

  // Each takes `seconds` of the false clock.
  Unit unit(const std::string& key, double seconds) {
    return {Section::kKernels, key, [this, key, seconds](double share) {
              shares_.push_back(share);
              measured_.push_back(key);
              time_ += seconds;
              return "{" + key + "}";
            }};
  }
  Control control(double limit = 100) {
    return {limit, 1, [this] { return time_; }, [this] { return time_ >= stop_at_; },
            [this](const std::string&, double share, double left) {
              progress_.push_back(share);
              left_.push_back(left);
            }};
  }

  const std::string file_ =
      (std::filesystem::temp_directory_path() / ("slmsim-journal-" + std::to_string(getpid()))).string();
  double time_ = 0, stop_at_ = 1e9;
  std::vector<double> shares_, progress_, left_;
  std::vector<std::string> measured_;
};

TEST_F(RunnerTest, MeasuresAllInOrder) {
  Journal journal(file_, "gpu");
  const Outcome outcome = run_units({unit("a", 1), unit("b", 1)}, journal, control());
  EXPECT_THAT(outcome.kernels, ElementsAre("{a}", "{b}"));
  EXPECT_THAT(outcome.left_out, IsEmpty());
  EXPECT_THAT(progress_, ElementsAre(0, 0.5));
}

TEST_F(RunnerTest, GoesOnAfterAnInterruption) {
  const auto units = [&] { return std::vector<Unit>{unit("a", 1), unit("b", 1), unit("c", 1)}; };
  {
    Journal journal(file_, "gpu");
    stop_at_ = 2;
    const Outcome outcome = run_units(units(), journal, control());
    EXPECT_TRUE(outcome.interrupted);
  }
  stop_at_ = 1e9;
  measured_.clear();
  Journal journal(file_, "gpu");
  EXPECT_EQ(journal.taken_up(), 2);
  const Outcome outcome = run_units(units(), journal, control());
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_THAT(outcome.kernels, ElementsAre("{a}", "{b}", "{c}"));
  EXPECT_THAT(measured_, ElementsAre("c"));
}

TEST_F(RunnerTest, TellsTheTimeLeftFromWhatTheOthersTook) {
  Journal journal(file_, "gpu");
  run_units({unit("a", 2), unit("b", 4), unit("c", 1), unit("d", 1)}, journal, control(10));
  EXPECT_THAT(progress_, ElementsAre(0, 0.25, 0.5, 0.75));
  // At first as if each took its most, 1 s; then three more of 2 s; two more of 3 s, but no more than 4 s are left; one of 7/3 s.
  EXPECT_THAT(left_, ElementsAre(4, 6, 4, testing::DoubleEq(7.0 / 3)));
}

TEST_F(RunnerTest, BeginsAnewOnAnotherGpu) {
  {
    Journal journal(file_, "one gpu");
    journal.add("a", "{a}");
  }
  EXPECT_EQ(Journal(file_, "another gpu").taken_up(), 0);
}

TEST_F(RunnerTest, DoesNotTakeUpALineThatIsNotWhole) {
  std::ofstream(file_) << "gpu\na\t{a}\nb\t{half of";
  Journal journal(file_, "gpu");
  EXPECT_EQ(journal.find("a"), "{a}");
  EXPECT_EQ(journal.find("b"), std::nullopt);
  journal.remove();
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(RunnerTest, SaysWhereItCannotWrite) { EXPECT_THROW(Journal("/none/journal", "gpu"), UsageError); }

TEST_F(RunnerTest, DealsTheTimeOutAndSaysWhatDidNotFitIn) {
  Journal journal(file_, "gpu");
  const Outcome outcome = run_units({unit("a", 2), unit("b", 2), unit("c", 2)}, journal, control(3));
  EXPECT_THAT(outcome.kernels, ElementsAre("{a}", "{b}"));
  EXPECT_THAT(outcome.left_out, ElementsAre("c: time limit reached"));
  EXPECT_TRUE(outcome.unfinished);
  // At most 1 s each; of 1 s left for two, three times a half is more than that, too.
  EXPECT_THAT(shares_, ElementsAre(1, 1));
}

TEST_F(RunnerTest, TellsWhatCannotBeMeasuredAndWhatIsWrong) {
  Journal journal(file_, "gpu");
  const auto throwing = [](const std::string& key, auto error) {
    return Unit{Section::kTransfers, key, [error](double) -> std::string { throw error; }};
  };
  const Outcome outcome =
      run_units({throwing("a", MeasurementSkip("no bf16 here")), throwing("b", WrongResult("off by 9")), unit("c", 1)},
                journal, control());
  EXPECT_THAT(outcome.left_out, ElementsAre("a: no bf16 here", "b: WRONG: off by 9"));
  EXPECT_EQ(outcome.wrong, 1);
  EXPECT_THAT(outcome.kernels, ElementsAre("{c}"));
  Journal again(file_, "gpu");
  EXPECT_EQ(again.find("c"), "{c}");
}

TEST_F(RunnerTest, GivesUpWhatEndedTheProgramTwice) {
  const Unit fatal{Section::kKernels, "b", [](double) -> std::string { throw std::runtime_error("the GPU is gone"); }};
  for (int attempt = 0; attempt < 2; ++attempt) {
    Journal journal(file_, "gpu");
    EXPECT_THROW(run_units({unit("a", 1), fatal, unit("c", 1)}, journal, control()), std::runtime_error);
  }
  Journal journal(file_, "gpu");
  const Outcome outcome = run_units({unit("a", 1), fatal, unit("c", 1)}, journal, control());
  EXPECT_THAT(outcome.kernels, ElementsAre("{a}", "{c}"));
  EXPECT_THAT(outcome.left_out, ElementsAre("b: the program ended twice during this measurement"));
  EXPECT_THAT(measured_, ElementsAre("a", "c"));
}

}  // namespace
}  // namespace slmsim::calibrate::runner_test
