// The simulator's TCP against a real kernel: every row of results/tcp.csv predicted by simulate().
//
// Nothing here is fitted: a route is made from the row's conditions as a user would state them.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "tests/wan/route.h"
#include "tests/wan/table.h"

namespace slmsim::tcp_test {
namespace {

using wan::Row;

std::vector<Row> stored() {
  std::ifstream file(SLMSIM_SOURCE_DIR "/tests/wan/results/tcp.csv");
  return wan::read_table(file);
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1];
}

double predict(const Row& row, std::uint64_t loss_sequence) {
  const wan::Case& what = row.what;
  Route route = wan::route_of(what, row.path_rtt / 1e3);
  route.window.loss_sequence = loss_sequence;
  TaskGraph graph({{"wan", BytesPerSecond{what.rate * 1e6 / 8 * wan::payload_share(what.mtu)}}}, 2);
  const int connection = graph.add_connection({0, 1, what.connections, route});
  const TagId label = graph.tag({.name = "transfer"});
  std::vector<TaskId> after;
  if (what.warm_up > 0) {
    const TaskId warm_up = graph.transfer(connection, Bytes{static_cast<double>(what.warm_up)}, label, {});
    after = {graph.delay(Seconds{row.pause}, label, std::span(&warm_up, 1))};
  }
  const TaskId sent = graph.transfer(connection, Bytes{static_cast<double>(what.bytes)}, label, after);
  const Timeline timeline = simulate(graph);
  return timeline.finish[sent] - (after.empty() ? 0.0 : timeline.finish[after[0]]);
}

// Median over 99 sequences of losses: each repetition of the measurement has its own.
double median(const Row& row) {
  if (row.what.loss == 0) return predict(row, 0);
  std::vector<double> times;
  for (std::uint64_t sequence = 1; sequence <= 99; ++sequence) times.push_back(predict(row, sequence));
  return quantile(times, 0.5);
}

TEST(StoredTcp, HasFortyPointsAndSaysWhereItWasMeasured) {
  EXPECT_GE(stored().size(), 40);
  std::ifstream file(SLMSIM_SOURCE_DIR "/tests/wan/results/tcp.csv");
  std::string first;
  std::getline(file, first);
  for (const char* word : {"measured: ", "Linux ", "command: "}) EXPECT_NE(first.find(word), std::string::npos) << word;
}

// The model must reach 8 % and 20 %. Effects that it leaves out, by the groups that show them:
//   loss     lost segments are random: a few losses per transfer
//   losses   connections that carry a transfer together lose one by one, here in step
//   buffer   the bookkeeping that the kernel counts as part of a small send buffer
//   several  connections that start together do not stay in step
constexpr double kMedianReached = 0.02, kNinetiethReached = 0.17, kNinetiethWithoutLossReached = 0.12;

TEST(StoredTcp, IsPredictedAsWellAsTheModelReachesNow) {
  std::vector<double> errors, without_loss;
  std::map<std::string, std::vector<double>> of_group;
  std::string table;
  for (const Row& row : stored()) {
    const double predicted = median(row), error = predicted / row.median - 1;
    errors.push_back(std::abs(error));
    if (row.what.loss == 0) without_loss.push_back(std::abs(error));
    of_group[row.group].push_back(std::abs(error));
    table += fmt::format(
        "{:8} rtt {:5} rate {:3} loss {:5} {:5} wmem {:8} x{} warm-up {:8} pause {:3} bytes {:9}: {:8.4f} s, "
        "predicted {:8.4f} s, {:+6.1f} %\n",
        row.group, row.what.rtt, row.what.rate, row.what.loss, row.what.congestion, row.what.wmem, row.what.connections,
        row.what.warm_up, row.what.pause_timeouts, row.what.bytes, row.median, predicted, error * 100);
  }
  for (const auto& [group, values] : of_group) {
    table += fmt::format("{:8} {:2} points, median error {:4.1f} %, most {:4.1f} %\n", group, values.size(),
                         quantile(values, 0.5) * 100, quantile(values, 1) * 100);
  }
  ASSERT_FALSE(errors.empty());
  const double median = quantile(errors, 0.5), high = quantile(errors, 0.9);
  const double high_without_loss = quantile(without_loss, 0.9);
  fmt::print("{}median {:.1f} %, 90th percentile {:.1f} %, without loss {:.1f} %\n", table, median * 100, high * 100,
             high_without_loss * 100);
  EXPECT_LE(median, kMedianReached);
  EXPECT_LE(high, kNinetiethReached);
  EXPECT_LE(high_without_loss, kNinetiethWithoutLossReached);
}

}  // namespace
}  // namespace slmsim::tcp_test
