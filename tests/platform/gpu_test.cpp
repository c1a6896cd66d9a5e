#include "sim/platform/gpu.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/errors_of.h"

namespace slmsim::gpu_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kBefore =
    "name: g\narchitecture: Ampere\nmultiprocessors: 10\nmemory: 8 GiB\nmemory_bandwidth: 100 GB/s\npcie: 10 "
    "GB/s\n";
constexpr auto kFp16 = static_cast<std::size_t>(Precision::kFp16);
constexpr auto kBf16 = static_cast<std::size_t>(Precision::kBf16);
constexpr auto kFp32 = static_cast<std::size_t>(Precision::kFp32);

struct Example {
  explicit Example(const std::string& text) : node(parse_yaml(text, "g.yaml")), gpu(read_gpu(node, "", reading)) {}
  Reading reading;
  Node node;
  Gpu gpu;
};

TEST(Gpu, ReadsADataSheet) {
  const Example e(kBefore + "title: Made up\nnvlink: 50 GB/s\npeak: {fp16: 4 TFLOP/s, fp32: 1 TFLOP/s}\n");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  EXPECT_EQ(e.gpu.name, "g");
  EXPECT_EQ(e.gpu.title, "Made up");
  EXPECT_EQ(e.gpu.architecture, "Ampere");
  EXPECT_EQ(e.gpu.multiprocessors, 10);
  EXPECT_EQ(e.gpu.memory.value, 8 * kGibi);
  EXPECT_EQ(e.gpu.memory_bandwidth.value, 100e9);
  EXPECT_EQ(e.gpu.pcie.value, 10e9);
  EXPECT_EQ(e.gpu.nvlink.value, 50e9);
  EXPECT_EQ(e.gpu.peak[kFp16].value, 4e12);
  EXPECT_EQ(e.gpu.peak[kBf16].value, 0.0);  // the data sheet does not name it
  EXPECT_EQ(e.gpu.peak[kFp32].value, 1e12);
}

TEST(Gpu, HasItsArchitecturesComputeCapabilityUnlessItSaysSo) {
  EXPECT_EQ(Example(kBefore + "peak: {fp32: 1 TFLOP/s}\n").gpu.compute_capability, 80);
  EXPECT_EQ(Example(kBefore + "compute_capability: 8.6\npeak: {fp32: 1 TFLOP/s}\n").gpu.compute_capability, 86);
}

TEST(Gpu, HasNoNvlinkUnlessItSaysSo) {
  EXPECT_EQ(Example(kBefore + "peak: {fp32: 1 TFLOP/s}\n").gpu.nvlink.value, 0.0);
}

TEST(Gpu, AsksWhichArchitectureOrPrecisionWasMeant) {
  const Example e(
      "name: g\narchitecture: Amper\nmultiprocessors: 10\nmemory: 8 GiB\nmemory_bandwidth: 100 GB/s\n"
      "pcie: 10 GB/s\npeak: {fp32: 1 TFLOP/s, fp61: 1 TFLOP/s}\n");
  EXPECT_THAT(errors_of(e.reading),
              ElementsAre("g.yaml:2:15: error: architecture: unknown value \"Amper\"; did you mean \"Ampere\"?",
                          "g.yaml:7:25: error: unknown key \"fp61\" in peak; did you mean \"fp16\"?"));
}

TEST(Gpu, NeedsTheFp32RateThatEverythingFallsBackOn) {
  // Operators that are no matrix products, and precisions that the GPU lacks, run at the fp32 rate; a rate of
  // 0 would give endless times.
  EXPECT_EQ(errors_of(Example(kBefore + "peak: {}\n").reading).size(), 1);
  EXPECT_EQ(errors_of(Example(kBefore + "peak: {fp16: 4 TFLOP/s}\n").reading).size(), 1);
}

TEST(Gpu, EmulatesBf16AtAShareOfFp32) {
  const Example derived(kBefore + "peak: {fp32: 1 TFLOP/s}\nefficiency: {fp32: 0.8}\n");
  EXPECT_DOUBLE_EQ(efficiency_of(derived.gpu, Precision::kBf16).share, 0.55 * 0.8);
  EXPECT_TRUE(efficiency_of(derived.gpu, Precision::kBf16).assumed);
  const Example stated(kBefore + "peak: {fp32: 1 TFLOP/s}\nefficiency: {bf16: 0.3, fp32: 0.8}\n");
  EXPECT_THAT(errors_of(stated.reading), IsEmpty());
  EXPECT_DOUBLE_EQ(efficiency_of(stated.gpu, Precision::kBf16).share, 0.3);
  EXPECT_DOUBLE_EQ(efficiency_of(stated.gpu, Precision::kFp16).share, 0.8);  // in fp32
  const Example has(kBefore + "peak: {bf16: 8 TFLOP/s, fp32: 1 TFLOP/s}\nefficiency: {fp32: 0.8}\n");
  EXPECT_DOUBLE_EQ(efficiency_of(has.gpu, Precision::kBf16).share, 0.75);
}

TEST(Gpu, RefusesAShareOfAPeakThatIsNotThere) {
  EXPECT_THAT(
      errors_of(Example(kBefore + "peak: {fp32: 1 TFLOP/s}\nefficiency: {tf32: 0.8}\n").reading),
      ElementsAre("g.yaml:8:20: error: efficiency.tf32 has no effect, since peak.tf32 is not stated: products run "
                  "in fp32"));
}

TEST(Gpu, StoresElementsInTwoOrFourBytes) {
  EXPECT_EQ(element_bytes(Precision::kFp16), 2.0);
  EXPECT_EQ(element_bytes(Precision::kBf16), 2.0);
  EXPECT_EQ(element_bytes(Precision::kTf32), 4.0);  // 19 bits in the tensor cores, 32 in memory
  EXPECT_EQ(element_bytes(Precision::kFp32), 4.0);
}

TEST(Gpu, ReadsEveryBundledDataSheet) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(SLMSIM_SOURCE_DIR "/platforms/gpus")) {
    Reading reading;
    const Gpu gpu = read_gpu(read_yaml(file.path()), "", reading);
    EXPECT_THAT(errors_of(reading), IsEmpty()) << file.path();
    EXPECT_EQ(gpu.name, file.path().stem()) << "scenarios call a GPU by its file's name";
    EXPECT_GE(gpu.peak[kFp16], gpu.peak[kFp32]) << file.path();
    EXPECT_GE(reading.parameters.size(), 6) << "every figure states its provenance: " << file.path();
    ++files;
  }
  EXPECT_GE(files, 8);
}

TEST(Gpu, AgreesWithTheDataSheetsOfTheStudysCards) {
  const auto load = [](const std::string& name) {
    Reading reading;
    return read_gpu(read_yaml(SLMSIM_SOURCE_DIR "/platforms/gpus/" + name + ".yaml"), "", reading);
  };
  // NVIDIA A30: 24 GB, 933 GB/s, fp16 165 TFLOP/s dense. RTX 6000: 24 GB, 672 GB/s, 72 SMs. T4: 65
  // TFLOP/s, 16 GB, and 15 with ECC.
  EXPECT_EQ(load("a30").memory.value, 24 * kGibi);
  EXPECT_DOUBLE_EQ(load("a30").memory_bandwidth.value, 933e9);
  EXPECT_DOUBLE_EQ(load("a30").peak[kFp16].value, 165e12);
  EXPECT_DOUBLE_EQ(load("rtx6000").memory_bandwidth.value, 672e9);
  EXPECT_EQ(load("rtx6000").multiprocessors, 72);
  EXPECT_EQ(load("t4").memory.value, 15 * kGibi);
  EXPECT_DOUBLE_EQ(load("t4").peak[kFp16].value, 65e12);
}

}  // namespace
}  // namespace slmsim::gpu_test
