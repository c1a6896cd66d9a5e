// Lists of kernels, numbers as GPUs store them, options, and the profile's text.
#include "calibrate/gpu/kernel.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <unistd.h>

#include <gmock/gmock.h>

#include "calibrate/common/failure.h"
#include "calibrate/gpu/collective.h"
#include "calibrate/gpu/number.h"
#include "calibrate/gpu/option.h"
#include "calibrate/gpu/profile.h"
#include "sim/platform/gpu.h"
#include "tests/errors_of.h"

namespace slmsim::calibrate::kernel_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

std::string written(const std::string& text) {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("slmsim-shapes-" + std::to_string(getpid()))).string();
  std::ofstream(file) << text;
  return file;
}

TEST(Kernels, AreReadOnceEach) {
  const auto kernels =
      read_kernels({written("# by hand\nkernel,batch,m,n,k,operators\ngemm-nn,1,1024,3072,1024,gpt2m "
                            "qkv\nadam,1,1000,1,1,\ngemm-nn,1,1024,3072,1024,again\n")});
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0], (Kernel{"gemm-nn", "", 1, 1024, 3072, 1024}));
  EXPECT_DOUBLE_EQ(kernels[0].flops(), 2.0 * 1024 * 3072 * 1024);
  EXPECT_EQ(kernels[1].flops(), 0);
}

TEST(Kernels, SayWhatIsWrongWithAList) {
  const std::string header = "kernel,batch,m,n,k,operators\n";
  const auto error_of = [](const std::string& text) { return [text] { read_kernels({written(text)}); }; };
  EXPECT_THAT(error_of(""), ThrowsMessage<UsageError>(HasSubstr("empty; a list of kernels")));
  EXPECT_THAT(error_of("gemm-nn,1,1,1,1,\n"), ThrowsMessage<UsageError>(HasSubstr(":1: error: a list of kernels")));
  EXPECT_THAT(error_of(header + "gem-nn,1,1,1,1,\n"),
              ThrowsMessage<UsageError>(HasSubstr(":2: error: unknown kernel \"gem-nn\"; known are: gemm-nn")));
  EXPECT_THAT(error_of(header + "gemm-nn,1,1.5,1,1,\n"), ThrowsMessage<UsageError>(HasSubstr("\"1.5\" is not a size")));
  EXPECT_THAT(error_of(header + "gemm-nn,1,0,1,1,\n"), ThrowsMessage<UsageError>(HasSubstr("\"0\" is not a size")));
  EXPECT_THAT(error_of(header + "gemm-nn,1,1\n"), ThrowsMessage<UsageError>(HasSubstr("3 cells")));
  EXPECT_THAT([] { read_kernels({"/none.csv"}); }, ThrowsMessage<UsageError>(HasSubstr("No such file")));
}

TEST(Kernels, ComeSmallOnesFirstInEachPrecision) {
  const Kernel small{"gemm-nn", "", 1, 8, 8, 8}, large{"gemm-nn", "", 1, 64, 64, 64},
      row{"gelu-forward", "", 1, 4, 4, 1};
  const auto all = in_precisions({large, small, row}, {"fp16", "tf32"});
  std::vector<std::string> texts;
  for (const auto& kernel : all) texts.push_back(to_text(kernel));
  EXPECT_THAT(texts, ElementsAre("gelu-forward fp16 1x4x4x1", "gemm-nn fp16 1x8x8x8", "gemm-nn fp16 1x64x64x64",
                                 "gemm-nn tf32 1x8x8x8", "gemm-nn tf32 1x64x64x64"));
}

TEST(Deviation, IsBelowOneForRoundingAndAboveForErrors) {
  // 1 + 2^-11 lies half-way between two fp16 numbers: rounding is off by 2^-11.
  EXPECT_LT(deviation(1.0, 1.0 + 0x1p-11, 0, Number::kHalf), 1);
  EXPECT_GT(deviation(1.0, 1.0 + 0x1p-9, 0, Number::kHalf), 1);
  EXPECT_GT(deviation(1.0, 1.0 + 0x1p-9, 0, Number::kFloat), 1);
  EXPECT_LT(deviation(1.0, 1.0 + 0x1p-9, 0, Number::kBfloat), 1);
  EXPECT_EQ(deviation(std::nan(""), 1.0, 1, Number::kHalf), std::numeric_limits<double>::infinity());
  // A product of 1024 random factors that lost one term of 0.25 to a wrong index is far off in fp32.
  EXPECT_GT(deviation(10, 10.25, 256, Number::kFloat), 1);
}

TEST(Options, AreReadAndChecked) {
  const Options options = parse_options({"all", "--shapes", "a.csv,b.csv", "-o", "g.yaml", "--precisions=fp16,fp32",
                                         "--precision", "5%", "--time-limit", "2min"});
  EXPECT_EQ(options.verb, Options::Verb::kAll);
  EXPECT_THAT(options.shapes, ElementsAre("a.csv", "b.csv"));
  EXPECT_THAT(options.precisions, ElementsAre("fp16", "fp32"));
  EXPECT_DOUBLE_EQ(options.rules.precision, 0.05);
  EXPECT_DOUBLE_EQ(options.time_limit, 120);
  EXPECT_THAT([] { parse_options({"all"}); }, ThrowsMessage<UsageError>(HasSubstr("needs --shapes")));
  EXPECT_THAT([] { parse_options({"al"}); }, ThrowsMessage<UsageError>(HasSubstr("known are: all, gemm")));
  EXPECT_THAT([] { parse_options({"nccl", "--size", "1"}); }, ThrowsMessage<UsageError>(HasSubstr("unknown option")));
  EXPECT_THAT([] { parse_options({"nccl", "--gpus"}); }, ThrowsMessage<UsageError>(HasSubstr("needs a value")));
  EXPECT_THAT([] { parse_options({"nccl", "--gpus", "0"}); }, ThrowsMessage<UsageError>(HasSubstr("from 1 to 64")));
  EXPECT_THAT(
      [] {
        parse_options({"nccl", "--collectives", "all-redice"});
      },
      ThrowsMessage<UsageError>(HasSubstr("known are: all-reduce")));
  EXPECT_EQ(parse_options({"nccl", "--help"}).verb, Options::Verb::kHelp);
  EXPECT_EQ(parse_options({"compare", "--device", "1"}).device, 1);
}

TEST(GpuProfile, IsYamlThatTheSimulatorReads) {
  Measurement measured;
  measured.seconds = summary_of({1e-5, 1.1e-5, 1.2e-5});
  measured.launches = 20;
  measured.clock_least = 1900;
  measured.clock_most = 1980;
  measured.throttle = 0x4;
  Profile profile;
  profile.name = "my-gpu";
  profile.date = "2026-01-31T12:00:00Z";
  profile.command = "slmsim-calibrate all \"quoted\"";
  // As Device::facts() and the program name them.
  for (const char* fact :
       {"gpu", "compute_capability", "multiprocessors", "memory", "l2_cache", "driver", "cuda_driver", "cuda_runtime",
        "greatest_clock", "memory_clock", "cublas", "library", "nccl"})
    profile.facts.emplace_back(fact, "1");
  profile.facts.emplace_back("power_limit", "280 W");
  profile.kernels = {kernel_line({"gemm-nn", "fp16", 1, 1024, 3072, 1024}, measured, 0.3)};
  profile.transfers = {transfer_line("host-to-device", "pinned", 64000, measured)};
  profile.launches = {launch_line("in-a-row", measured)};
  CollectiveResult reduced;
  reduced.ranks = 2;
  reduced.bytes = 1e6;
  reduced.seconds = 1e-3;
  profile.collectives = {collective_line(reduced)};
  profile.left_out = {"adam fp32: too large"};
  const Node node = parse_yaml(to_yaml(profile), "profile");
  EXPECT_EQ(node.find("schema")->scalar, "slmsim/gpu-profile/1");
  const Node& point = node.find("kernels")->items.at(0);
  EXPECT_EQ(point.find("time")->scalar, "11 us");
  EXPECT_EQ(point.find("low")->scalar, "10 us");
  EXPECT_EQ(point.find("samples")->scalar, "3");
  EXPECT_EQ(point.find("imprecise")->scalar, "yes");
  EXPECT_EQ(point.find("throttled")->scalar, "power cap");
  EXPECT_EQ(node.find("transfers")->items.at(0).find("size")->scalar, "64 kB");
  Reading reading;
  const GpuProfile read = read_profile(node, "", reading);
  EXPECT_THAT(errors_of(reading), IsEmpty());
  EXPECT_DOUBLE_EQ(read.kernels.at("gemm-nn")[0].at(0).time.value, 11e-6);
  EXPECT_DOUBLE_EQ(read.launch.value, 11e-6);
  EXPECT_EQ(read.power_limit.value, 280);
  EXPECT_DOUBLE_EQ(read.buses.to_device.value, 64000 / 11e-6);
  EXPECT_DOUBLE_EQ(read.buses.peer.value, 1e9);  // 2 x 1/2 x 1 MB / 1 ms
}

}  // namespace
}  // namespace slmsim::calibrate::kernel_test
