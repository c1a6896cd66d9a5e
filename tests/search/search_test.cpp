// The search finds what simulating everything finds, on clusters small enough for both.
#include "sim/search/search.h"

#include <algorithm>
#include <memory>

#include <gmock/gmock.h>

#include "sim/search/bound.h"
#include "tests/search/clusters.h"

namespace slmsim {
namespace {

constexpr double kRounding = 1e-9;  // relative: sums in another order

class SearchOf : public testing::TestWithParam<Cluster> {};

TEST_P(SearchOf, AClusterFindsTheBestOfAllItsChoices) {
  const ClusterFile file(GetParam());
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  const OperatorGraph operators = build_operator_graph(space.model());
  const QuickBound quick(space);
  const PlanObjective objective = scenario.plan.objective;

  // Everything, without the search: what fits, its bounds, its cost.
  double least = 0;
  std::size_t fitting = 0;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Choice& choice = space.choices()[i];
    const Assessed assessed = assess(space, operators, choice);
    if (assessed.status != Status::kOk) continue;
    ++fitting;
    const Measured measured = measure(space, operators, choice);
    EXPECT_LE(quick.job(choice).value, measured.job.value * (1 + kRounding)) << space.describe(choice);
    EXPECT_LE(assessed.job.value, measured.job.value * (1 + kRounding)) << space.describe(choice);
    const double cost = cost_of(space, choice, objective, measured.job);
    if (fitting == 1 || cost < least) least = cost;
  }
  ASSERT_GT(fitting, 0);

  SearchOptions options;
  options.objective = objective;
  const SearchResult found = search(space, evaluator_of(space), options);
  EXPECT_TRUE(found.proven);
  ASSERT_FALSE(found.best.empty());
  EXPECT_NEAR(found.best.front().cost, least, kRounding * least);
  EXPECT_LE(found.simulated, fitting);
  RecordProperty("choices", static_cast<int>(space.size()));
  RecordProperty("simulated", static_cast<int>(found.simulated));

  // What is printed for `slmsim run` gives the same job.
  for (const auto& one : found.best) {
    const Scenario again = file.load(space.overrides(space.choices()[one.choice]));
    const auto predictions = predict(again);
    ASSERT_EQ(predictions.size(), 1);
    EXPECT_NEAR(predictions.front().job.value, one.measured.job.value, kRounding * one.measured.job.value)
        << space.describe(space.choices()[one.choice]);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, SearchOf, testing::ValuesIn(clusters()),
                         [](const auto& cluster) { return std::string(cluster.param.name); });

TEST(Search, GivesTheSameListWhateverCutItShort) {
  const ClusterFile file(clusters()[2]);
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  SearchOptions options;
  options.effort = 3e5;
  const SearchResult a = search(space, evaluator_of(space), options), b = search(space, evaluator_of(space), options);
  EXPECT_FALSE(a.proven);
  EXPECT_GT(a.least_left, 0);
  ASSERT_EQ(a.best.size(), b.best.size());
  for (std::size_t i = 0; i < a.best.size(); ++i) EXPECT_EQ(a.best[i].choice, b.best[i].choice);
}

TEST(Search, StopsWhenItIsTold) {
  const ClusterFile file(clusters()[2]);
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  SearchOptions options;
  options.stop = [] { return true; };
  const SearchResult found = search(space, evaluator_of(space), options);
  EXPECT_TRUE(found.stopped);
  EXPECT_FALSE(found.proven);
  EXPECT_TRUE(found.best.empty());
}

TEST(Space, VariesTcpAndNcclOnlyWhereTheScenarioAllowsIt) {
  const ClusterFile file(clusters()[0]);
  for (const bool allowed : {false, true}) {
    const Scenario scenario = file.load(allowed ? Overrides{"plan.allow=[nccl, tcp, batch]"} : Overrides{});
    const Space space(scenario, scenario.models.front(), Technique::kData);
    for (const Aspect aspect : {kSockets, kChannels, kAlgorithm, kBuffers, kAccumulation}) {
      const bool varied =
          std::any_of(space.choices().begin(), space.choices().end(), [&](const Choice& c) { return c[aspect] > 0; });
      EXPECT_EQ(varied, allowed) << aspect;
    }
  }
}

TEST(Space, TakesEachChoiceOnce) {
  for (const auto& cluster : clusters()) {
    const ClusterFile file(cluster);
    const Scenario scenario = file.load();
    const Space space(scenario, scenario.models.front());
    EXPECT_EQ(std::adjacent_find(space.choices().begin(), space.choices().end()), space.choices().end());
    for (std::size_t i = 0; i < space.size(); i += 97) {
      EXPECT_EQ(space.find(space.choices()[i]), i);
      for (const std::size_t other : space.neighbours(i)) EXPECT_NE(other, i);
    }
  }
}

TEST(Groups, OfTwoVmsAreEverySubsetOnce) {
  // a, b with two GPUs and one: 1 or 2 of a, b, and both together; both orders of the latter.
  const ClusterFile file(clusters()[3]);
  const Scenario scenario = file.load();
  std::vector<std::string> names;
  for (const auto& g : groups_to_search(scenario.platform)) names.push_back(group_text(g.group.names));
  EXPECT_THAT(names, testing::UnorderedElementsAre("a+b", "b+a", "a/0+b", "b+a/0", "a", "a/0", "b"));
}

TEST(LeastEnd, IsTheLongestWayAndNoLessThanALinksBytes) {
  // 1 s of computing, then 200 B at 100 B/s and 0.5 s of latency: 3.5 s. A second transfer of 400 B from the start, over the
  // same link: together 600 B take 6 s.
  TaskGraph graph({{"l", BytesPerSecond{100}}}, 2);
  const int connection = graph.add_connection({0, 1, 1, {{0}, Seconds{0.5}, BytesPerSecond{0}, false, {}}});
  const TaskId first = graph.compute(0, Seconds{1}, Activity::kModel, graph.label("a"), {});
  graph.transfer(connection, Bytes{200}, graph.label("b"), std::array{first});
  EXPECT_DOUBLE_EQ(least_end(graph).value, 3.5);
  graph.transfer(connection, Bytes{400}, graph.label("c"), {});
  EXPECT_DOUBLE_EQ(least_end(graph).value, 6);
}

TEST(LeastEnd, WaitsForTheWindow) {
  // 250 B with a window of 100 B: 100 leave at once, the next after a round trip of 2 s, the last 50 after another.
  TaskGraph graph({{"l", BytesPerSecond{1e9}}}, 2);
  Route route{{0}, Seconds{1}, BytesPerSecond{0}, true, {}};
  route.window.steady = Bytes{50};
  route.window.rtt = Seconds{2};
  const int connection = graph.add_connection({0, 1, 2, route});
  graph.transfer(connection, Bytes{250}, graph.label("a"), {});
  EXPECT_DOUBLE_EQ(least_end(graph).value, 2 * 2 + 1);
}

}  // namespace
}  // namespace slmsim
