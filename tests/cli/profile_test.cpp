// A made-up profile through the command line: what `run` and `report` tell of it, and `validate --measured`.
#include <gmock/gmock.h>

#include "tests/cli/prediction.h"
#include "tests/cli/refusal.h"

namespace slmsim::profile_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Adam and one product at one size each; nobody measured this.
constexpr const char* kProfile =
    "schema: slmsim/gpu-profile/1\nname: made-up\n"
    "launches:\n  - {kind: in-a-row, time: 3 us}\n"
    "kernels:\n"
    "  - {kernel: adam, precision: fp16, batch: 1, m: 354823168, n: 1, k: 1, time: 15 ms}\n"
    "  - {kernel: gemm-nn, precision: fp16, batch: 1, m: 2048, n: 3072, k: 1024, time: 0.15 ms}\n";

std::vector<std::string> with_profile(const std::string& file) {
  std::vector<std::string> words = {"run", "scenarios/gat-amst.yaml", "--set", "groups=[gat]", "--technique", "Data"};
  for (const char* gpu : {"gat.gpus.0", "gat.gpus.1"}) {
    words.push_back("--set");
    words.push_back(std::string("platform.vms.") + gpu + ".profile=" + file);
  }
  return words;
}

// The table with all its remarks and assumptions, each on one line.
RunOutcome whole_table(std::vector<std::string> words) {
  words.insert(words.end(), {"--all", "--assumed"});
  RunOutcome out = slmsim_run(words);
  out.out = unwrapped(out.out);
  return out;
}

TEST(ProfileOfAGpu, IsNamedInTheTableByTheShareOfTimeThatRestsOnIt) {
  const TemporaryFolder folder;
  auto words = with_profile(folder.write("made-up.yaml", kProfile));
  const RunOutcome run = slmsim_run(words);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Data on gat: computation "));
  EXPECT_THAT(run.out, HasSubstr("% roofline"));
  EXPECT_THAT(slmsim_run({"run", "scenarios/gat-amst.yaml"}).out, Not(HasSubstr("roofline")));
}

TEST(ProfileOfAGpu, IsInTheJsonAsSeconds) {
  const TemporaryFolder folder;
  auto words = with_profile(folder.write("made-up.yaml", kProfile));
  words.insert(words.end(), {"--format", "json", "--set", "training.gradient_precision=fp16"});
  const RunOutcome run = slmsim_run(words);
  ASSERT_EQ(run.status, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  for (const auto& prediction : json["predictions"]) {
    if (prediction["status"] != "ok" || prediction["model"] != "gpt2m") continue;
    const auto& basis = prediction["computation_s"];
    // Two GPUs update all parameters each; their products of one sequence are half of what was measured.
    EXPECT_GE(basis["measured"].get<double>(), 2 * 15e-3 * (1 - 1e-9));
    EXPECT_GT(basis["interpolated"].get<double>(), 0.0);
    EXPECT_GT(basis["roofline"].get<double>(), 0.0);
    return;
  }
  FAIL() << "gpt2m does not run";
}

// Nothing was measured, or copies between host and GPU alone: the GPU computes as one without a profile.
TEST(ProfileOfAGpu, WithoutKernelsChangesNoComputation) {
  const TemporaryFolder folder;
  const std::string head = "schema: slmsim/gpu-profile/1\nname: made-up\n";
  // compute_s and optimizer_s of every row.
  const auto computation = [](const RunOutcome& run) {
    EXPECT_EQ(run.status, 0) << run.err;
    std::vector<std::string> out;
    const auto json = nlohmann::json::parse(run.out, nullptr, false);
    for (const auto& prediction : json["predictions"])
      out.push_back(prediction["breakdown_s"]["compute"].dump() + " " + prediction["breakdown_s"]["optimizer"].dump());
    return out;
  };
  const auto plain = computation(slmsim_run(
      {"run", "scenarios/gat-amst.yaml", "--set", "groups=[gat]", "--technique", "Data", "--format", "json"}));
  ASSERT_EQ(plain.size(), 3);
  ASSERT_THAT(plain, testing::Each(Not(HasSubstr("null"))));
  auto words = with_profile(folder.write(
      "copies.yaml", head + "transfers:\n  - {kind: host-to-device, memory: pinned, size: 1 GiB, time: 0.1 s}\n"));
  words.insert(words.end(), {"--format", "json"});
  EXPECT_EQ(computation(slmsim_run(words)), plain);
  words = with_profile(folder.write("nothing.yaml", head));
  words.insert(words.end(), {"--format", "json"});
  EXPECT_EQ(computation(slmsim_run(words)), plain);
  const std::string empty = folder.write("empty.yaml", head + "kernels: []\n");
  expect_refused(with_profile(empty), empty, {{"3:10", "kernels is empty; list at least one"}});
}

// Times of another chip are no times of this GPU; those of another variant of it may be of use.
TEST(ProfileOfAGpu, IsRefusedForAnotherChip) {
  const TemporaryFolder folder;
  const std::string a100 = std::string(kProfile) + "gpu: NVIDIA A100-SXM4-40GB\n";
  const std::string other = folder.write("a100.yaml", a100);
  const RunOutcome refused = slmsim_run(with_profile(other));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("was measured on \"NVIDIA A100-SXM4-40GB\", but a30 is NVIDIA A30 24GB PCIe; name a profile of "
                        "it, or write gpu: NVIDIA A30 24GB PCIe in that profile if they are the same"));
  auto own = with_profile(folder.write("a30.yaml", std::string(kProfile) + "gpu: NVIDIA A30\n"));
  const RunOutcome fits = whole_table(own);
  EXPECT_EQ(fits.status, 0) << fits.err;
  EXPECT_THAT(fits.out, Not(HasSubstr("another variant")));
  EXPECT_THAT(fits.out, Not(HasSubstr("does not name the GPU")));
  const RunOutcome silent = whole_table(with_profile(folder.write("silent.yaml", kProfile)));
  EXPECT_THAT(silent.out, HasSubstr("the profile of a30 does not name the GPU it was measured on: its times are used "
                                    "as a30's; write gpu: NVIDIA A30 24GB PCIe in it if they are"));
  own = with_profile(other);
  for (const char* gpu : {"gat.gpus.0", "gat.gpus.1"})
    own.insert(own.end(), {"--set", std::string("platform.vms.") + gpu + ".title=NVIDIA A100 SXM4 80GB"});
  const RunOutcome variant = whole_table(own);
  EXPECT_EQ(variant.status, 0) << variant.err;
  EXPECT_THAT(variant.out, HasSubstr("the profile of a30 was measured on another variant of it, NVIDIA A100-SXM4-40GB: "
                                     "its times are used anyway"));
}

// Of products alone a profile tells nothing of the kernels between them, nor what these reach of the bandwidth.
TEST(ProfileOfAGpu, LeavesWhatItDoesNotHoldAssumed) {
  const TemporaryFolder folder;
  const std::string head = "schema: slmsim/gpu-profile/1\nname: made-up\nkernels:\n";
  const std::string product =
      "  - {kernel: gemm-nn, precision: fp16, batch: 1, m: 2048, n: 3072, k: 1024, time: 0.15 ms}\n";
  const RunOutcome products = whole_table(with_profile(folder.write("products.yaml", head + product)));
  ASSERT_EQ(products.status, 0) << products.err;
  EXPECT_THAT(products.out, HasSubstr("stack jax: memory traffic of 13 kernels"));
  EXPECT_THAT(products.out, HasSubstr("software: by default memory_efficiency 0.8, kernel_launch 5 us"));
  EXPECT_THAT(products.out, Not(HasSubstr("software.matrix_efficiency")));
  // Of the thirteen those five remain that stacks make in different ways: embedding, bias, rotary, mask, dropout.
  const std::string norm =
      "  - {kernel: norm-forward, precision: fp16, batch: 1, m: 2048, n: 1024, k: 1, time: 50 us}\n";
  const RunOutcome both = whole_table(with_profile(folder.write("both.yaml", head + product + norm)));
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("stack jax: memory traffic of 5 kernels"));
  EXPECT_THAT(both.out, Not(HasSubstr("memory_efficiency")));
}

// 2 x 2048 x 3072 x 1024 FLOP in 10 us are 1288 TFLOP/s; the A30 has 165.
TEST(ProfileOfAGpu, FasterThanThePeakIsRemarkedOn) {
  const TemporaryFolder folder;
  const std::string remark =
      "faster than the data sheet's peak; the profile, matrix_efficiency or peak of its GPUs is wrong";
  const std::string fast =
      "schema: slmsim/gpu-profile/1\nname: fast\nkernels:\n"
      "  - {kernel: adam, precision: fp16, batch: 1, m: 354823168, n: 1, k: 1, time: 1 ms}\n"
      "  - {kernel: gemm-nn, precision: fp16, batch: 1, m: 2048, n: 3072, k: 1024, time: 10 us}\n";
  auto words = with_profile(folder.write("fast.yaml", fast));
  words.insert(words.end(), {"--set", "training.batch=64", "--set", "models=gpt2m"});
  EXPECT_THAT(whole_table(words).out, HasSubstr(remark));
  EXPECT_THAT(whole_table(with_profile(folder.write("made-up.yaml", kProfile))).out, Not(HasSubstr(remark)));
}

TEST(Shapes, BesideTheCalibrationProgramAreThoseOfTheShippedModels) {
  const std::string folder = SLMSIM_SOURCE_DIR "/calibrate/shapes/";
  for (const auto& [model, file] : {std::pair{"gpt2m", "gpt2m"}, {"gpt2l", "gpt2-577m"}, {"gpt2L", "gpt2-656m"}})
    EXPECT_EQ(slmsim_run({"shapes", model}).out, contents(folder + file + ".csv"));
  for (const std::string model : {"gpt2", "llama-160m"})
    EXPECT_EQ(slmsim_run({"shapes", model, "--batch", "1,4,16"}).out, contents(folder + model + ".csv"));
  EXPECT_EQ(slmsim_run({"shapes", "gpt2m", "gpt2l", "gpt2L", "gpt2", "llama-160m", "gpt2-large", "gpt2-xl",
                        "llama-3.2-1b", "tinyllama-1.1b", "smollm-135m", "smollm-360m", "--format", "json"})
                .out,
            contents(SLMSIM_SOURCE_DIR "/calibrate/shapes/models.json"));
}

// Llama 3.2's 131072 positions are no length of training.
TEST(Shapes, OfALongContextAreThoseOf2048TokensOrTheStatedOnes) {
  const TemporaryFolder folder;
  const std::string file = folder.write("config.json", R"({"model_type": "llama", "max_position_embeddings": 131072})");
  const RunOutcome usual = slmsim_run({"shapes", file, "--format", "json"});
  EXPECT_EQ(usual.status, 0);
  EXPECT_EQ(usual.err, "slmsim: " + file + ": sequences of 2048 tokens; --sequence states others, 131072 at most\n");
  EXPECT_THAT(usual.out, HasSubstr("\"sequence\": 2048,"));
  const RunOutcome stated = slmsim_run({"shapes", folder.file(""), "--sequence", "512", "--format", "json"});
  EXPECT_EQ(stated.err, "");
  EXPECT_THAT(stated.out, HasSubstr("\"sequence\": 512,"));
}

TEST(ValidateMeasured, ComparesStepsWithMedianAndWorst) {
  const TemporaryFolder folder;
  const std::string profile = folder.write("made-up.yaml", kProfile);
  const RunOutcome plain = slmsim_run({"validate", "--measured", "tests/data/steps/made-up.json", "--gpu", "h200"});
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_THAT(plain.out, HasSubstr("Step time: 1 cells, median absolute error "));
  EXPECT_THAT(plain.out, HasSubstr("by the data sheet's roofline"));
  const RunOutcome run =
      slmsim_run({"validate", "--measured", "tests/data/steps/made-up.json", "--gpu", "h200", "--profile", profile});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out,
              HasSubstr("| Made up: nobody measured this | gpt2m, batch 1x1024, fp16 | 1 | autocast | 100.00 | "));
  EXPECT_THAT(run.out, HasSubstr("% measured"));
  const RunOutcome csv =
      slmsim_run({"validate", "--measured", "tests/data/steps/made-up.json", "--gpu", "h200", "--format", "csv"});
  EXPECT_THAT(
      csv.out,
      HasSubstr("Made up: nobody measured this,\"gpt2m, batch 1x1024, fp16\",autocast,gpt2m,1,1,fp16,ok,ok,0.1,"));
}

TEST(ValidateMeasured, SaysWhichGpuOrFileIsMissing) {
  const auto gpu = slmsim_run({"validate", "--measured", "tests/data/steps/made-up.json", "--gpu", "h2000"});
  EXPECT_EQ(gpu.status, 2);
  EXPECT_THAT(gpu.err, HasSubstr("there is no GPU \"h2000\""));
  const auto file = slmsim_run({"validate", "--measured", "no-such.json", "--gpu", "h200"});
  EXPECT_EQ(file.status, 2);
  EXPECT_THAT(file.err, HasSubstr("no such file"));
}

}  // namespace
}  // namespace slmsim::profile_test
