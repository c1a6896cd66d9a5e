// The simulator's collectives against Gloo's: every row of results/collectives.csv predicted by simulate().
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/wan/gloo_graph.h"

namespace slmsim::wan::collective_test {
namespace {

constexpr char kFile[] = SLMSIM_SOURCE_DIR "/tests/wan/results/collectives.csv";

std::vector<CollectiveRow> stored() {
  std::ifstream file(kFile);
  return read_collectives(file);
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1];
}

TEST(StoredCollectives, HasFortyPointsAndSaysWhereItWasMeasured) {
  EXPECT_GE(stored().size(), 40);
  std::ifstream file(kFile);
  std::string first;
  std::getline(file, first);
  for (const char* word : {"measured: ", "Linux ", "Gloo ", "command: "}) {
    EXPECT_NE(first.find(word), std::string::npos) << word;
  }
  // gloo_graph.cpp takes the limit of a fixed send buffer from here.
  std::string line;
  while (std::getline(file, line) && line.find("net.core.wmem_max") == std::string::npos) continue;
  EXPECT_NE(line.find("net.core.wmem_max = 4194304"), std::string::npos);
}

// The goal, over all points. Effects missing in the model, by the points that show them:
//   cubic     HyStart ends slow start early where both directions are full: Reno is faster, and nearer to what is predicted
//   losses    bursts that overrun a queue; reduce-scatter of 64 MB at 57.4 ms took twice as long in some runs
constexpr double kMedian = 0.10, kNinetieth = 0.25;
// Shares of the bytes across the path, 10 to 90 %: the largest error of a date, of the whole time.
constexpr double kStepMedian = 0.10, kStepNinetieth = 0.25;
// The ring's schedule, where it decides: all-reduce over wide-area round trips.
constexpr double kRingMedian = 0.03, kRingNinetieth = 0.10;

TEST(StoredCollectives, ArePredicted) {
  const auto rows = stored();
  const Loopback loopback = loopback_of(rows);
  fmt::print("loopback: {:.0f} us, {:.2f} GB/s\n", loopback.latency.value * 1e6, loopback.rate.value / 1e9);
  std::vector<double> errors, step_errors, ring_errors;
  std::map<std::string, std::vector<double>> of_group, of_round_trip;
  for (const auto& row : rows) {
    if (row.what.collective == "localsend") continue;
    const Prediction predicted = predict(row, loopback);
    const double error = predicted.seconds / row.median - 1;
    errors.push_back(std::abs(error));
    of_group[fmt::format("{} {} {}", row.what.collective, row.what.ranks, row.state)].push_back(std::abs(error));
    of_round_trip[fmt::format("{} ms", row.what.path.rtt)].push_back(std::abs(error));
    if (row.what.collective == "allreduce" && row.what.path.rtt > 50) ring_errors.push_back(std::abs(error));
    double step_error = 0;
    for (std::size_t i = 0; i < kShares.size(); ++i) {
      step_error = std::max(step_error, std::abs(predicted.forward[i] - row.forward[i]) / row.median);
      if (row.what.collective == "sendrecv") continue;  // only acknowledgements go back
      step_error = std::max(step_error, std::abs(predicted.backward[i] - row.backward[i]) / row.median);
    }
    step_errors.push_back(step_error);
    fmt::print(
        "{:13} x{} rtt {:5} rate {:3} {:5} wmem {:8} {:4} {:9} B: {:8.4f} s, predicted {:8.4f} s, {:+6.1f} %, steps "
        "{:5.1f} %\n",
        row.what.collective, row.what.ranks, row.what.path.rtt, row.what.path.rate, row.what.path.congestion,
        row.what.path.wmem, row.state, row.what.path.bytes, row.median, predicted.seconds, error * 100,
        step_error * 100);
  }
  for (const auto* groups : {&of_group, &of_round_trip}) {
    for (const auto& [group, values] : *groups) {
      fmt::print("{:22} {:2} points, median error {:4.1f} %, most {:4.1f} %\n", group, values.size(),
                 quantile(values, 0.5) * 100, quantile(values, 1) * 100);
    }
  }
  ASSERT_FALSE(errors.empty());
  ASSERT_FALSE(ring_errors.empty());
  struct Bound {
    const char* what;
    const std::vector<double>& of;
    double median, ninetieth;
  };
  for (const Bound& bound :
       {Bound{"all points", errors, kMedian, kNinetieth}, Bound{"steps", step_errors, kStepMedian, kStepNinetieth},
        Bound{"all-reduce beyond 50 ms", ring_errors, kRingMedian, kRingNinetieth}}) {
    const double median = quantile(bound.of, 0.5), high = quantile(bound.of, 0.9);
    fmt::print("{}, {}: median {:.1f} %, 90th percentile {:.1f} %\n", bound.what, bound.of.size(), median * 100,
               high * 100);
    EXPECT_LE(median, bound.median) << bound.what;
    EXPECT_LE(high, bound.ninetieth) << bound.what;
  }
}

}  // namespace
}  // namespace slmsim::wan::collective_test
