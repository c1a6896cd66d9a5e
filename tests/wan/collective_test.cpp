// The simulator's collectives against Gloo's: every row of results/collectives.csv predicted by simulate().
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/wan/gloo_graph.h"

namespace slmsim::wan {
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
}

TEST(StoredCollectives, ArePredicted) {
  const auto rows = stored();
  const Loopback loopback = loopback_of(rows);
  fmt::print("loopback: {:.0f} us, {:.2f} GB/s\n", loopback.latency.value * 1e6, loopback.rate.value / 1e9);
  std::vector<double> errors, step_errors;
  std::map<std::string, std::vector<double>> of_group, of_round_trip;
  for (const auto& row : rows) {
    if (row.what.collective == "localsend") continue;
    const Prediction predicted = predict(row, loopback);
    const double error = predicted.seconds / row.median - 1;
    errors.push_back(std::abs(error));
    of_group[fmt::format("{} {} {}", row.what.collective, row.what.ranks, row.state)].push_back(std::abs(error));
    of_round_trip[fmt::format("{} ms", row.what.path.rtt)].push_back(std::abs(error));
    double step_error = 0;
    for (std::size_t i = 0; i < kShares.size(); ++i) {
      step_error = std::max(step_error, std::abs(predicted.forward[i] - row.forward[i]) / row.median);
      if (row.what.collective == "sendrecv") continue;  // only acknowledgements go back
      step_error = std::max(step_error, std::abs(predicted.backward[i] - row.backward[i]) / row.median);
    }
    step_errors.push_back(step_error);
    fmt::print("{:13} x{} rtt {:5} {:4} {:9} B: {:8.4f} s, predicted {:8.4f} s, {:+6.1f} %, steps {:5.1f} %\n",
               row.what.collective, row.what.ranks, row.what.path.rtt, row.state, row.what.path.bytes, row.median,
               predicted.seconds, error * 100, step_error * 100);
  }
  for (const auto* groups : {&of_group, &of_round_trip}) {
    for (const auto& [group, values] : *groups) {
      fmt::print("{:22} {:2} points, median error {:4.1f} %, most {:4.1f} %\n", group, values.size(),
                 quantile(values, 0.5) * 100, quantile(values, 1) * 100);
    }
  }
  ASSERT_FALSE(errors.empty());
  fmt::print("{} points: median {:.1f} %, 90th percentile {:.1f} %; steps: {:.1f} %, {:.1f} %\n", errors.size(),
             quantile(errors, 0.5) * 100, quantile(errors, 0.9) * 100, quantile(step_errors, 0.5) * 100,
             quantile(step_errors, 0.9) * 100);
}

}  // namespace
}  // namespace slmsim::wan
