// Suggestions for unlike GPUs.
#include <gtest/gtest.h>

#include "sim/search/verdict.h"

namespace slmsim::faster_test {
namespace {

// Four A100 wait for four V100 with as many sequences, which a pipeline does not.
TEST(Faster, DealsSequencesBySpeedToUnlikeGpus) {
  const std::filesystem::path file = SLMSIM_SOURCE_DIR "/scenarios/reported/lambda.yaml";
  Overrides set = {"models=[gpt2m]", "techniques={FSDP: {}, Pipeshard: {planner: slmsim}}", "software.stack=compiled",
                   "training={batch: 64, micro_batch: 8, precision: fp16, epochs: 1, blocks_per_epoch: 20000}",
                   "platform.vms.node={site: here, type: campus-server, gpus: [a100-40, a100-40, a100-40, a100-40, "
                   "v100, v100, v100, v100]}"};
  const RunResult result = run_scenario(load_scenario(file, set), {});
  const Verdict verdict = verdicts_of(result, verdict_options_of(ScenarioFile(file), set)).front();
  ASSERT_TRUE(verdict.best && verdict.faster);
  EXPECT_STREQ(result.predictions[*verdict.best].technique->name, "Pipeshard");
  EXPECT_EQ(verdict.faster->command, "--set techniques.FSDP.batch_split=speed");
  set.emplace_back("techniques.FSDP.batch_split=speed");
  const Prediction promised = run_scenario(load_scenario(file, set), {}).predictions.front();
  EXPECT_STREQ(promised.technique->name, "FSDP");
  EXPECT_NEAR(promised.job.value, verdict.faster->job.value, 1e-6 * promised.job.value);
}

}  // namespace
}  // namespace slmsim::faster_test
