// From what was gathered to what a profile holds: layouts, thinning, the check against the data sheet, the text.
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "sim/import/measurement/imported_profile.h"
#include "tests/compute/measured_gpu.h"
#include "tests/import/measurement/import_text.h"

namespace slmsim::profile_test {
namespace {

using import_test::Files;
using import_test::import;
using import_test::points;
using import_test::refusals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr auto kFp16 = static_cast<std::size_t>(Precision::kFp16);

ImportedProfile with(const std::vector<std::pair<KernelShape, Seconds>>& kernels) {
  ImportedProfile profile;
  profile.name = "made-up";
  for (const auto& [shape, time] : kernels) made_up::add(profile.points, shape, time);
  return profile;
}

TEST(SharedLayouts, MakeOneLayoutServeAll) {
  auto profile = with({{{"gemm-nt", 1, 64, 32, 16}, {1e-3}}});
  share_layouts(profile);
  EXPECT_THAT(points(profile), ElementsAre("gemm-nn fp16 1x64x32x16 0.001", "gemm-nt fp16 1x64x32x16 0.001",
                                           "gemm-tn fp16 1x64x32x16 0.001"));
  EXPECT_THAT(profile.remarks, ElementsAre("gemm-nn in fp16 was not timed: 1 sizes have the times of gemm-nt",
                                           "gemm-tn in fp16 was not timed: 1 sizes have the times of gemm-nt"));
}

TEST(SharedLayouts, TakeTheMeanOfTwo) {
  auto profile = with({{{"gemm-nt", 1, 64, 32, 16}, {1e-3}},
                       {{"gemm-nn", 1, 64, 32, 16}, {3e-3}},
                       {{"gemm-tn", 8, 64, 32, 16}, {5e-3}}});
  share_layouts(profile);
  EXPECT_THAT(points(profile), ElementsAre("gemm-nn fp16 1x64x32x16 0.003", "gemm-nn fp16 8x64x32x16 0.005",
                                           "gemm-nt fp16 1x64x32x16 0.001", "gemm-nt fp16 8x64x32x16 0.005",
                                           "gemm-tn fp16 1x64x32x16 0.002", "gemm-tn fp16 8x64x32x16 0.005"));
}

// PyTorch's layers: forward nt of m x n x k, the gradient of the inputs nn of m x k x n. slmsim's are nn and nt.
TEST(SharedLayouts, AreTakenWhereNoOwnSizeIsNear) {
  auto profile = with({{{"gemm-nt", 1, 4096, 3072, 1024}, {1e-3}},
                       {{"gemm-nn", 1, 4096, 1024, 3072}, {2e-3}},
                       {{"gemm-nn", 1, 4096, 1024, 5000}, {3e-3}}});
  share_layouts(profile);
  EXPECT_THAT(points(profile),
              testing::IsSupersetOf({"gemm-nn fp16 1x4096x3072x1024 0.001", "gemm-nt fp16 1x4096x1024x3072 0.002"}));
  EXPECT_THAT(profile.remarks,
              testing::Contains("gemm-nn in fp16 was not timed everywhere: 1 sizes have the times of gemm-nt"));
}

TEST(SharedLayouts, LeaveAWholeTableAsItIs) {
  auto profile = with({{{"gemm-nt", 1, 64, 32, 16}, {1e-3}},
                       {{"gemm-nn", 1, 64, 32, 16}, {2e-3}},
                       {{"gemm-tn", 1, 64, 32, 16}, {3e-3}}});
  share_layouts(profile);
  EXPECT_EQ(points(profile).size(), 3);
  EXPECT_THAT(profile.remarks, IsEmpty());
}

TEST(WhatLacks, IsTold) {
  auto products = with({{{"gemm-nt", 1, 64, 32, 16}, {1e-3}}});
  tell_what_lacks(products);
  EXPECT_THAT(products.remarks, ElementsAre(HasSubstr("no kernel but products was timed")));
  auto rows = with({{{"norm-forward", 1, 64, 32, 1}, {1e-3}}});
  tell_what_lacks(rows);
  EXPECT_THAT(rows.remarks, ElementsAre(HasSubstr("no product was timed")));
  ImportedProfile nothing;
  tell_what_lacks(nothing);
  EXPECT_THAT(nothing.remarks, ElementsAre(HasSubstr("no kernel was timed")));
}

// Products of random sizes, multiples of `step`, with times that a GPU could have; `scatter` of 0.1 is up to 5 % more or less
// beside.
ImportedProfile many(std::size_t count, double scatter = 0, std::int64_t step = 1) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> logarithm(std::log(64), std::log(16384)), part(-0.5, 0.5);
  const auto size = [&] { return static_cast<std::int64_t>(std::exp(logarithm(random))) / step * step; };
  ImportedProfile profile;
  auto& into = profile.points.kernels["gemm-nt"][kFp16];
  std::set<KernelShape> known;
  while (into.size() < count) {
    const KernelShape shape{"gemm-nt", 1, size(), size(), size()};
    if (!known.insert(shape).second) continue;
    const Seconds time = made_up::plausible_time(shape) * (1 + scatter * part(random));
    into.push_back({shape.batch, shape.m, shape.n, shape.k, time});
  }
  std::sort(into.begin(), into.end(), [](const auto& a, const auto& b) {
    return std::tie(a.batch, a.m, a.n, a.k) < std::tie(b.batch, b.m, b.n, b.k);
  });
  return profile;
}

// The worst and the median error of predicting every point of one profile by another.
std::pair<double, double> errors_of(const ImportedProfile& all, const ImportedProfile& thinned) {
  const Gpu gpu = made_up::with(thinned.points);
  std::vector<double> errors;
  for (const auto& [name, by_precision] : all.points.kernels) {
    for (const auto& point : by_precision[kFp16]) {
      const KernelShape shape{name, point.batch, point.m, point.n, point.k};
      errors.push_back(std::abs(profile_time(gpu, Precision::kFp16, shape).time / point.time - 1));
    }
  }
  std::sort(errors.begin(), errors.end());
  return {errors.back(), errors[errors.size() / 2]};
}

class Thinning : public testing::TestWithParam<int> {};

TEST_P(Thinning, LeavesOutOnlyWhatIsPredictedWithinTheTolerance) {
  const double tolerance = GetParam() / 100.0;
  const auto profile = many(1500, 0, 2);  // all aligned alike: others are thinned apart
  const Gpu gpu = made_up::gpu();
  std::vector<KernelSample> samples;
  for (const auto& point : profile.points.kernels.at("gemm-nt")[kFp16]) {
    const KernelShape shape{"gemm-nt", point.batch, point.m, point.n, point.k};
    samples.push_back({point, sizes_of(shape), std::log(point.time / ideal_time(gpu, Precision::kFp16, shape, {}))});
  }
  const auto kept = samples_to_keep(samples, tolerance, samples.size());
  ASSERT_TRUE(kept);
  ImportedProfile thinned;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (kept->at(i)) thinned.points.kernels["gemm-nt"][kFp16].push_back(samples[i].point);
  }
  EXPECT_LT(points_of(thinned.points), samples.size());
  EXPECT_LE(errors_of(profile, thinned).first, tolerance);
  EXPECT_FALSE(samples_to_keep(samples, tolerance, points_of(thinned.points) - 1));
}

INSTANTIATE_TEST_SUITE_P(Within, Thinning, testing::Values(2, 5, 10),
                         [](const auto& test) { return "Percent" + std::to_string(test.param); });

TEST(Thinning, KeepsToTheNumberAndTellsTheTolerance) {
  const auto all = many(1500, 0, 2);
  auto thinned = all;
  thin_kernels(thinned, made_up::gpu(), 800);
  EXPECT_LE(points_of(thinned.points), 800);
  ASSERT_EQ(thinned.remarks.size(), 1);
  EXPECT_THAT(thinned.remarks[0], HasSubstr("of 1500 sizes are kept: the others are interpolated from them within "));
  const double told = std::stod(thinned.remarks[0].substr(thinned.remarks[0].find("within ") + 7)) / 100;
  EXPECT_LE(errors_of(all, thinned).first, told);
}

TEST(Thinning, KeepsTimesThatScatterEvenlyOverTheSizes) {
  const auto all = many(1500, 1.2);
  auto thinned = all;
  thin_kernels(thinned, made_up::gpu(), 100);
  EXPECT_LE(points_of(thinned.points), 100);
  EXPECT_GE(points_of(thinned.points), 50);
  EXPECT_THAT(thinned.remarks, ElementsAre(HasSubstr("evenly over the sizes, since the times scatter")));
}

TEST(Thinning, LeavesASmallTableAsItIs) {
  auto profile = many(100);
  const auto before = points(profile);
  thin_kernels(profile, made_up::gpu(), 100);
  EXPECT_EQ(points(profile), before);
  EXPECT_THAT(profile.remarks, IsEmpty());
}

TEST(Thinning, OfCollectivesKeepsWhatPredictionsUse) {
  ImportedProfile profile;
  for (int i = 1; i <= 100; ++i)
    profile.collectives.push_back({"", "all-reduce", 4, 1, Bytes{1000.0 * i}, Seconds{i == 77 ? 1e-6 : 1e-4}});
  thin_collectives(profile, 50);
  std::vector<double> sizes;
  for (const auto& one : profile.collectives) sizes.push_back(one.size.value / 1000);
  // Doublings from the first, and the 77th, which is the fastest.
  EXPECT_THAT(sizes, ElementsAre(1, 2, 4, 8, 16, 32, 64, 77));
}

// Products of 4096 x 4096 x 4096 in fp16; by the data sheet of 100 TFLOP/s: 2 x 4096^3 / 100 TFLOP/s = 1.37 ms.
std::string products(const std::vector<const char*>& seconds) {
  std::string text = "kernel,precision,batch,m,n,k,seconds\n";
  int batch = 0;
  for (const char* one : seconds) text += fmt::format("gemm-nt,fp16,{},4096,4096,4096,{}\n", ++batch, one);
  return text;
}

TEST(Plausible, AreTimesThatTheGpuCanHaveOnTheMedian) {
  const Gpu gpu = made_up::gpu();
  const auto told = [&](const char* seconds) {
    Files files;
    files.write("a.csv", products({seconds}));
    return refusals("csv", files, {}, &gpu);
  };
  EXPECT_THAT(told("1.5e-3"), IsEmpty());
  EXPECT_THAT(told("1.5e-4"),
              ElementsAre(AllOf(StartsWith("2:1 the kernels take 0.109 times"), HasSubstr("faster than possible"))));
  EXPECT_THAT(told("0.4"), ElementsAre(AllOf(StartsWith("2:1 "), HasSubstr("implausibly slow"))));

  // A small kernel takes about what its launch does: microseconds, which are read as seconds here.
  Files files;
  files.write("a.csv", "kernel,precision,batch,m,n,k,seconds\ngemm-nt,fp16,1,512,512,512,13\n");
  EXPECT_THAT(refusals("csv", files, {}, &gpu),
              ElementsAre(AllOf(StartsWith("2:1 small kernels take 13 s"), HasSubstr("implausibly slow"))));
}

TEST(Plausible, LeavesOutTheTimesThatAreFasterThanTheDataSheet) {
  const Gpu gpu = made_up::gpu();
  Files files;
  // The third of three products of 1.37 ms takes half of what it must, and a clock above the data sheet's helps the second.
  const std::string path = files.write("a.csv", products({"1.5e-3", "2.6e-3", "2.06e-3"}));
  const auto profile = import("csv", files, {}, &gpu);
  EXPECT_THAT(points(profile),
              ElementsAre("gemm-nt fp16 1x4096x4096x4096 0.0015", "gemm-nt fp16 2x4096x4096x4096 0.0026"));
  EXPECT_THAT(profile.remarks, testing::Contains("1 time is faster than the data sheet of " + gpu.name +
                                                 " allows, and left out; the first is at " + path +
                                                 ":4: gemm-nt fp16 3x4096x4096x4096 in 2.06 ms"));
  EXPECT_THAT(import_test::left_out(profile), ElementsAre("1 faster than possible"));
}

TEST(Plausible, TellsSizesWhoseTimesDifferWildly) {
  Files files;
  const std::string head = "kernel,precision,batch,m,n,k,seconds\n";
  const std::string a = files.write("a.csv", head + "gemm-nn,fp16,1,64,64,64,3e-4\ngemm-nn,fp16,1,64,64,128,3e-4\n");
  const std::string b = files.write("b.csv", head + "gemm-nn,fp16,1,64,64,64,3e-2\ngemm-nn,fp16,1,64,64,128,8e-4\n");
  EXPECT_THAT(import("csv", files).remarks,
              ElementsAre("gemm-nn fp16 1x64x64x64 was timed 2 times, from 300 us (" + a + ":2) to 30 ms (" + b +
                          ":2): the median is used, though such times hardly belong to one kernel"));
}

TEST(ProfileText, IsReadBackWithTheSamePoints) {
  ImportedProfile profile = many(300);
  profile.gpu = "Made \"Up\" \\ 1";
  profile.command = "slmsim import csv a.csv";
  profile.collectives.push_back({"", "all-reduce", 4, 1, Bytes{1e6}, Seconds{1e-4}});
  profile.sources = {{"kernels", "a: b.csv", "csv", 300, {{"of {another} GPU", 3}, {"shorter than 1 us", 2}}}};
  profile.remarks = {"a remark: with \"signs\""};
  profile.name = "made-up";
  const std::string text = to_yaml(profile);
  Reading reading;
  const GpuProfile read = read_profile(parse_yaml(text, "p.yaml"), "", reading);
  EXPECT_THAT(reading.errors, IsEmpty());
  EXPECT_EQ(read.gpu, profile.gpu);
  const auto& before = profile.points.kernels.at("gemm-nt")[kFp16];
  const auto& after = read.kernels.at("gemm-nt")[kFp16];
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].m, before[i].m);
    EXPECT_NEAR(after[i].time / before[i].time, 1, 1e-11);  // written with twelve digits
  }
  // 1 MB in 0.1 ms, 2 x 3 / 4 of it over a link.
  EXPECT_NEAR(read.buses.peer.value, 15e9, 1);
  EXPECT_THAT(text,
              HasSubstr("{section: kernels, file: \"a: b.csv\", format: csv, times: 305, taken: 300, left_out: \"3 of "
                        "{another} GPU; 2 shorter than 1 us\"}"));
}

}  // namespace
}  // namespace slmsim::profile_test
