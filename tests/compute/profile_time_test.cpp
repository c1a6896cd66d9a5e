#include "sim/compute/roofline.h"

#include <cmath>
#include <map>

#include <gmock/gmock.h>

#include "sim/compute/operator_graph.h"
#include "sim/compute/software.h"
#include "tests/compute/measured_gpu.h"

namespace slmsim::profile_time_test {
namespace {

using made_up::add;

KernelShape product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
  return {"gemm-nn", batch, m, n, k};
}

Seconds time_of(const Gpu& gpu, const KernelShape& shape, Precision precision = Precision::kFp16) {
  return profile_time(gpu, precision, shape).time;
}

TEST(IdealTime, IsTheLongerOfWorkAndBytesAndTheLaunch) {
  const Gpu gpu = made_up::gpu();
  // 2 x 1000^3 / 100 TFLOP/s = 20 us; three matrices of 2 MB at 1000 GB/s = 6 us.
  EXPECT_DOUBLE_EQ(ideal_time(gpu, Precision::kFp16, product(1000, 1000, 1000), {3e-6}).value, 23e-6);
  // 2 x 1000 x 1000 x 10 / 100 TFLOP/s = 0.2 us; (10^4 + 10^4 + 10^6) x 2 B = 2.04 MB.
  EXPECT_DOUBLE_EQ(ideal_time(gpu, Precision::kFp16, product(1000, 1000, 10), {}).value, 2.04e-6);
  // Reads and writes 10^6 elements of 2 B; in fp32 of 4 B.
  EXPECT_DOUBLE_EQ(ideal_time(gpu, Precision::kFp16, {"gelu-forward", 1, 1000, 1000, 1}, {}).value, 4e-6);
  EXPECT_DOUBLE_EQ(ideal_time(gpu, Precision::kFp32, {"gelu-forward", 1, 1000, 1000, 1}, {}).value, 8e-6);
  // Gradient 2, master 4 twice, moments 8 twice, weights 2: 28 B per parameter; in fp32 no second weights.
  EXPECT_DOUBLE_EQ(ideal_time(gpu, Precision::kFp16, {"adam", 1, 1000000, 1, 1}, {}).value, 28e-6);
  EXPECT_DOUBLE_EQ(ideal_time(gpu, Precision::kFp32, {"adam", 1, 1000000, 1, 1}, {}).value, 28e-6);
}

TEST(ProfileTime, OfAMeasuredShapeIsWhatWasMeasured) {
  GpuProfile profile;
  add(profile, product(1024, 1024, 1024), {5e-5});
  add(profile, product(2048, 1024, 1024), {7e-5});
  add(profile, product(1024, 1024, 4096), {9e-5});
  const ProfileTime found = profile_time(made_up::with(profile), Precision::kFp16, product(2048, 1024, 1024));
  EXPECT_EQ(found.time.value, 7e-5);
  EXPECT_EQ(found.basis.measured.value, 7e-5);
  EXPECT_EQ(found.basis.total().value, 7e-5);
}

TEST(ProfileTime, GoesByWhatALimitOfPowerLeaves) {
  GpuProfile profile;
  add(profile, product(1024, 1024, 1024), {5e-5});
  add(profile, {"gelu-forward", 1, 1024, 1024, 1}, {4e-6});
  Gpu gpu = made_up::with(profile);
  gpu.left_of_measured = {.cores = 0.8, .memory = 0.9};
  const ProfileTime found = profile_time(gpu, Precision::kFp16, product(1024, 1024, 1024));
  EXPECT_DOUBLE_EQ(found.time.value, 5e-5 / 0.8);
  EXPECT_DOUBLE_EQ(found.basis.measured.value, 5e-5 / 0.8);
  EXPECT_DOUBLE_EQ(time_of(gpu, {"gelu-forward", 1, 1024, 1024, 1}).value, 4e-6 / 0.9);
}

// Rows of 2 bytes take other kernels: times near by tell nothing of them, nor they of others.
TEST(ProfileTime, InterpolatesAmongProductsOfTheSameAlignment) {
  Gpu hopper = made_up::gpu();
  hopper.architecture = "Hopper";
  GpuProfile profile;
  const auto ideal = [&](const KernelShape& shape) { return ideal_time(hopper, Precision::kFp16, shape, {}); };
  const KernelShape odd = product(1024, 1025, 1024), even = product(1024, 1008, 1024);
  add(profile, odd, ideal(odd) * 8.0);
  add(profile, even, ideal(even) * 1.5);
  hopper.kernels = std::make_shared<const KernelTable>(hopper, profile);
  const auto ratio = [&](const KernelShape& shape) { return time_of(hopper, shape) / ideal(shape); };
  EXPECT_NEAR(ratio(product(1024, 1024, 1024)), 1.5, 1e-3);
  EXPECT_NEAR(ratio(product(1024, 1009, 1024)), 8, 1e-2);
}

TEST(ProfileTime, FollowsAPowerLawOfTheSizes) {
  // Where the ratio to the data sheet is c m^0.1 n^-0.05 k^-0.1, a linear fit of the logarithms is exact.
  GpuProfile profile;
  const auto time = [](const KernelShape& s) {
    const double ratio = 1.5 * std::pow(static_cast<double>(s.m), 0.1) * std::pow(static_cast<double>(s.n), -0.05) *
                         std::pow(static_cast<double>(s.k), -0.1);
    return ideal_time(made_up::gpu(), Precision::kFp16, s, {}) * ratio;
  };
  for (const std::int64_t m : {1024, 2048, 4096}) {
    for (const std::int64_t n : {1024, 2048, 4096}) {
      for (const std::int64_t k : {1024, 2048, 4096}) add(profile, product(m, n, k), time(product(m, n, k)));
    }
  }
  const Gpu gpu = made_up::with(profile);
  for (const auto& shape : {product(1500, 1500, 1500), product(3000, 1100, 2500), product(5000, 4000, 900)}) {
    const ProfileTime found = profile_time(gpu, Precision::kFp16, shape);
    EXPECT_NEAR(found.time / time(shape), 1.0, 2e-3) << shape.m;  // the ridge that keeps slopes bounded
    EXPECT_EQ(found.basis.interpolated, found.time);
  }
}

TEST(ProfileTime, GoesToAPointAsTheShapeComesToIt) {
  GpuProfile profile;
  add(profile, product(100000, 1024, 1024), {5e-3});
  add(profile, product(200000, 1024, 1024), {6e-3});
  EXPECT_NEAR(time_of(made_up::with(profile), product(100001, 1024, 1024)).value, 5e-3, 5e-7);
}

TEST(ProfileTime, BeyondAFactorOfFourIsTheRooflineScaledByTheMedianRatio) {
  GpuProfile profile;
  const auto ideal = [](const KernelShape& s) { return ideal_time(made_up::gpu(), Precision::kFp16, s, {}); };
  for (const auto& [m, ratio] : std::map<int, double>{{1024, 1.2}, {1100, 1.5}, {1200, 3.0}})
    add(profile, product(m, 1024, 1024), ideal(product(m, 1024, 1024)) * ratio);
  const Gpu gpu = made_up::with(profile);
  const KernelShape near = product(4 * 1200 - 1, 1024, 1024), far = product(4 * 1200 + 1, 1024, 1024);
  EXPECT_GT(profile_time(gpu, Precision::kFp16, near).basis.interpolated.value, 0.0);
  const ProfileTime found = profile_time(gpu, Precision::kFp16, far);
  EXPECT_NEAR(found.time / ideal(far), 1.5, 1e-12);
  EXPECT_EQ(found.basis.roofline, found.time);
  // Not so far along any one size, but along two.
  EXPECT_EQ(profile_time(gpu, Precision::kFp16, product(3000, 2048, 1024)).basis.interpolated.value, 0.0);
}

TEST(ProfileTime, OfAKernelThatWasNotMeasuredIsScaledAsItsClass) {
  GpuProfile profile;
  const auto ideal = [](const KernelShape& s) { return ideal_time(made_up::gpu(), Precision::kFp16, s, {}); };
  add(profile, product(1024, 1024, 1024), ideal(product(1024, 1024, 1024)) * 2);
  add(profile, {"gelu-forward", 1, 1024, 1024, 1}, ideal({"gelu-forward", 1, 1024, 1024, 1}) * 3);
  const Gpu gpu = made_up::with(profile);
  const KernelShape other{"gemm-tn", 1, 1024, 1024, 1024}, norm{"norm-forward", 1, 1024, 1024, 1};
  EXPECT_NEAR(time_of(gpu, other) / ideal(other), 2, 1e-12);
  EXPECT_NEAR(time_of(gpu, norm) / ideal(norm), 3, 1e-12);
  // Points of another precision, since it has none of its own.
  EXPECT_NEAR(time_of(gpu, other, Precision::kFp32) / ideal_time(gpu, Precision::kFp32, other, {}), 2, 1e-12);
}

TEST(ProfileTime, OfTf32IsThatOfFp32ForWhatIsNoProduct) {
  GpuProfile profile;
  add(profile, {"norm-forward", 1, 1024, 1024, 1}, {4e-5}, Precision::kFp32);
  const ProfileTime found = profile_time(made_up::with(profile), Precision::kTf32, {"norm-forward", 1, 1024, 1024, 1});
  EXPECT_EQ(found.basis.measured.value, 4e-5);
}

struct Errors {
  std::vector<double> interpolated, roofline;  // in rising order, of the kernels that were interpolated

  void add(const Gpu& gpu, const KernelShape& shape) {
    const double truth = made_up::plausible_time(shape).value;
    const ProfileTime found = profile_time(gpu, Precision::kFp16, shape);
    if (found.basis.interpolated <= Seconds{0}) return;
    const double scaled = ideal_time(gpu, Precision::kFp16, shape, gpu.kernels->launch()).value *
                          std::exp(gpu.kernels->usual_ratio(shape.name, Precision::kFp16));
    for (const auto& [errors, time] : {std::pair{&interpolated, found.time.value}, {&roofline, scaled}}) {
      errors->push_back(std::abs(time / truth - 1));
      std::sort(errors->begin(), errors->end());
    }
  }
  static double part(const std::vector<double>& sorted, double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }
  // No neighbour tells a kernel's own spread of 3 %.
  void check() const {
    EXPECT_LE(part(interpolated, 0.5), 0.03);
    EXPECT_LE(part(interpolated, 0.9), 0.08);
    EXPECT_LE(part(interpolated, 1.0), 0.15);
    EXPECT_LE(part(interpolated, 0.5), 0.7 * part(roofline, 0.5));
    for (const auto& [name, share] : {std::pair{"median", 0.5}, {"p90", 0.9}, {"worst", 1.0}})
      testing::Test::RecordProperty(name, std::to_string(part(interpolated, share)));
  }
};

GpuProfile profile_of(const std::vector<KernelShape>& shapes, const KernelShape* without = nullptr) {
  GpuProfile profile;
  profile.launch = {4e-6};
  for (const auto& shape : shapes) {
    if (!without || shape != *without) add(profile, shape, made_up::plausible_time(shape));
  }
  return profile;
}

std::vector<KernelShape> gpt2m_shapes() {
  return made_up::shapes_in(std::string(SLMSIM_SOURCE_DIR) + "/calibrate/shapes/gpt2m.csv");
}

// The kernels of gpt2m at 1 to 64 sequences, each predicted from all others. Times are made up, see measured_gpu.h.
TEST(Interpolation, MissesAHeldOutKernelByLittle) {
  const auto shapes = gpt2m_shapes();
  Errors errors;
  for (const auto& shape : shapes) errors.add(made_up::with(profile_of(shapes, &shape)), shape);
  EXPECT_GE(errors.interpolated.size(), 180);
  errors.check();
}

// From the powers of two that are measured to the batch sizes between them.
TEST(Interpolation, MissesOtherBatchSizesByLittle) {
  Reading reading;
  const Transformer gpt2m = read_transformer(read_yaml(SLMSIM_SOURCE_DIR "/models/gpt2m.yaml"), "", "gpt2m", reading);
  const Gpu gpu = made_up::with(profile_of(gpt2m_shapes()));
  Errors errors;
  for (const auto& kernel : kernels_of(build_operator_graph(gpt2m), {3, 5, 6, 12, 24, 48}))
    errors.add(gpu, kernel.shape);
  EXPECT_GE(errors.interpolated.size(), 150);
  errors.check();
}

// Kernels that were not measured run at the software's efficiency, not at the data sheet's rates.
TEST(ProfileTime, OfAClassThatWasNotMeasuredIsTheSoftwaresEfficiency) {
  Operator product;
  product.matrix = {1, 1024, 1024, 1024};
  product.weights = product.parameters = 1024.0 * 1024;
  product.flops = product.matrix.flops();
  Operator norm;
  norm.kind = OperatorKind::kNorm;
  norm.tokens = 1000;
  norm.inputs = norm.outputs = 1e6;
  Software stated;
  stated.matrix["Ampere"] = 0.25;
  stated.memory = 0.5;
  stated.launch = {1e-6};
  const auto forward = [&](const Operator& op, const Gpu& gpu) {
    return operator_time(op, {}, gpu, Precision::kFp16, stated).forward.value;
  };
  const auto adam = [&](const Gpu& gpu) { return update_time(1e6, gpu, {}, stated).value; };
  // 64 tiles of 128 x 128 (1.03 of the time of their FLOPs, and a prologue of 32 steps) fill 64 multiprocessors once at
  // 100 TFLOP/s x 0.25; 6.3 MB at half of 1000 GB/s; + 1 us. The norm: 4 MB at half of 1000 GB/s + 1 us.
  // 28 B x 10^6 at half of 1000 GB/s + 1 us.
  const double by_software =
      std::hypot(2.0 * 1024 * 1024 * 1056 * 1.125 / 1.09375 / 25e12, 6.0 * 1024 * 1024 / 500e9) + 1e-6;
  const double norm_by_software = 9e-6, adam_by_software = 57e-6;

  GpuProfile products, others;
  add(products, {"gemm-nn", 1, 1024, 1024, 1024}, {5e-5});
  add(others, {"norm-forward", 1, 1000, 1000, 1}, {7e-6});
  const Gpu with_products = made_up::with(products), with_others = made_up::with(others), with_none = made_up::with({});
  EXPECT_DOUBLE_EQ(forward(product, with_products), 5e-5);
  EXPECT_DOUBLE_EQ(forward(norm, with_products), norm_by_software);
  EXPECT_DOUBLE_EQ(adam(with_products), adam_by_software);
  EXPECT_DOUBLE_EQ(forward(product, with_others), by_software);
  EXPECT_DOUBLE_EQ(forward(norm, with_others), 7e-6);
  EXPECT_DOUBLE_EQ(forward(product, with_none), by_software);
  EXPECT_DOUBLE_EQ(forward(norm, with_none), norm_by_software);
  EXPECT_DOUBLE_EQ(adam(with_none), adam_by_software);
}

}  // namespace
}  // namespace slmsim::profile_time_test
