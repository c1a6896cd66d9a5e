// slmsim import through the command line: from a table to a prediction, and what a wrong table gets. All tables are
// made up.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/prediction.h"
#include "tests/cli/refusal.h"

namespace slmsim::import_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// As PyTorch lays weights: one layout, which serves all three. 2 x 2048 x 3072 x 1024 in 0.2 ms is 64 TFLOP/s.
constexpr const char* kTable =
    "gpu,kernel,precision,batch,m,n,k,seconds\n"
    "mine,gemm-nt,fp16,1,2048,3072,1024,2e-4\nmine,gemm-nt,fp16,1,1024,3072,1024,1.1e-4\n"
    "mine,norm-forward,fp16,1,2048,1024,1,2e-5\nmine,gemv,fp16,1,2048,1024,1,2e-5\n";

TEST(Import, MakesAProfileThatIsCheckedAndUsed) {
  const TemporaryFolder folder;
  const std::string table = folder.write("mine.csv", kTable), profile = folder.file("my-gpu.yaml");
  const RunOutcome run = slmsim_run({"import", "csv", table, "--gpu", "a30", "-o", profile});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out,
              StartsWith("my-gpu: 7 kernels, 0 collectives\n" + table +
                         ": 3 of 4 times taken; left out: 1 of operators without a kernel in slmsim (1 gemv)\n"));
  EXPECT_THAT(run.out, HasSubstr("- gemm-nn in fp16 was not timed: 2 sizes have the times of gemm-nt"));
  EXPECT_EQ(folder.count(), 2);
  const RunOutcome check = slmsim_run({"check", profile});
  EXPECT_EQ(check.out, profile + ": ok, a GPU profile\n") << check.err;
  std::vector<std::string> words = {"run", "scenarios/gat-amst.yaml", "--set", "groups=[gat]", "--technique", "Data"};
  for (const char* gpu : {"gat.gpus.0", "gat.gpus.1"}) {
    words.push_back("--set");
    words.push_back(std::string("platform.vms.") + gpu + ".profile=" + profile);
  }
  words.insert(words.end(), {"--set", "training.gradient_precision=fp16", "--format", "json"});
  const RunOutcome used = slmsim_run(words);
  ASSERT_EQ(used.status, 0) << used.err;
  const auto json = nlohmann::json::parse(used.out);
  for (const auto& prediction : json["predictions"])
    EXPECT_GT(prediction["computation_s"]["roofline"].get<double>() +
                  prediction["computation_s"]["interpolated"].get<double>(),
              0);
}

// Output of calibrate/run_on_gpu.sh: times with their spread, and attention that PyTorch timed.
constexpr const char* kMeasured =
    "schema: slmsim/gpu-profile/1\nname: a30\ngpu: \"NVIDIA A30\"\npower_limit: \"165 W\"\nkernels:\n"
    "  - {kernel: gemm-nn, precision: fp16, batch: 1, m: 2048, n: 3072, k: 1024, time: 200 us, low: 199 us, samples: "
    "9, "
    "clock: 1440 to 1440 MHz}\n"
    "launches:\n  - {kind: in-a-row, time: 2 us, low: 1.9 us}\n"
    "transfers:\n  - {kind: host-to-device, memory: pinned, size: 1000000 B, time: 50 us, low: 49 us}\n";
constexpr const char* kFlash =
    "kernel,precision,batch,m,n,k,seconds,low,high,samples,backend,gpu\n"
    "flash-forward,bf16,16,1024,1024,64,0.0001,0.0001,0.0001,9,flash,NVIDIA A30\n"
    "flash-backward,bf16,16,1024,1024,64,0.0003,0.0003,0.0003,9,math,NVIDIA A30\n";

TEST(Import, TakesAFolderOfMeasurementsWhole) {
  const TemporaryFolder folder;
  folder.write("gpu.yaml", kMeasured);
  folder.write("flash.csv", kFlash);
  folder.write("host.csv", "what,kernels,us_per_call\nadd,1,7.2\n\"norm, linear, sum and their backward\",0,450\n");
  const std::string here = std::filesystem::path(folder.file("gpu.yaml")).parent_path().string();
  const RunOutcome check = slmsim_run({"check", here});
  ASSERT_EQ(check.status, 0) << check.err;
  EXPECT_THAT(check.out,
              AllOf(HasSubstr("gpu.yaml: ok, a GPU profile\n"), HasSubstr("flash.csv: ok, a table of 2 kernels\n")));
  const std::string profile = folder.file("mine.yaml");
  const RunOutcome run = slmsim_run({"import", "measured", here, "-o", profile});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "mine: 2 kernels of NVIDIA A30\n");
  EXPECT_EQ(slmsim_run({"check", profile}).out, profile + ": ok, a GPU profile\n");
  const std::string text = contents(profile);
  EXPECT_THAT(text, HasSubstr("name: mine\nhost: 2\n"));  // 450 us, in proportion to 3 x (35 + 40) us
  EXPECT_THAT(text,
              HasSubstr("  - {kernel: gemm-nn, precision: fp16, batch: 1, m: 2048, n: 3072, k: 1024, time: 200 us}\n"));
  EXPECT_THAT(text,
              HasSubstr("kernel: flash-forward, precision: bf16, batch: 16, m: 1024, n: 1024, k: 64, time: 100 us"));
  EXPECT_THAT(text, Not(HasSubstr("flash-backward")));  // another kernel than flash attention's
  EXPECT_THAT(text, HasSubstr("launches:\n  - {kind: in-a-row, time: 2 us}\n"));
  EXPECT_THAT(text, HasSubstr("{kind: host-to-device, memory: pinned, size: 1000000 B, time: 50 us}"));
  EXPECT_EQ(slmsim_run({"import", "measured", here, "--gpu", "a30"}).status, 2);
  EXPECT_EQ(slmsim_run({"import", "measured", folder.file("no-folder")}).status, 2);
  EXPECT_EQ(slmsim_run({"check", SLMSIM_SOURCE_DIR "/docs"}).status, 2);
}

TEST(Import, GivesTheSameBytesEachTime) {
  const TemporaryFolder folder;
  const std::string table = folder.write("mine.csv", kTable), profile = folder.file("imported.yaml");
  const RunOutcome printed = slmsim_run({"import", "csv", table});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("command: \"slmsim import csv " + table + "\""));
  EXPECT_THAT(printed.out, HasSubstr("gpu: \"mine\""));
  EXPECT_EQ(slmsim_run({"import", "csv", table}).out, printed.out);
  EXPECT_EQ(slmsim_run({"import", "csv", table, "-o", profile}).status, 0);
  EXPECT_EQ(contents(profile), printed.out);
}

TEST(Import, ThinsALargeTable) {
  const TemporaryFolder folder;
  std::string text = "kernel,precision,batch,m,n,k,seconds\n";
  // 4,000 products in one layout are 12,000 in three; half of the data sheet's 165 TFLOP/s and 5 us.
  for (int m = 1; m <= 40; ++m) {
    for (int n = 1; n <= 10; ++n) {
      for (int k = 1; k <= 10; ++k)
        text += fmt::format("gemm-nt,fp16,1,{},{},{},{:.9g}\n", 128 * m, 256 * n, 256 * k,
                            2.0 * 128 * m * 256 * n * 256 * k / 82e12 + 5e-6);
    }
  }
  const std::string table = folder.write("large.csv", text), profile = folder.file("large.yaml");
  const RunOutcome refused = slmsim_run({"import", "csv", table, "-o", profile});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("12000 sizes of kernels, but a profile holds 6000; give --gpu NAME"));
  const RunOutcome run = slmsim_run({"import", "csv", table, "--gpu", "a30", "-o", profile});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("of 12000 sizes are kept: the others are interpolated from them within 2 %"));
  EXPECT_EQ(slmsim_run({"check", profile}).status, 0);
  const RunOutcome few = slmsim_run({"import", "csv", table, "--gpu", "a30", "--rows", "90", "-o", profile});
  ASSERT_EQ(few.status, 0) << few.err;
  EXPECT_THAT(few.out, HasSubstr(" sizes are kept"));
}

TEST(Import, WritesNothingWhereATableIsWrong) {
  const TemporaryFolder folder;
  const std::string table = folder.write("a.csv", std::string(kTable) + "mine,gemm-nt,fp16,1,2,3,4,soon\n");
  const std::string profile = folder.file("out.yaml");
  expect_refused({"import", "csv", table, "-o", profile}, table,
                 {{"6:27", "seconds is \"soon\"; a number of s is expected"}});
  EXPECT_EQ(folder.count(), 1);
  folder.write("out.yaml", "older");
  EXPECT_EQ(slmsim_run({"import", "csv", table, "-o", profile}).status, 2);
  EXPECT_EQ(contents(profile), "older");
}

TEST(Import, RefusesWhatItDoesNotKnow) {
  const TemporaryFolder folder;
  const std::string table = folder.write("mine.csv", kTable);
  const auto refusal = [&](std::vector<std::string> words, const std::string& text) {
    words.insert(words.begin(), "import");
    const RunOutcome run = slmsim_run(words);
    EXPECT_EQ(run.status, 2) << text;
    EXPECT_THAT(run.err, AllOf(HasSubstr("error: "), HasSubstr(text)));
  };
  refusal({}, "FORMAT is required");
  refusal({"csv"}, "FILE is required");
  refusal({"neusigt", table}, "there is no format \"neusigt\"; did you mean \"neusight\"?");
  refusal({"csv", folder.file("none.csv")}, "there is no such file");
  refusal({"csv", table, "--gpu", "a300"}, "--gpu: there is no GPU \"a300\"; list them by slmsim list gpus");
  refusal({"csv", table, "--precision", "fp61"}, "--precision \"fp61\" is unknown; did you mean \"fp16\"?");
  refusal({"csv", table, "--least", "10"}, "--least: ");
  refusal({"csv", table, "--where", "gpu"}, "--where \"gpu\": COLUMN=VALUE is expected");
  refusal({"csv", table, "--where", "gpu=t4"}, "gpu is one of mine");
  refusal({"csv", table, "--name", "a b"}, "--name \"a b\": letters, digits");
  refusal({"csv", table, "-o", folder.file("no/such/place.yaml")}, "the result cannot be written there");
  // 2 x 4096^3 FLOP in 0.2 ms are 687 TFLOP/s; the A30 has 165.
  const std::string head = "gpu,kernel,precision,batch,m,n,k,seconds\n";
  const std::string fast = folder.write("fast.csv", head + ",gemm-nt,fp16,1,4096,4096,4096,2e-4\n");
  refusal({"csv", fast, "--gpu", "a30"},
          fast +
              ":2:1: error: the kernels take 0.24 times the data sheet's time of a30 in the median, as this one does, "
              "which is faster than possible; check the GPU, the precision, and that times");
  const std::string other = folder.write("other.csv", head + "Tesla T4,gemm-nt,fp16,1,4096,4096,4096,2e-3\n");
  refusal({"csv", other, "--gpu", "a30"},
          "--gpu a30: the tables are for \"Tesla T4\", but a30 is NVIDIA A30 24GB PCIe; name the GPU that was timed");
  // Where the tables name no GPU, the profile names the one that was asked for.
  const std::string unnamed = folder.write("unnamed.csv", head + ",gemm-nt,fp16,1,4096,4096,4096,2e-3\n");
  EXPECT_THAT(slmsim_run({"import", "csv", unnamed, "--gpu", "a30"}).out, HasSubstr("gpu: \"NVIDIA A30 24GB PCIe\""));
}

TEST(Import, TellsItsFormats) {
  const std::string help = slmsim_run({"import", "--help"}).out, list = slmsim_run({"list", "formats"}).out;
  for (const char* format :
       {"csv", "neusight", "aceso", "sailor", "aiconfigurator", "vidur", "deepbench", "nccl-tests", "nsys"}) {
    EXPECT_THAT(help, HasSubstr(std::string("\n  ") + format + " "));
    EXPECT_THAT("\n" + list, HasSubstr(std::string("\n") + format + " "));
  }
  EXPECT_THAT(help, HasSubstr("Examples:"));
  EXPECT_THAT(list, HasSubstr("OPName, Latency (ms), Device"));
}

TEST(Import, NeedsTheSizesThatNsysDoesNotTell) {
  const TemporaryFolder folder;
  const std::string shapes =
      folder.write("shapes.csv", "name,kernel,precision,batch,m,n,k\n_nt,gemm-nt,fp16,1,2048,3072,1024\n");
  const std::string table = folder.write("kern.csv", "Instances,Med (us),Name\n3,200,some_gemm_nt\n");
  const RunOutcome run = slmsim_run({"import", "nsys", table, "--shapes", shapes});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out,
              HasSubstr("{kernel: gemm-nt, precision: fp16, batch: 1, m: 2048, n: 3072, k: 1024, time: 200 us}"));
  EXPECT_THAT(run.out, Not(HasSubstr("left_out")));
}

}  // namespace
}  // namespace slmsim::import_test
