// Collectives on rings as one task each against the same transfer by transfer.
#include <random>

#include <gtest/gtest.h>

#include "sim/collective/ring.h"
#include "sim/engine/in_order.h"

namespace slmsim::ring_call_test {
namespace {

// Ranks of a ring, ready at these times, with a link of 100 B/s from each to the next one.
struct Case {
  std::vector<double> ready;
  std::vector<double> steady;  // windows of the connections; 0: none
  Collective collective = Collective::kAllReduce;
  double size = 0, chunk = 0;
  std::vector<BytesPerSecond> last_copy = {};
  int calls = 1;
};

struct Result {
  std::vector<double> done;  // per rank
  Timeline timeline;
  std::size_t tasks = 0;
};

// Nothing where transfers may overtake each other.
Result run(const Case& one, bool as_one, bool flows = false) {
  const std::size_t n = one.ready.size();
  TaskGraph graph(std::vector<Link>(n, Link{"link", BytesPerSecond{100}}), static_cast<int>(n));
  if (as_one) graph.take_ring_calls();
  std::vector<RingEdge> edges;
  for (std::size_t rank = 0; rank < n; ++rank) {
    Route route;
    route.links = {static_cast<int>(rank)};
    if (one.steady[rank] > 0) {
      route.windowed = true;
      route.window = {Bytes{100}, Bytes{one.steady[rank]}, Seconds{2}, Seconds{3}};
      route.window.restart = Bytes{100};
      route.latency = Seconds{1};
    }
    edges.push_back({graph.add_connection({static_cast<int>(rank), static_cast<int>((rank + 1) % n), 1, route}), {}});
  }
  RingRules rules{.channels = 1, .chunk = Bytes{one.chunk}};
  rules.last_copy = one.last_copy;
  Ring ring(graph, std::move(edges), rules);
  const TagId tag = graph.tag({.name = "ring"});
  std::vector<TaskId> ready;
  for (std::size_t rank = 0; rank < n; ++rank)
    ready.push_back(graph.compute(static_cast<int>(rank), Seconds{one.ready[rank]}, tag, {}));
  for (int call = 0; call < one.calls; ++call) ready = ring.run(one.collective, Bytes{one.size}, tag, ready);
  InOrder simulation(graph);
  if (!simulation.run({}, flows)) return {};
  Result out{{}, simulation.timeline(), graph.tasks().size()};
  for (const TaskId task : ready) out.done.push_back(out.timeline.finish[task]);
  return out;
}

TEST(RingCall, TakesItsSteps) {
  // Two steps of 100 B, a second each: rank 0 sends from 0 to 1, rank 1, ready at 0.5, from 0.5 to 1.5. Rank 0 then has what it
  // sends on from 1.5 to 2.5, and rank 1, whose connection is free at 1.5, does so too.
  const Result result = run({.ready = {0, 0.5}, .steady = {0, 0}, .size = 200, .chunk = 100}, true);
  EXPECT_EQ(result.done, (std::vector<double>{2.5, 2.5}));
  EXPECT_EQ(result.timeline.end, Seconds{2.5});
  EXPECT_EQ(result.tasks, 2u + 1 + 2);
}

TEST(RingCall, ReadsTheLastChunkOfEachPiece) {
  // Two pieces of two steps of a second, and 100 B at 50 B/s after each: 2 x (2 + 2) s.
  const std::vector copies(2, BytesPerSecond{50});
  const Result result = run({.ready = {0, 0}, .steady = {0, 0}, .size = 400, .chunk = 100, .last_copy = copies}, true);
  EXPECT_EQ(result.done, (std::vector<double>{8, 8}));
}

TEST(RingCall, SaysWhenConnectionsCarry) {
  // As in TakesItsSteps: rank 0's connection from 0 to 1 and from 1.5 to 2.5, rank 1's from 0.5 to 2.5.
  const auto spans = run({.ready = {0, 0.5}, .steady = {0, 0}, .size = 200, .chunk = 100}, true).timeline.ring_spans;
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].connection, 0);
  EXPECT_EQ(spans[0].finish, 1);
  EXPECT_EQ(spans[1].start, 1.5);
  EXPECT_EQ(spans[2].connection, 1);
  EXPECT_EQ(spans[2].start, 0.5);
  EXPECT_EQ(spans[2].finish, 2.5);
}

TEST(RingCall, GivesTheSameBitsAsItsTransfers) {
  int compared = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
    Case one;
    const bool equal = pick(0, 1) == 1;  // ranks, or every second one
    const int n = pick(2, 6);
    for (int rank = 0; rank < n; ++rank) {
      const bool repeats = equal && rank >= 2 && n % 2 == 0;
      one.ready.push_back(repeats ? one.ready[static_cast<std::size_t>(rank) - 2] : 0.3 * pick(0, 9));
      one.steady.push_back(repeats ? one.steady[static_cast<std::size_t>(rank) - 2] : 150 * pick(0, 3));
    }
    one.collective = static_cast<Collective>(pick(0, 2));
    one.size = 37 * pick(1, 200);
    one.chunk = 50 * pick(1, 9);
    if (pick(0, 2) == 0) one.last_copy.assign(one.ready.size(), BytesPerSecond{70});
    one.calls = pick(1, 3);
    const Result whole = run(one, false), as_one = run(one, true);
    EXPECT_EQ(whole.done, as_one.done);
    EXPECT_EQ(whole.timeline.end, as_one.timeline.end);
    EXPECT_EQ(whole.timeline.connections, as_one.timeline.connections);
    if (as_one.done.empty()) continue;
    ++compared;
    const Timeline a = run(one, false, true).timeline, b = run(one, true, true).timeline;
    ASSERT_EQ(a.flows.size(), b.flows.size());
    double there = 0, here = 0;
    for (std::size_t i = 0; i < a.flows.size(); ++i) {
      there += a.flows[i].bytes * a.flows[i].finish;
      here += b.flows[i].bytes * b.flows[i].finish;
    }
    EXPECT_NEAR(there, here, 1e-9 * there);  // in another order
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace slmsim::ring_call_test
