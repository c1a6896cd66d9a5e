// Who gets how much of a shared NIC: results/nic_sharing.csv against the rules.
//
// The simulator's: every connection gets the same, or what its window lets it have. SimGrid's CM02 where links have
// latency: connections weigh 1/RTT, with the same caps. Printed for comparison, since it needs to know the queue: the
// same with what a full queue of 1000 packets adds to every round trip.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "tests/wan/nic_table.h"
#include "tests/wan/route.h"

namespace slmsim::wan::nic_test {
namespace {

constexpr char kFile[] = SLMSIM_SOURCE_DIR "/tests/wan/results/nic_sharing.csv";
constexpr int kMtu = 1500;
constexpr double kMegabit = 1e6 / 8;     // B
constexpr double kFrom = 3, kUntil = 7;  // s, as the file's command says
constexpr double kNearPing = 0.2e-3;     // s, time of a ping where the path adds 0.1 ms; far below other delays

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
  const TagId label = graph.tag({.name = "stream"});
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
double far_weighted(const SharingRow& row, double queue = 0) {  // s
  const Sharing& what = row.what;
  const double rate = what.rate * payload_share(kMtu);
  const double far_rtt = row.far_ping / 1e3 + queue;
  const double near = what.near_connections / (kNearPing + queue), far = what.far_connections / far_rtt;
  const double window = route_of(conditions(what), far_rtt).window.steady.value;
  const double cap = what.far_connections * window / far_rtt / kMegabit;
  return std::min(rate * far / (near + far), cap);
}

TEST(StoredSharing, TheNicIsUsedUp) {
  ASSERT_GE(stored().size(), 20);
  for (const auto& row : stored()) {
    EXPECT_LE(row.near + row.far, row.what.rate * payload_share(kMtu) * 1.01);
    EXPECT_GE(row.near + row.far, row.what.rate * 0.8);
  }
}

// Mean errors of the far connections' part of the NIC.
struct Errors {
  double equal = 0, weighted = 0, with_queue = 0;
};

Errors errors_of(const std::string& queueing) {
  Errors sum;
  int count = 0;
  for (const auto& row : stored()) {
    if (row.what.queueing != queueing) continue;
    const double rate = row.what.rate, queue = 1000 * kMtu / (rate * kMegabit);
    const double equal = far_simulated(row), weighted = far_weighted(row), with_queue = far_weighted(row, queue);
    sum.equal += std::abs(equal - row.far) / rate;
    sum.weighted += std::abs(weighted - row.far) / rate;
    sum.with_queue += std::abs(with_queue - row.far) / rate;
    ++count;
    fmt::print(
        "{:6} far rtt {:5} near x{} far x{} wmem {:7}: near {:3.0f}, far {:3.0f} Mbit/s ({:3.0f} to {:3.0f}); far by "
        "equal shares {:3.0f}, by 1/RTT {:3.0f}, by 1/(RTT + queue) {:3.0f}\n",
        queueing, row.what.far_rtt, row.what.near_connections, row.what.far_connections, row.what.wmem, row.near,
        row.far, row.far_least, row.far_most, equal, weighted, with_queue);
  }
  const Errors mean = {sum.equal / count, sum.weighted / count, sum.with_queue / count};
  fmt::print("{:6}: mean error, of the NIC: equal shares {:4.1f} %, by 1/RTT {:4.1f} %, by 1/(RTT + queue) {:4.1f} %\n",
             queueing, mean.equal * 100, mean.weighted * 100, mean.with_queue * 100);
  return mean;
}

// The decision: equal shares, which is what a host with fair queueing does (fq_codel is the default of distributions
// with systemd), and what a NIC does whose queues are per flow.
TEST(StoredSharing, AFairQueueSharesAsTheSimulatorDoes) {
  const Errors errors = errors_of("fair");
  EXPECT_LE(errors.equal, 0.06);
  EXPECT_GE(errors.weighted, 0.3);
}

// Behind one queue for all, near flows win: the simulator gives the far ones too much, 1/RTT too little.
TEST(StoredSharing, OneQueueForAllFavoursTheNearMoreThanTheSimulatorSays) {
  for (const char* queueing : {"fifo", "kernel"}) {
    const Errors errors = errors_of(queueing);
    EXPECT_LE(errors.equal, 0.32) << queueing;
    EXPECT_LT(errors.weighted, errors.equal) << queueing;
    EXPECT_LT(errors.with_queue, errors.equal) << queueing;
    for (const auto& row : stored()) {
      if (row.what.queueing != queueing) continue;
      EXPECT_LT(row.far, far_simulated(row)) << queueing;
    }
  }
}

}  // namespace
}  // namespace slmsim::wan::nic_test
