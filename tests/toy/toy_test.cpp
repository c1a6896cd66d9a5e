// A technique that lives under tests/ alone goes through every verb of the program: nothing outside its file and its row of
// the table knows of it. Its workload makes several optimizer steps per exchange.
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/prediction.h"

namespace slmsim::toy_test {
namespace {

using testing::HasSubstr;

const std::string kScenario = "scenarios/gat-amst.yaml";

// One technique on one VM, whose network takes no part.
Json on_one_vm(const std::string& techniques) {
  return run_json({kScenario, "--set", "models=gpt2m", "--set", "groups=[gat]", "--set",
                   "techniques=" + techniques})["predictions"][0];
}

double part(const Json& prediction, const char* name) { return prediction["breakdown_s"][name]; }

TEST(Toy, WithOneStepBetweenAveragesTakesAsLongAsItsPlainSibling) {
  // fp16 parameters are as large as fp16 gradients, and sums, updates and averages follow one another.
  const Json data = on_one_vm("{Data: {micro_batches: 4}}"), toy = on_one_vm("{Averaging: {micro_batches: 4}}");
  EXPECT_NEAR(toy["iteration_s"], data["iteration_s"], 1e-9 * double(data["iteration_s"]));
  EXPECT_EQ(toy["iterations"], data["iterations"]);
  EXPECT_EQ(toy["memory"], data["memory"]);
}

TEST(Toy, MakesSeveralStepsPerExchange) {
  const Json one = on_one_vm("{Averaging: {micro_batches: 4}}");
  const Json five = on_one_vm("{Averaging: {micro_batches: 4, every: 5}}");
  // An iteration is a step: five of them compute and update five times and talk once; the launch is once per exchange.
  EXPECT_NEAR(part(five, "compute"), part(one, "compute"), 1e-6);
  EXPECT_NEAR(part(five, "optimizer"), part(one, "optimizer"), 1e-6);
  EXPECT_NEAR(part(five, "overhead"), part(one, "overhead") / 5, 1e-6);
  EXPECT_NEAR(part(five, "exposed_communication"), part(one, "exposed_communication") / 5, 1e-6);
  EXPECT_NEAR(five["round"]["time_s"], 5 * double(five["iteration_s"]), 1e-6);
  // 20 epochs of 570 sequences, 8 per step: 1425 steps, so 285 exchanges.
  EXPECT_EQ(one["iterations"], 1425);
  EXPECT_EQ(five["iterations"], 1425);
  EXPECT_EQ(five["round"]["count"], 285);
  EXPECT_EQ(five["round"]["rest_steps"], 0);
  const double ratio = double(one["iteration_s"]) / double(five["iteration_s"]);
  EXPECT_NEAR(double(five["tflops_per_gpu"]) / double(one["tflops_per_gpu"]), ratio, 1e-6 * ratio);
  EXPECT_EQ(five["memory"], one["memory"]);
}

TEST(Toy, EndsWithARoundThatIsNotFull) {
  // 1425 = 356 x 4 + 1; the last one is a step and an exchange.
  const Json one = on_one_vm("{Averaging: {micro_batches: 4}}"),
             four = on_one_vm("{Averaging: {micro_batches: 4, every: 4}}");
  EXPECT_EQ(four["round"]["count"], 356);
  EXPECT_EQ(four["round"]["rest_steps"], 1);
  EXPECT_NEAR(four["round"]["rest_time_s"], one["iteration_s"], 1e-6);
  // Twice the steps, and more of them than a round has: 2850 = 712 x 4 + 2.
  const Json twice = on_one_vm("{Averaging: {micro_batches: 4, every: 4, steps_factor: 2}}");
  EXPECT_EQ(twice["iterations"], 2850);
  EXPECT_EQ(twice["round"]["rest_steps"], 2);
  EXPECT_EQ(twice["iteration_s"], four["iteration_s"]);
  EXPECT_NEAR(double(twice["minutes"]) / double(four["minutes"]), 2, 1e-3);
}

TEST(Toy, MayLeaveOutTheBackwardPass) {
  const Json data = on_one_vm("{Data: {micro_batches: 4}}"), toy = on_one_vm("{Reading: {micro_batches: 4}}");
  EXPECT_EQ(part(toy, "optimizer"), 0);
  EXPECT_NEAR(part(toy, "exposed_communication"), 0, 1e-9);  // nobody has anything to say
  // Matrix products take two thirds of their time backward, memory-bound operators about as much.
  EXPECT_LT(part(toy, "compute"), 0.4 * part(data, "compute"));
  EXPECT_GT(part(toy, "compute"), 0.3 * part(data, "compute"));
  EXPECT_EQ(toy["memory"][0]["parts"]["gradients"], 0);
  EXPECT_EQ(toy["memory"][0]["parts"]["optimizer"], 0);
  EXPECT_EQ(toy["memory"][0]["parts"]["parameters"], data["memory"][0]["parts"]["parameters"]);
}

TEST(Toy, IsListedReadAndRefusedLikeAnyOther) {
  const RunOutcome list = slmsim_run({"list", "techniques"});
  EXPECT_THAT(list.out, HasSubstr("Averaging"));
  const RunOutcome wrong = slmsim_run({"run", kScenario, "--set", "techniques={Averaging: {evry: 2}}"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("unknown key \"evry\" in techniques.Averaging; did you mean \"every\"?"));
  const RunOutcome name = slmsim_run({"run", kScenario, "--set", "techniques=[Averging]"});
  EXPECT_THAT(name.err, HasSubstr("did you mean \"Averaging\"?"));
}

TEST(Toy, GoesThroughSweepReportTraceAndLargestModels) {
  const TemporaryFolder folder;
  const std::string sweep =
      folder.write("every.yaml", fmt::format("scenario: {}/{}\nset: {{models: gpt2m, groups: all, "
                                             "techniques: {{Averaging: {{micro_batches: 1}}}}}}\n"
                                             "axes: [{{key: techniques.Averaging.every, values: [1, 10, 100]}}]\n",
                                             SLMSIM_SOURCE_DIR, kScenario));
  EXPECT_EQ(slmsim_run({"sweep", sweep, "--output", folder.file("every.csv")}).status, 0);
  const std::string rows = contents(folder.file("every.csv"));
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 1 + 3);
  EXPECT_THAT(rows, HasSubstr("Averaging"));

  const std::vector<std::string> only = {"--set",       "models=gpt2m", "--set", "groups=all",
                                         "--technique", "Averaging",    "--set", "techniques={Averaging: {every: 2}}"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), only.begin(), only.end());
    return slmsim_run(words);
  };
  EXPECT_EQ(with({"run", kScenario, "--trace", folder.file("trace.json"), "--output", folder.file("run.txt")}).status,
            0);
  EXPECT_THAT(contents(folder.file("trace.json")), HasSubstr("all-reduce parameters"));
  const std::vector<std::string> all = {"--set", "models=gpt2m", "--set", "techniques={Averaging: {every: 2}}"};
  std::vector<std::string> report = {"report", kScenario, "-o", folder.file("page.html")};
  report.insert(report.end(), all.begin(), all.end());
  const RunOutcome page = slmsim_run(report);
  EXPECT_EQ(page.status, 0) << page.err;
  EXPECT_THAT(contents(folder.file("page.html")), HasSubstr("Averaging"));
  const RunOutcome largest = with({"max-model", kScenario});
  EXPECT_EQ(largest.status, 0) << largest.err;
  EXPECT_THAT(largest.out, HasSubstr("Averaging"));
  const RunOutcome limits = with({"explain", kScenario});
  EXPECT_EQ(limits.status, 0) << limits.err;
  EXPECT_THAT(limits.out, HasSubstr("Averaging on gat+amst"));
}

TEST(Toy, IsPlannedWithWhatItLetsVary) {
  const RunOutcome plan = slmsim_run({"plan", kScenario, "--set", "models=gpt2m", "--set",
                                      "techniques={Averaging: {micro_batches: 1}}", "--format", "json"});
  ASSERT_EQ(plan.status, 0) << plan.err;
  // With 10 steps per average on one VM nearly all communication is gone: nothing else that varies helps more.
  EXPECT_THAT(plan.out, HasSubstr("averages every 10"));
  EXPECT_THAT(plan.out, HasSubstr("every: 10"));
}

}  // namespace
}  // namespace slmsim::toy_test
