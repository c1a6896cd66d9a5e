#include "calibrate/cuda/compare.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "calibrate/common/text.h"
#include "calibrate/cuda/workload.h"

namespace slmsim::calibrate {
namespace {

constexpr int kAlgorithms = 8;
constexpr int kWarmUp = 5;          // launches
constexpr double kPlainLoop = 0.1;  // s
constexpr double kMeasured = 1.0;   // s, most time for the measuring loop
constexpr double kLeast = 0x1p33;   // multiplications: 2048^3
constexpr double kTera = 1e12;

std::vector<Kernel> products_of(const Options& options) {
  std::vector<Kernel> products;
  if (options.shapes.empty()) {
    for (const std::int64_t side : {2048, 4096, 8192}) products.push_back({"gemm-nn", "", 1, side, side, side});
  } else {
    products = read_kernels(options.shapes);
  }
  std::erase_if(products, [](const Kernel& kernel) { return kernel.flops() / 2 < kLeast; });
  return in_precisions(products, options.precisions);
}

// Seconds per launch on the same matrices, one launch after the other.
double plain_loop(const Device& device, Workload& workload) {
  const auto launch = [&](int times) {
    for (int i = 0; i < times; ++i) workload.launch(0);
  };
  launch(kWarmUp);
  device.wait();
  const double begun = WorkloadTimer::seconds();
  launch(kWarmUp);
  device.wait();
  const double one = (WorkloadTimer::seconds() - begun) / kWarmUp;
  const int times = std::clamp(static_cast<int>(kPlainLoop / one), kWarmUp, 10'000);
  const double start = WorkloadTimer::seconds();
  launch(times);
  device.wait();
  return (WorkloadTimer::seconds() - start) / times;
}

struct Best {
  double seconds = 0;
  std::string by;
};

Best best_plain_loop(const Device& device, const Kernel& kernel) {
  Best best;
  const auto consider = [&](Workload& workload, const std::string& by) {
    const double seconds = plain_loop(device, workload);
    if (best.seconds <= 0 || seconds < best.seconds) best = {seconds, by};
  };
  consider(*make_gemm(device, kernel), "cuBLAS");
  for (int choice = 0; choice < kAlgorithms; ++choice) {
    try {
      consider(*make_gemm_lt(device, kernel, choice), format("cuBLASLt's %d", choice + 1));
    } catch (const MeasurementSkip&) {
      break;  // the heuristic has no more
    }
  }
  return best;
}

}  // namespace

void compare_products(const Device& device, const Options& options) {
  const auto products = products_of(options);
  if (products.empty()) std::printf("no product has 2048^3 multiplications or more\n");
  for (const auto& kernel : products) {
    try {
      const auto workload = make_workload(device, kernel, options.cublaslt);
      WorkloadTimer timer(device, *workload);
      Rules rules = options.rules;
      rules.time_limit = kMeasured;
      const double measured = measure(timer, rules).seconds.median;
      const Best best = best_plain_loop(device, kernel);
      std::printf("%-36s measured %8.2f TFLOP/s, best plain loop %8.2f (%s): %5.1f %%\n", to_text(kernel).c_str(),
                  kernel.flops() / measured / kTera, kernel.flops() / best.seconds / kTera, best.by.c_str(),
                  100 * best.seconds / measured);
    } catch (const MeasurementSkip& reason) {
      std::printf("%-36s left out: %s\n", to_text(kernel).c_str(), reason.what());
    }
    std::fflush(stdout);
  }
}

}  // namespace slmsim::calibrate
