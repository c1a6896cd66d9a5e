// Devices that are alike are taken once, and only those.
#include <gtest/gtest.h>

#include "tests/collective/ring_of_gpus.h"

namespace slmsim::fold_test {
namespace {

constexpr Collective kAll[] = {Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter};

// A collective on GPUs that all have one colour, ready after `ready` s each.
struct FoldedCollective {
  TaskGraph graph;
  Colouring finer;
  std::vector<TaskId> result;

  FoldedCollective(const Platform& platform, Collective collective, double size, const RingRules& rules,
                   const std::vector<double>& ready = {})
      : FoldedCollective(platform, std::vector<int>(platform.devices.size(), 0), collective, size, rules, ready) {}
  FoldedCollective(const Platform& platform, std::vector<int> colours, Collective collective, double size,
                   const RingRules& rules, std::vector<double> ready = {})
      : graph(Network(platform).links(), Colouring{std::move(colours), {}}) {
    const Network network(platform);
    ready.resize(platform.devices.size());
    std::vector<int> devices;
    std::vector<TaskId> begin;
    for (int rank = 0; rank < static_cast<int>(platform.devices.size()); ++rank) {
      devices.push_back(rank);
      begin.push_back(graph.compute(rank, Seconds{ready[rank]}, graph.tag({"ready", TaskClass::kForward}), {}));
    }
    if (rules.together) graph.begin_group(devices);
    Ring ring(graph, network, devices, rules);
    result = ring.run(collective, Bytes{size}, graph.tag({.name = "collective"}), begin);
    finer = graph.settle();
  }
  double end() const { return simulate(graph).end.value; }
};

RingRules rules(int channels, double chunk) { return {channels, 1, Bytes{chunk}}; }

TEST(Fold, AUniformRingIsOneRankThatSendsToItself) {
  // 4 ranks x 2 channels x 100 B = 800 B per loop: 2 full loops of 6 steps, each 200 B / 100 B/s + 3 s.
  const FoldedCollective folded(uniform(4, 3), Collective::kAllReduce, 1600, rules(2, 100));
  ASSERT_TRUE(folded.finer.devices.empty());
  EXPECT_TRUE(folded.graph.is_folded());
  EXPECT_EQ(folded.graph.connections().size(), 1);
  EXPECT_EQ(folded.graph.tasks().size(), 1 + 2);  // that it is ready, and a transfer of six times per loop
  EXPECT_EQ(folded.end(), 2 * 6 * (2 + 3));
}

// Two GPUs of one colour of whose multiprocessors kernels hold two of eight beside a computation.
TaskGraph held_on_two(double bound_of_second, int held_of_second) {
  TaskGraph graph({}, Colouring{{0, 0}, {}});
  const TagId tag = graph.tag({"work", TaskClass::kForward});
  for (const int device : {0, 1}) {
    graph.hold(device, {device == 0 ? 2 : held_of_second, 8}, tag, {});
    graph.compute(device, Seconds{3}, tag, {}, {Flops{1}, device == 0 ? 1 : bound_of_second});
  }
  return graph;
}

TEST(Fold, GpusAreAlikeOnlyWhereKernelsSlowThemAlike) {
  TaskGraph graph = held_on_two(1, 2);
  EXPECT_TRUE(graph.settle().devices.empty());
  EXPECT_EQ(graph.tasks().size(), 2);
  EXPECT_DOUBLE_EQ(simulate(graph).end.value, 4);  // 3 s at six eighths
  EXPECT_THROW(held_on_two(0.5, 2).settle(), ColouringError);
  EXPECT_THROW(held_on_two(1, 3).settle(), ColouringError);
}

TEST(Fold, TheLimitOfAGraphCountsWhatRemainsOfEqualTasks) {
  TaskGraph whole({}, 3), folded({}, Colouring{{0, 0, 0}, {}});
  const auto add = [](TaskGraph& graph, int device) { graph.compute(device, Seconds{1}, graph.tag({"work"}), {}); };
  for (TaskGraph* graph : {&whole, &folded}) {
    graph->limit(2);
    add(*graph, 0);
    add(*graph, 1);
  }
  EXPECT_THROW(add(whole, 2), TooManyTasks);
  add(folded, 2);
  EXPECT_EQ(folded.tasks().size(), 1u);
}

TEST(Fold, AUniformRingTakesAsLongAsTheWholeOfIt) {
  for (const Collective collective : kAll) {
    for (const int n : {2, 3, 8}) {
      for (const double latency : {0.0, 0.5}) {
        for (const double size : {640.0, 1000.0, 7777.0}) {
          const double whole = collect(uniform(n, latency), collective, size, rules(2, 30)).timeline.end.value;
          EXPECT_NEAR(FoldedCollective(uniform(n, latency), collective, size, rules(2, 30)).end(), whole, 1e-9 * whole);
        }
      }
    }
  }
}

TEST(Fold, ARankThatIsReadyLaterIsNotLikeTheOthers) {
  EXPECT_THROW(FoldedCollective(uniform(4), Collective::kAllReduce, 800, rules(1, 50), {0, 0, 5, 0}), ColouringError);
}

TEST(Fold, RanksThatBeginTogetherAreAlikeBesideOneThatComputesLonger) {
  // From 6 s on, when the third is ready too: 4 loops of 6 steps of 50 B at 100 B/s.
  RingRules together = rules(1, 50);
  together.together = true;
  const FoldedCollective folded(uniform(4), {0, 0, 1, 0}, Collective::kAllReduce, 800, together, {1, 1, 6, 1});
  ASSERT_TRUE(folded.finer.devices.empty());
  EXPECT_EQ(folded.graph.connections().size(), 1);
  EXPECT_EQ(folded.graph.tasks().size(), 2 + 1 + 4);  // two that compute, that all are there, and a chain for each loop
  EXPECT_EQ(folded.end(), 6 + 4 * 6 * 0.5);
}

TEST(Fold, ARingThatBeginsTogetherEndsWhenTheLastRankOfOneThatDoesNotWould) {
  const std::vector<double> ready = {1, 0, 6, 2};
  for (const Collective collective : kAll) {
    RingRules apart = rules(1, 50), together = apart;
    together.together = true;
    const auto end = [&](const RingRules& own) {
      return collect(uniform(4, 0.25), collective, 800, own, ready).timeline.end.value;
    };
    EXPECT_EQ(end(together), end(apart));
  }
}

TEST(Fold, ALineThatEndsEarlyIsNotLikeTheOthers) {
  TaskGraph graph(Network(uniform(2)).links(), Colouring{{0, 0}, {}});
  const TagId tag = graph.tag({"work", TaskClass::kForward});
  graph.compute(0, Seconds{1}, tag, {});
  EXPECT_THROW(graph.settle(), ColouringError);
  graph.compute(1, Seconds{1}, tag, {});
  EXPECT_TRUE(graph.settle().devices.empty());
  EXPECT_EQ(graph.tasks().size(), 1);
}

TEST(Fold, LinksTellConnectionsApartThatAreAlikeByTheirRoutes) {
  // Devices 0 and 1 send to 2 and 3 over links of 100 B/s, of which 1's is also used by 4: 0 takes 1 s, 1 and 4 take 2.
  std::vector<Link> links(4);
  for (auto& link : links) link.bandwidth = BytesPerSecond{100};
  const auto build = [&](Colouring colours) {
    TaskGraph graph(links, colours);
    const TagId tag = graph.tag({.name = "send"});
    for (const auto& [from, to, link] : {std::tuple{0, 2, 0}, {1, 3, 1}, {4, 5, 1}}) {
      Connection connection{.from = from, .to = to};
      connection.route.links = {link};
      graph.transfer(graph.add_connection(connection), Bytes{100}, tag, {});
    }
    return graph;
  };
  Colouring colours{{0, 0, 1, 1, 0, 1}, {}};
  TaskGraph graph = build(colours);
  EXPECT_EQ(graph.tasks().size(), 1);
  colours = graph.settle();
  ASSERT_FALSE(colours.devices.empty());
  EXPECT_NE(colours.connections[0], colours.connections[1]);
  EXPECT_EQ(colours.connections[1], colours.connections[2]);
  graph = build(colours);
  EXPECT_TRUE(graph.settle().devices.empty());
  ASSERT_EQ(graph.tasks().size(), 2);
  const Timeline timeline = simulate(graph);
  EXPECT_EQ(timeline.finish[0], 1);
  EXPECT_EQ(timeline.finish[1], 2);  // one connection, which crosses its link twice
}

TEST(Fold, ATransferOfSeveralTimesLetsOthersInBetween) {
  // 100 B in 1 s and a latency of 1 s, three times, as 0-1, 2-3, 4-5; another transfer, ready at 0.5 s, goes from 1 to 2
  // and is not waited for.
  std::vector<Link> links(1);
  links[0].bandwidth = BytesPerSecond{100};
  TaskGraph graph(links, 2);
  Connection connection{.from = 0, .to = 1};
  connection.route.links = {0};
  connection.route.latency = Seconds{1};
  const int line = graph.add_connection(connection);
  const TagId tag = graph.tag({.name = "send"});
  const TaskId several = graph.transfer(line, Bytes{100}, tag, {}, 3);
  const TaskId later = graph.delay(Seconds{0.5}, tag, {});
  const TaskId other = graph.transfer(line, Bytes{100}, tag, std::array{later});
  const Timeline timeline = simulate(graph);
  EXPECT_EQ(timeline.start[several], 0);
  EXPECT_EQ(timeline.finish[several], 6);
  EXPECT_EQ(timeline.finish[other], 3);
}

}  // namespace
}  // namespace slmsim::fold_test
