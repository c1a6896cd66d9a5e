// NCCL's tree all-reduce: its shape, what it sends, and on uniform networks how long it takes.
#include "sim/collective/tree.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <gmock/gmock.h>

#include "tests/collective/ring_of_gpus.h"

namespace slmsim::tree_test {
namespace {

using testing::ElementsAre;

std::vector<int> nodes_of(int nodes, int gpus) {
  std::vector<int> out;
  for (int i = 0; i < nodes * gpus; ++i) out.push_back(i / gpus);
  return out;
}

// An all-reduce of `size` over GPUs that act as `nodes`, in chunks of `chunk` per channel.
GroupRun reduce(const Platform& platform, const std::vector<int>& nodes, double size, double chunk,
                TreeRules rules = {}, std::vector<double> ready = {}) {
  const Network network(platform);
  const int ranks = static_cast<int>(platform.devices.size());
  GroupRun out{TaskGraph(network.links(), ranks), {}, {}};
  ready.resize(platform.devices.size());
  std::vector<int> devices(platform.devices.size());
  std::iota(devices.begin(), devices.end(), 0);
  std::vector<TaskId> begin;
  for (int rank = 0; rank < ranks; ++rank)
    begin.push_back(out.graph.compute(rank, Seconds{ready[rank]},
                                      out.graph.tag({"work", TaskClass::kForward}), {}));
  Tree tree(out.graph, network, devices, nodes, std::move(rules));
  out.result = tree.all_reduce(Bytes{size}, Bytes{chunk}, out.graph.tag({.name = "all-reduce"}), begin);
  out.timeline = simulate(out.graph, {}, {.record_flows = true});
  return out;
}

double time_of(int nodes, int gpus, double size, double chunk, double latency, double rate = kRate) {
  const std::vector<double> rates(static_cast<std::size_t>(nodes * gpus), rate);
  return reduce(one_vm(rates, latency), nodes_of(nodes, gpus), size, chunk).timeline.end.value;
}

TEST(TreeShape, IsTheOneOfNcclsDrawing) {
  // 14 nodes (src/graph/trees.cc): 0 - 8; 8 - 4, 12; 4 - 2, 6; 2 - 1, 3; 6 - 5, 7; 12 - 10, 13; 10 - 9, 11.
  EXPECT_THAT(tree_parents(nodes_of(14, 1), 0), ElementsAre(-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12));
}

TEST(TreeShape, MirrorsTheSecondTreeOfAnEvenNumberAndShiftsThatOfAnOddOne) {
  EXPECT_THAT(tree_parents(nodes_of(4, 1), 0), ElementsAre(-1, 2, 0, 2));
  EXPECT_THAT(tree_parents(nodes_of(4, 1), 1), ElementsAre(1, 3, 1, -1));
  EXPECT_THAT(tree_parents(nodes_of(3, 1), 0), ElementsAre(-1, 2, 0));
  EXPECT_THAT(tree_parents(nodes_of(3, 1), 1), ElementsAre(1, -1, 0));
}

TEST(TreeShape, ChainsTheGpusOfANodeAndGivesItsSecondOneTheFirstChild) {
  // Node 2 is the root's second child (first GPU), node 1 is node 2's first child (second GPU).
  EXPECT_THAT(tree_parents(nodes_of(3, 2), 0), ElementsAre(-1, 0, 5, 2, 0, 4));
  EXPECT_THAT(tree_parents(nodes_of(1, 4), 0), ElementsAre(-1, 0, 1, 2));
}

TEST(TreeShape, JoinsAllNodesWithAtMostTwoChildrenEachAndLogarithmicDepth) {
  for (int n = 1; n <= 70; ++n) {
    for (const int which : {0, 1}) {
      const auto parents = tree_parents(nodes_of(n, 1), which);
      EXPECT_EQ(std::count(parents.begin(), parents.end(), -1), 1) << n;
      for (int r = 0; r < n; ++r) {
        EXPECT_LE(std::count(parents.begin(), parents.end(), r), 2) << n;
        int depth = 0;
        for (int at = r; parents[at] >= 0; at = parents[at])
          ASSERT_LE(++depth, std::ceil(std::log2(n))) << n << " nodes, node " << r;
      }
    }
  }
}

TEST(TreeShape, MakesNoNodeAnInnerOneOfBothTrees) {
  for (int n = 2; n <= 70; ++n) {
    const auto first = tree_parents(nodes_of(n, 1), 0), second = tree_parents(nodes_of(n, 1), 1);
    int both = 0;
    for (int r = 0; r < n; ++r)
      both += std::count(first.begin(), first.end(), r) && std::count(second.begin(), second.end(), r);
    EXPECT_EQ(both, n % 2) << n;  // of an odd number the first tree's root is inner in the shifted one too
  }
}

TEST(Tree, TwoNodesByHand) {
  // 400 B in one chunk: 200 B up each tree, which go opposite ways, then 200 B down: 2 x (2 + 0.5) s.
  EXPECT_NEAR(time_of(2, 1, 400, 1000, 0.5), 5, kRingClock);
}

TEST(Tree, LatencyIsPaidOncePerEdgeOfTheWayUpAndDown) {
  const auto latencies = [](int nodes, int gpus) { return time_of(nodes, gpus, 1e5, 100, 1.0, 1e15); };
  EXPECT_NEAR(latencies(2, 1), 2, kRingClock);
  EXPECT_NEAR(latencies(3, 1), 4, kRingClock);  // 1 - 2 - 0
  EXPECT_NEAR(latencies(4, 1), 4, kRingClock);
  EXPECT_NEAR(latencies(8, 1), 6, kRingClock);
  EXPECT_NEAR(latencies(2, 2), 4, kRingClock);  // 3 - 2 - 0; a ring's first loop takes 6
  EXPECT_NEAR(latencies(1, 4), 6, kRingClock);  // a chain
}

TEST(Tree, ChunksFollowEachOtherSoThatBandwidthAloneCounts) {
  // Two nodes: each sends its half up in one tree and down in the other, 4000 B through a link of 100 B/s. Its last
  // chunk of 20 B goes down after it came up.
  EXPECT_NEAR(time_of(2, 1, 4000, 20, 0), 40, 0.5);
  // Three nodes, trees 1 - 2 - 0 and 2 - 0 - 1. Tree 0's middle sends up and down, and up in tree 1: 1.5 x 4000 B.
  EXPECT_NEAR(time_of(3, 1, 4000, 20, 0), 60, 2);
}

TEST(Tree, SendsOverEveryEdgeItsHalfUpAndDown) {
  for (const int n : {2, 3, 4, 7}) {
    for (const int gpus : {1, 2, 3}) {
      for (const Detail detail : {Detail::kSteps, Detail::kAggregated}) {
        const double size = 1200;
        const auto nodes = nodes_of(n, gpus);
        const GroupRun run = reduce(uniform(n * gpus), nodes, size, 50, {2, {}, detail});
        std::map<int, double> expected;
        for (const int which : {0, 1}) {
          const auto parents = tree_parents(nodes, which);
          for (int r = 0; r < n * gpus; ++r) {
            const int parent = parents[r];
            if (parent < 0) continue;
            expected[r] += size / 2;
            expected[parent] += size / 2;
          }
        }
        EXPECT_EQ(run.bytes(), expected);
        double flown = 0;
        for (const auto& flow : run.timeline.flows) flown += flow.bytes;
        EXPECT_NEAR(flown, 2 * (n * gpus - 1) * size, 1e-9 * size);
      }
    }
  }
}

TEST(Tree, WithOneChannelThereIsOneTreeAndOfThreeTheFirstHasTwo) {
  const GroupRun one = reduce(uniform(2), {0, 1}, 400, 1000, {1, {}, Detail::kSteps});
  EXPECT_EQ(one.bytes(), (std::map<int, double>{{0, 400}, {1, 400}}));
  ASSERT_EQ(one.graph.connections().size(), 2u);
  const GroupRun three = reduce(uniform(2), {0, 1}, 300, 1000, {3, {4, 5}, Detail::kSteps});
  ASSERT_EQ(three.graph.connections().size(), 4u);
  EXPECT_EQ(three.graph.connections()[0].to, 0);
  EXPECT_EQ(three.graph.connections()[0].sockets, 2 * 4);
  EXPECT_EQ(three.graph.connections()[1].sockets, 2 * 5);
  EXPECT_EQ(three.graph.connections()[2].sockets, 5);  // up the second tree, to rank 1
  EXPECT_EQ(three.graph.tasks()[2].amount, 200);
}

TEST(Tree, TransfersAreCounted) {
  for (const int channels : {1, 2, 3}) {
    const GroupRun run = reduce(uniform(6), nodes_of(3, 2), 1000, 50, {channels, {}, Detail::kSteps});
    int count = 0;
    for (const auto& [rank, transfers] : run.counts()) count += transfers;
    EXPECT_EQ(count, tree_transfer_count(6, Bytes{1000}, Bytes{50}, channels));
  }
}

// Whether `task` waits, over any number of others, for `other`.
bool depends(const TaskGraph& graph, TaskId task, TaskId other) {
  std::set<TaskId> open = {task};
  while (!open.empty()) {
    const TaskId last = *open.rbegin();
    if (last == other) return true;
    open.erase(last);
    for (const TaskId before : graph.predecessors(last)) open.insert(before);
  }
  return false;
}

TEST(Tree, EveryRanksResultHoldsEveryRanksPartAsInARing) {
  const GroupRun tree = reduce(uniform(6), nodes_of(3, 2), 600, 100);
  const GroupRun ring = collect(uniform(6), Collective::kAllReduce, 600, {1, 1, Bytes{100}, Detail::kSteps});
  for (const auto& run : {tree, ring}) {
    for (const TaskId result : run.result) {
      for (TaskId rank = 0; rank < 6; ++rank) EXPECT_TRUE(depends(run.graph, result, rank));
    }
  }
}

TEST(Tree, TwoRanksWithOneChunkTakeWhatARingTakes) {
  const double ring =
      collect(uniform(2, 0.5), Collective::kAllReduce, 800, {1, 1, Bytes{400}, Detail::kSteps}).timeline.end.value;
  EXPECT_NEAR(time_of(2, 1, 800, 400, 0.5), ring, kRingClock);  // two steps of 400 B
}

TEST(Tree, ARankSendsNothingBeforeItIsReadyAndNobodyIsDoneWithoutIt) {
  for (const int late : {0, 1, 2, 5}) {
    for (const Detail detail : {Detail::kSteps, Detail::kAggregated}) {
      std::vector<double> ready(6);
      ready[late] = 100;
      const GroupRun run = reduce(uniform(6), nodes_of(3, 2), 600, 50, {2, {}, detail}, ready);
      for (std::size_t r = 0; r < 6; ++r) EXPECT_GE(run.at(r), 100);
      for (const auto& flow : run.timeline.flows) {
        if (run.graph.connections()[flow.connection].from == late) {
          EXPECT_GE(flow.start, 100 - kRingClock);
        }
      }
    }
  }
}

TEST(Tree, MoreBytesNeverTakeLess) {
  for (const Detail detail : {Detail::kSteps, Detail::kAggregated}) {
    double before = 0;
    for (const double size : {0.0, 10.0, 100.0, 190.0, 200.0, 400.0, 1000.0, 5000.0}) {
      const double end = reduce(uniform(6, 0.1), nodes_of(3, 2), size, 100, {2, {}, detail}).timeline.end.value;
      EXPECT_GE(end, before - kRingClock) << size;
      before = end;
    }
  }
}

TEST(Tree, TheAggregatedFormAgreesWithTheSteps) {
  for (const int n : {2, 3, 4, 8}) {
    for (const int gpus : {1, 2}) {
      for (const double latency : {0.0, 1.0, 30.0}) {
        const auto end = [&](Detail detail) {
          return reduce(uniform(n * gpus, latency), nodes_of(n, gpus), 8000, 100, {2, {}, detail}).timeline.end.value;
        };
        const double steps = end(Detail::kSteps);
        EXPECT_NEAR(end(Detail::kAggregated), steps, 0.05 * steps) << n << " x " << gpus << ", latency " << latency;
      }
    }
  }
}

TEST(Tree, OneRankHasItsResultAtOnce) {
  const GroupRun run = reduce(uniform(1), {0}, 800, 100, {}, {3});
  EXPECT_TRUE(run.bytes().empty());
  EXPECT_NEAR(run.at(0), 3, kRingClock);
}

}  // namespace
}  // namespace slmsim::tree_test
