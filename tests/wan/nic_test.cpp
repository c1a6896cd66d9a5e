// Who gets how much of a shared NIC: results/nic_sharing.csv against two rules.
//
// The simulator's: every connection gets the same, or what its window lets it have. SimGrid's CM02 where links have
// latency: connections weigh 1/RTT, with the same caps.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "tests/wan/nic_table.h"
#include "tests/wan/route.h"

namespace slmsim::wan {
namespace {

constexpr char kFile[] = SLMSIM_SOURCE_DIR "/tests/wan/results/nic_sharing.csv";
constexpr int kMtu = 1500;
constexpr double kMegabit = 1e6 / 8;     // B
constexpr double kFrom = 3, kUntil = 7;  // s, as the file's command says
constexpr double kNearPing = 0.2e-3;     // s, what a ping takes where the path adds 0.1 ms; far below all else

std::vector<SharingRow> stored() {
  std::ifstream file(kFile);
  return read_sharing(file);
}

Case conditions(const Sharing& what) { return {.mtu = kMtu, .wmem = what.wmem, .rmem = what.rmem}; }

// Mbit/s that the far connections get, by simulate(): each socket a connection of its own.
double far_simulated(const SharingRow& row) {
  const Sharing& what = row.what;
  const double rate = what.rate * kMegabit * payload_share(kMtu);
  const int count = what.near_connections + what.far_connections;
  TaskGraph graph({{"nic", BytesPerSecond{rate}}}, 2);
  const std::uint32_t label = graph.label("stream");
  for (int i = 0; i < count; ++i) {
    const bool near = i < what.near_connections;
    const int connection =
        graph.add_connection({0, 1, 1, route_of(conditions(what), near ? kNearPing : row.far_ping / 1e3)});
    graph.transfer(connection, Bytes{rate * kUntil}, label, {});
  }
  double bytes = 0;
  for (const Flow& flow : simulate(graph, {}, {.record_flows = true}).flows) {
    if (flow.connection < what.near_connections) continue;
    const double inside = std::min(flow.finish, kUntil) - std::max(flow.start, kFrom);
    bytes += flow.bytes * std::max(0.0, inside) / std::max(flow.finish - flow.start, 1e-12);
  }
  return bytes / (kUntil - kFrom) / kMegabit;
}

// The same by weights of 1/RTT and the windows' caps; the near connections take what is left.
double far_weighted(const SharingRow& row) {
  const Sharing& what = row.what;
  const double rate = what.rate * payload_share(kMtu);
  const double near = what.near_connections / kNearPing, far = what.far_connections / (row.far_ping / 1e3);
  const double cap = what.far_connections * route_of(conditions(what), row.far_ping / 1e3).window.steady.value /
                     (row.far_ping / 1e3) / kMegabit;
  return std::min(rate * far / (near + far), cap);
}

TEST(StoredSharing, TheNicIsUsedUp) {
  ASSERT_GE(stored().size(), 20);
  for (const auto& row : stored()) {
    EXPECT_LE(row.near + row.far, row.what.rate * payload_share(kMtu) * 1.01);
    EXPECT_GE(row.near + row.far, row.what.rate * 0.8);
  }
}

TEST(StoredSharing, SaysWhichRuleIsNearer) {
  struct Errors {
    std::vector<double> equal, weighted;
  };
  std::map<std::string, Errors> of_queueing;
  for (const auto& row : stored()) {
    const double equal = far_simulated(row), weighted = far_weighted(row), rate = row.what.rate;
    of_queueing[row.what.queueing].equal.push_back(std::abs(equal - row.far) / rate);
    of_queueing[row.what.queueing].weighted.push_back(std::abs(weighted - row.far) / rate);
    fmt::print(
        "{:6} far rtt {:5} near x{} far x{} wmem {:7}: near {:3.0f}, far {:3.0f} Mbit/s ({:3.0f} to {:3.0f}); "
        "far by equal shares {:3.0f}, by 1/RTT {:3.0f}\n",
        row.what.queueing, row.what.far_rtt, row.what.near_connections, row.what.far_connections, row.what.wmem,
        row.near, row.far, row.far_least, row.far_most, equal, weighted);
  }
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  for (const auto& [queueing, errors] : of_queueing) {
    fmt::print("{:6}: mean error of the far share, of the NIC: equal shares {:4.1f} %, by 1/RTT {:4.1f} %\n", queueing,
               mean(errors.equal) * 100, mean(errors.weighted) * 100);
  }
}

}  // namespace
}  // namespace slmsim::wan
