// The search finds what simulating everything finds, on clusters small enough for both.
#include "sim/search/search.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include <gmock/gmock.h>

#include "sim/compute/operator_graph.h"
#include "sim/search/bound.h"
#include "sim/search/outline.h"
#include "tests/named.h"
#include "tests/search/clusters.h"
#include "tests/word_name.h"

namespace slmsim::search_test {
namespace {

constexpr double kRounding = 1e-9;  // relative: sums in another order

class SearchOf : public testing::TestWithParam<Cluster> {};

TEST_P(SearchOf, AClusterFindsTheBestOfAllItsChoices) {
  const ClusterFile file(GetParam());
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  const OperatorGraph operators = build_operator_graph(space.model());
  const QuickBound quick(space);
  OutlineBound outline(space);
  const PlanObjective objective = scenario.plan.objective;

  // Everything, without the search: what fits, its bounds, its cost.
  double least = 0;
  std::optional<double> least_far;  // of plain choices on several VMs
  std::size_t fitting = 0;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Choice choice = space.choice(i);
    const Assessment assessed = assess(space, operators, choice, objective);
    if (assessed.status != Status::kOk) continue;
    ++fitting;
    const Measurement measured = measure(space, operators, choice, objective);
    EXPECT_LE(quick.job(i).value, measured.job.value * (1 + kRounding)) << space.describe(choice);
    const Seconds step = outline.step(i, quick.step_within(i, measured.job));
    EXPECT_LE(quick.job(i, step).value, measured.job.value * (1 + kRounding)) << space.describe(choice);
    EXPECT_LE(assessed.job.value, measured.job.value * (1 + kRounding)) << space.describe(choice);
    const double cost = cost_of(space, choice, objective, measured.job);
    if (fitting == 1 || cost < least) least = cost;
    if (space.is_plain(choice) && !space.is_on_one_vm(choice)) least_far = std::min(least_far.value_or(cost), cost);
  }
  ASSERT_GT(fitting, 0);

  SearchOptions options;
  options.objective = objective;
  options.kinds = true;
  const SearchResult found = search(space, evaluator_of(space), options);
  EXPECT_TRUE(found.proven);
  ASSERT_FALSE(found.best.empty());
  EXPECT_NEAR(found.best.front().cost, least, kRounding * least);
  EXPECT_LE(found.simulated, fitting);
  // The best on several VMs is no worse than any plain choice there, though the best of all rules those out.
  if (least_far) {
    ASSERT_TRUE(found.several_vms);
    EXPECT_LE(found.several_vms->cost, *least_far * (1 + kRounding));
  }
  RecordProperty("choices", static_cast<int>(space.size()));
  RecordProperty("simulated", static_cast<int>(found.simulated));

  // The printed `slmsim run` command gives the same job.
  for (const auto& one : found.best) {
    const Scenario again = file.load(space.overrides(space.choice(one.choice)));
    const auto predictions = predict(again);
    ASSERT_EQ(predictions.size(), 1);
    EXPECT_NEAR(predictions.front().job.value, one.measured.job.value, kRounding * one.measured.job.value)
        << space.describe(space.choice(one.choice));
  }
}

INSTANTIATE_TEST_SUITE_P(Every, SearchOf, testing::ValuesIn(clusters()),
                         [](const auto& cluster) { return word_name(cluster.param.name); });

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

// Every plan that changes the training takes about 5e8 s, the scenario's own on all GPUs 1e9 s, all others 2e9 s; all bounds are
// tight. The list and the best on several VMs rule the second out, which is still the best without a change.
TEST(Search, TriesForAKindWhatTheOthersRuleOut) {
  const ClusterFile file(clusters()[2]);
  const Scenario scenario = file.load({"groups=[all]", "techniques={Data: {}, LocalSGD: {inner_steps: 10}}"});
  const Space space(scenario, scenario.models.front());
  const auto job_of = [&](std::size_t i) {
    const Choice choice = space.choice(i);
    if (space.changes_training(choice)) return Seconds{5e8 + static_cast<double>(i)};
    return Seconds{space.is_as_given(choice) ? 1e9 : 2e9};
  };
  Evaluator evaluator;
  evaluator.assess = [&](const std::vector<std::size_t>& choices) {
    std::vector<Assessment> out;
    out.reserve(choices.size());
    for (const std::size_t i : choices) out.push_back({Status::kOk, job_of(i), 1});
    return out;
  };
  evaluator.measure = [&](const std::vector<std::size_t>& choices) {
    std::vector<Measurement> out;
    out.reserve(choices.size());
    for (const std::size_t i : choices) out.push_back({job_of(i), job_of(i), {}});
    return out;
  };
  SearchOptions options;
  options.kinds = true;
  const SearchResult found = search(space, evaluator, options);
  ASSERT_TRUE(found.several_vms && found.unchanged);
  EXPECT_LT(found.several_vms->cost, 1e9);
  EXPECT_EQ(found.unchanged->cost, 1e9);
}

TEST(Search, StopsWhenItIsTold) {
  const ClusterFile file(clusters()[2]);
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  SearchOptions options;
  options.stop = [] { return true; };
  const SearchResult found = search(space, evaluator_of(space), options);
  EXPECT_TRUE(found.stopped && found.given_left);
  EXPECT_FALSE(found.proven);
  EXPECT_TRUE(found.best.empty());
}

TEST(Space, VariesTcpAndNcclOnlyWhereTheScenarioAllowsIt) {
  const ClusterFile file(clusters()[0]);
  for (const bool allowed : {false, true}) {
    const Scenario scenario = file.load(allowed ? Overrides{"plan.allow=[nccl, tcp, batch]"} : Overrides{});
    const Space space(scenario, scenario.models.front(), named("Data"));
    for (std::size_t column = kSettings; column < kColumns; ++column) {
      const bool varied = std::ranges::any_of(choices_of(space), [&](const Choice& c) { return c[column] > 0; });
      EXPECT_EQ(varied, allowed) << column;
    }
  }
}

// Each choice's overrides make a scenario: with torch.autocast weights and gradients stay in fp32.
TEST(Space, KeepsTheGradientsOfAutocast) {
  const ClusterFile file(clusters()[0]);
  for (const bool autocast : {false, true}) {
    const Scenario scenario = file.load({"software={stack: " + std::string(autocast ? "autocast" : "eager") + "}",
                                         "training.precision=fp16", "training.gradient_precision=fp32"});
    const Space space(scenario, scenario.models.front(), named("Data"));
    const auto varied = std::ranges::any_of(choices_of(space), [&](const Choice& choice) {
      return space.setup(choice).scenario.training.gradient_precision != Precision::kFp32;
    });
    EXPECT_EQ(varied, !autocast);
  }
}

TEST(Space, TakesEachChoiceOnce) {
  for (const auto& cluster : clusters()) {
    const ClusterFile file(cluster);
    const Scenario scenario = file.load();
    const Space space(scenario, scenario.models.front());
    const auto all = choices_of(space);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
    for (std::size_t i = 0; i < space.size(); i += 97) {
      EXPECT_EQ(space.find(space.choice(i)), i);
      for (const std::size_t other : space.neighbours(i)) EXPECT_NE(other, i);
    }
  }
}

TEST(Groups, OfTwoVmsAreEverySubsetOnce) {
  // a, b with two GPUs and one: 1 or 2 of a, b, and both together; both orders of the latter.
  const ClusterFile file(clusters()[3]);
  const Scenario scenario = file.load();
  std::vector<std::string> names;
  for (const auto& g : groups_to_search(scenario.platform).groups) names.push_back(group_text(g.group.names));
  EXPECT_THAT(names, testing::UnorderedElementsAre("a+b", "b+a", "a/0+b", "b+a/0", "a", "a/0", "b"));
}

std::vector<std::string> groups_of(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const auto& g : groups_to_search(scenario.platform).groups) names.push_back(group_text(g.group.names));
  return names;
}

// `kinds` times `of_each` VMs of one GPU each at one site, each kind with a NIC of its own.
Scenario many_vms(int kinds, int of_each) {
  std::string vms;
  for (int v = 0; v < kinds * of_each; ++v) {
    vms +=
        (v ? ", v" : "{v") + std::to_string(v) +
        ": {site: lab, type: {name: box, nic: " + std::to_string(v % kinds + 1) +
        " Gbps, device_latency: 1 us, tcp: {net.ipv4.tcp_rmem: 6 MiB, net.ipv4.tcp_wmem: 4 MiB, copy_rate: 1 GB/s}}, "
        "gpus: [a30]}";
  }
  vms += "}";
  return ClusterFile({"many", "{lab: {}}", vms.c_str(), "{}", "techniques: [Data]"}).load();
}

// Whatever the order.
std::set<std::vector<int>> sets_of(const SearchedGroups& found) {
  std::set<std::vector<int>> sets;
  for (const auto& g : found.groups) {
    auto devices = g.group.devices;
    std::sort(devices.begin(), devices.end());
    sets.insert(devices);
  }
  return sets;
}

TEST(Groups, OfEqualVmsAreAsManyAsThereAreCounts) {
  const auto found = groups_to_search(many_vms(1, 40).platform);
  EXPECT_TRUE(found.all);
  EXPECT_EQ(sets_of(found).size(), 40);
  const auto two = groups_to_search(many_vms(2, 30).platform);  // 31 x 31 counts but for none
  EXPECT_TRUE(two.all);
  EXPECT_EQ(sets_of(two).size(), 31 * 31 - 1);
}

TEST(Groups, ThatAreTooManyHaveTheSmallAndTheLargeOnesAmongThem) {
  for (const auto& [kinds, of_each] : {std::pair{20, 1}, {6, 5}}) {
    const Scenario scenario = many_vms(kinds, of_each);
    const auto found = groups_to_search(scenario.platform);
    EXPECT_FALSE(found.all);
    EXPECT_LE(found.groups.size(), 2 * 4096);  // subsets, and orders
    const auto sets = sets_of(found);
    for (int kind = 0; kind < kinds; ++kind) {
      EXPECT_TRUE(sets.contains({kind})) << kind;
      std::vector<int> others;
      for (int v = 0; v < kinds * of_each; ++v) {
        if (v % kinds != kind) others.push_back(v);
      }
      EXPECT_TRUE(sets.contains(others)) << "all but " << kind;
    }
    const Space space(scenario, scenario.models.front());
    SearchOptions options;
    options.effort = 1e4;
    EXPECT_FALSE(search(space, evaluator_of(space), options).proven);
  }
}

TEST(Groups, TakeVmsAsAlikeByTheirFiguresAndNotByTheirNames) {
  // Two VMs of one GPU each: of two that are alike the second alone, or first, would repeat the first.
  const ClusterFile file(
      {"alike", "{lab: {}}",
       "{a: {site: lab, type: fabric-vm, gpus: [a30]}, b: {site: lab, type: fabric-vm, gpus: [a30]}}", "{}",
       "techniques: [Data]"});
  EXPECT_THAT(groups_of(file.load()), testing::UnorderedElementsAre("a+b", "a"));
  for (const char* different : {"platform.vms.b.type.nic=1Gbps", "platform.vms.b.gpus.0.memory=20GiB",
                                "platform.vms.b.type.tcp.copy_rate=1GB/s"})
    EXPECT_THAT(groups_of(file.load({different})), testing::UnorderedElementsAre("a+b", "b+a", "a", "b")) << different;
}

TEST(Groups, TakeGpusOfAVmAsAlikeWhereTheyCouldBeExchanged) {
  // Only the first of four GPUs has a fast path to the CPU: it or not, with 0 to 3 of the others.
  const std::string inside =
      "inside: {parts: {cpu: {kind: switch}, n: {kind: nic}, g0: {kind: gpu}, g1: {kind: gpu}, g2: {kind: gpu}, g3: "
      "{kind: gpu}}, links: {Fast: {between: [cpu g0], rate: 64 GB/s}, Slow: {between: [cpu g1, g2 cpu, cpu g3], rate: "
      "16 GB/s}, Port: {between: [cpu n], rate: 64 GB/s}}}";
  const std::string vms = "{a: {site: lab, type: {name: box, nic: 1 Gbps, device_latency: 10 us, rdma: yes, " + inside +
                          "}, gpus: [a30, a30, a30, a30]}}";
  const ClusterFile file({"places", "{lab: {}}", vms.c_str(), "{}", "techniques: [Data]"});
  EXPECT_THAT(groups_of(file.load()),
              testing::UnorderedElementsAre("a", "a/0+a/1+a/2", "a/0+a/1", "a/0", "a/1+a/2+a/3", "a/1+a/2", "a/1"));
}

TEST(Groups, OfManyEqualVmsAreOnlyHowMany) {
  std::string vms;
  for (int i = 0; i < 60; ++i)
    vms += (i > 0 ? ", v" : "{v") + std::to_string(i) + ": {site: lab, type: fabric-vm, gpus: [t4]}";
  vms += "}";
  const ClusterFile file({"many", "{lab: {}}", vms.c_str(), "{}", "techniques: [Data]"});
  EXPECT_EQ(groups_of(file.load()).size(), 60);
}

TEST(Space, VariesEveryTechniqueOnASingleGpu) {
  const ClusterFile file(
      {"single", "{lab: {}}", "{a: {site: lab, type: fabric-vm, gpus: [t4]}}", "{}", "techniques: [Shard]"});
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  const auto all = choices_of(space);
  // Micro-batches, rematerialisation, precision of gradients, and Shard's planner.
  for (std::size_t column = kTraining; column <= kOwn; ++column)
    EXPECT_TRUE(std::ranges::any_of(all, [&](const Choice& c) { return c[column] != all[0][column]; })) << column;
}

TEST(Space, HoldsWhatTheScenarioAsksForJustAsItIs) {
  const ClusterFile file(clusters()[2]);
  const Scenario scenario = file.load({"groups=[[a, b/1], [b, a]]",
                                       "techniques={Shard: {mesh: [3, 1], micro_batches: 2, startup: 7 s}, Pipeshard: "
                                       "{planner: slmsim, schedule: gpipe}}"});
  const Space space(scenario, scenario.models.front());
  std::vector<RunSetup> setups;
  for (const auto& choice : choices_of(space)) {
    if (space.is_as_given(choice)) setups.push_back(space.setup(choice));
  }
  ASSERT_EQ(setups.size(), 4);
  for (const auto& setup : setups) {
    EXPECT_EQ(setup.scenario, scenario);
    EXPECT_THAT(scenario.groups, testing::Contains(setup.group));
    EXPECT_THAT(scenario.techniques, testing::Contains(setup.options));
  }
}

// The first of many groups are listed until the time is over; the scenario's own choice is always included.
TEST(Space, EndsItsListWhereItIsToldTo) {
  const Scenario scenario =
      load_scenario(std::string(SLMSIM_SOURCE_DIR) + "/scenarios/gat-amst.yaml", {"models=gpt2m"});
  const Space whole(scenario, scenario.models.front());
  EXPECT_TRUE(whole.has_all_groups());
  std::size_t before = 0;
  for (const int asked : {0, 1, 3}) {
    int left = asked;
    const Space part(scenario, scenario.models.front(), nullptr, [&] { return left-- == 0; });
    EXPECT_FALSE(part.has_all_groups());
    EXPECT_GE(part.size(), scenario.groups.size() * scenario.techniques.size());
    EXPECT_GE(part.size(), before);
    EXPECT_LT(part.size(), whole.size());
    before = part.size();
  }
}

}  // namespace
}  // namespace slmsim::search_test
