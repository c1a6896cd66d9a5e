// The scenario's own choice is one of the candidates: no plan is worse than the prediction of `slmsim run`.
#include <algorithm>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "sim/search/bound.h"
#include "sim/search/outline.h"
#include "tests/named.h"
#include "tests/search/clusters.h"

namespace slmsim::never_worse_test {
namespace {

constexpr double kRounding = 1e-9;  // relative: sums in another order

SearchResult found_with(const Space& space, double effort) {
  SearchOptions options;
  options.effort = effort;
  options.kinds = true;
  return search(space, evaluator_of(space), options);
}

// A row that `run` predicts is no better than what the search reports for its kind; one that is better than the last of a whole
// list is in it.
void expect_no_worse_than(const Prediction& row, const Scenario& scenario, const SearchResult& found) {
  const double job = row.job.value, rounding = kRounding * job;
  const bool unchanged = !one_changes_training(scenario.techniques, row.technique->name);
  std::set<std::string> vms;
  for (const auto& name : row.group) vms.insert(name.substr(0, name.find('/')));
  const auto within = [&](const std::optional<RankedChoice>& best) { return best && best->cost <= job + rounding; };
  EXPECT_LE(found.best.front().cost, job + rounding);
  EXPECT_TRUE(vms.size() == 1 || within(found.several_vms)) << row.technique->name;
  EXPECT_TRUE(vms.size() > 1 || !unchanged || within(found.one_vm)) << row.technique->name;
  EXPECT_TRUE(!unchanged || within(found.unchanged)) << row.technique->name;
  const bool is_listed = std::ranges::any_of(
      found.best, [&](const RankedChoice& listed) { return std::abs(listed.cost - job) <= rounding; });
  EXPECT_TRUE(is_listed || found.best.back().cost <= job + rounding) << row.technique->name << " " << job;
}

void expect_never_worse(const ClusterFile& file, const Overrides& set, double effort) {
  const Scenario scenario = file.load(set);
  const Space space(scenario, scenario.models.front());
  const SearchResult found = found_with(space, effort);
  for (const auto& row : predict(scenario, {.advice = false})) {
    if (row.status != Status::kOk) continue;
    ASSERT_FALSE(found.best.empty());
    expect_no_worse_than(row, scenario, found);
  }
  if (found.best.empty()) return;
  // A plan named beside the list is an entry of it, or behind its last.
  for (const auto& named : {found.one_vm, found.several_vms, found.unchanged}) {
    if (!named || named->cost >= found.best.back().cost * (1 - kRounding)) continue;
    EXPECT_TRUE(std::ranges::count(found.best, named->choice, &RankedChoice::choice))
        << space.describe(space.choice(named->choice));
  }
  const RankedChoice& best = found.best.front();
  // The printed `slmsim run` command gives the same job.
  Overrides overrides = space.overrides(space.choice(best.choice));
  overrides.insert(overrides.begin(), set.begin(), set.end());
  const auto again = predict(file.load(overrides));
  ASSERT_EQ(again.size(), 1);
  EXPECT_NEAR(again.front().job.value, best.measured.job.value, kRounding * best.measured.job.value)
      << testing::PrintToString(overrides);
}

TEST(NeverWorse, ThanRunWhateverTheEffort) {
  // With the least effort nothing else is simulated.
  const ClusterFile file(clusters()[2]);
  expect_never_worse(file, {"groups=[[b/1, a]]", "techniques={Shard: {mesh: [3], micro_batches: 2}}"}, 1);
}

TEST(NeverWorse, ThanRunOnOtherGpusOfTheSameName) {
  // b's GPU is five times as fast in what it moves.
  const ClusterFile file({"names", "{lab: {}}",
                          "{a: {site: lab, type: fabric-vm, gpus: [t4]}, b: {site: lab, type: fabric-vm, gpus: [t4]}}",
                          "{}", "techniques: [Data]\ngroups: [each]"});
  const Overrides set = {"platform.vms.b.gpus.0.memory_bandwidth=1500GB/s"};
  const Scenario scenario = file.load(set);
  const Space space(scenario, scenario.models.front(), named("Data"));
  const SearchResult found = found_with(space, 0);
  EXPECT_TRUE(found.proven);
  ASSERT_FALSE(found.best.empty());
  EXPECT_THAT(space.group(space.choice(found.best.front().choice)).names, testing::Contains("b"));
  expect_never_worse(file, set, 0);
}

// Small clusters of all kinds, drawn at random.
class RandomCluster {
 public:
  explicit RandomCluster(unsigned seed) : random_(seed) {
    const int sites = number(1, 3);
    std::string links;
    for (int s = 0; s < sites; ++s) {
      sites_ += (s > 0 ? ", s" : "{s") + std::to_string(s) + ": {rtt: " + one_of({"0.1 ms", "2 ms"}) +
                (s == 0 ? ", transit: yes}" : "}");
      if (s > 0)
        links += (s > 1 ? ", l" : "l") + std::to_string(s) + ": {between: [s0, s" + std::to_string(s) +
                 "], rtt: " + one_of({"0.5 ms", "8 ms", "70 ms"}) +
                 ", bandwidth: " + one_of({"1 Gbps", "10 Gbps", "100 Gbps"}) + ", loss: " + one_of({"0", "1e-5"}) + "}";
    }
    sites_ += "}";
    links_ = "{" + links + "}";
    const int vms = number(1, 3);
    for (int v = 0; v < vms; ++v) {
      const std::string name = "v" + std::to_string(v);
      const bool one_type = number(0, 1) == 1;
      const std::string gpu = one_of(kGpus);
      const int gpus = number(1, vms == 1 ? 3 : 2);
      vms_ += (v > 0 ? ", " : "{") + name + ": {site: s" + std::to_string(number(0, sites - 1)) +
              ", type: {name: box, nic: " + one_of({"1 Gbps", "25 Gbps"}) + ", peer_to_peer: " + one_of({"yes", "no"}) +
              ", device_latency: 20 us, tcp: {net.ipv4.tcp_rmem: 6 MiB, net.ipv4.tcp_wmem: 4 MiB, copy_rate: " +
              one_of({"0.5 GB/s", "3 GB/s"}) + "}}, gpus: [";
      for (int g = 0; g < gpus; ++g) {
        vms_ += (g > 0 ? ", " : "") + (one_type ? gpu : one_of(kGpus));
        devices_.push_back(name + "/" + std::to_string(g));
      }
      vms_ += "]}";
    }
    vms_ += "}";
    batch_ = number(2, 4) * 2;
    training_ = "control_round_trips: " + one_of({"0", "4", "60"}) + ", rematerialisation: " + one_of({"yes", "no"});
    more_ = "techniques: {" + techniques() + "}\ngroups: " + groups() +
            "\nsoftware: {usable_memory: " + one_of({"0.9", "0.06"}) + ", framework_memory: 0.5 GiB}";
  }

  Cluster cluster() const {
    return {"drawn", sites_.c_str(), vms_.c_str(), links_.c_str(), more_.c_str(), batch_, training_.c_str()};
  }

 private:
  static inline const std::vector<std::string> kGpus = {"a30", "t4", "rtx6000", "a100-40"};

  int number(int least, int most) {  // the library's distributions differ between implementations
    return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
  }
  std::string one_of(const std::vector<std::string>& values) {
    return values[static_cast<std::size_t>(number(0, static_cast<int>(values.size()) - 1))];
  }

  std::string techniques() {
    const std::vector<std::vector<std::string>> all = {
        {"Data: {}", "Data: {micro_batches: 2}", "Data: {batch_split: speed}"},
        {"ZeRO2: {}", "ZeRO2: {gradient_collective: all-reduce, startup: 3 s}"},
        {"Shard: {}", "Shard: {micro_batches: 2, tensor: 1}", "Shard: {planner: slmsim}"},
        {"Pipeshard: {}", "Pipeshard: {stages: auto}", "Pipeshard: {schedule: gpipe, split: speed}"},
        {"DDP: {}", "DDP: {bucket: 4 MiB}"},
        {"ZeRO-1: {}"},
        {"ZeRO-3: {startup: 2 s}"},
        {"Megatron: {}", "Megatron: {tensor: 1, data: 1, pipeline: 1}"},
        {"LocalSGD: {inner_steps: 10}"}};
    std::string out;
    for (const auto& variants : all) {
      if (number(0, 2) == 0) out += (out.empty() ? "" : ", ") + one_of(variants);
    }
    return out.empty() ? "Shard: {}" : out;
  }

  std::string groups() {
    std::string own;
    for (const auto& device : devices_) {
      if (number(0, 1) == 1) own = device + (own.empty() ? "" : ", ") + own;  // the last one first
    }
    return own.empty() ? one_of({"all", "[all, each]"}) : "[" + one_of({"all", "each"}) + ", [" + own + "]]";
  }

  std::mt19937 random_;
  std::string sites_, vms_, links_, training_, more_;
  int batch_ = 0;
  std::vector<std::string> devices_;
};

TEST(NeverWorse, ThanEachRowOfRunOfItsKind) {
  for (const unsigned seed : {8u, 14u}) expect_never_worse(ClusterFile(RandomCluster(seed).cluster()), {}, 1);
}

TEST(NeverWorse, ListsTechniquesThatAreEqualOnOneGpuOnce) {
  const ClusterFile file(
      {"alone", "{lab: {}}", "{a: {site: lab, type: fabric-vm, gpus: [t4]}}", "{}", "techniques: [Data, Shard]"});
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  const OperatorGraph operators = build_operator_graph(space.model());
  const SearchResult found = found_with(space, 0);
  ASSERT_FALSE(found.best.empty());
  const RankedChoice& best = found.best.front();
  EXPECT_EQ(space.base(space.choice(best.choice)).technique->name, std::string("Data"));
  EXPECT_THAT(best.alike, testing::Contains(testing::Truly([&](std::size_t other) {
                return space.base(space.choice(other)).technique->name == std::string("Shard");
              })));
  for (const std::size_t other : best.alike) {
    const Seconds job = measure(space, operators, space.choice(other), PlanObjective::kTime).job;
    EXPECT_NEAR(job.value, best.cost, kRounding * best.cost);
  }
}

class DrawnSlow : public testing::TestWithParam<unsigned> {};

TEST_P(DrawnSlow, ClusterHasNoPlanThatIsWorseThanRun) {
  constexpr double kLittle = 3e5;  // tasks
  const RandomCluster drawn(GetParam());
  const ClusterFile file(drawn.cluster());
  for (const double effort : {1.0, kLittle}) expect_never_worse(file, {}, effort);
}

TEST_P(DrawnSlow, ClusterIsNotSimulatedBelowItsBounds) {
  constexpr std::size_t kTried = 60;
  const RandomCluster drawn(GetParam());
  const ClusterFile file(drawn.cluster());
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  const OperatorGraph operators = build_operator_graph(space.model());
  const QuickBound quick(space);
  OutlineBound outline(space);
  for (std::size_t i = 0; i < space.size(); i += std::max<std::size_t>(1, space.size() / kTried)) {
    const Choice choice = space.choice(i);
    if (assess(space, operators, choice, PlanObjective::kTime).status != Status::kOk) continue;
    const Measurement measured = measure(space, operators, choice, PlanObjective::kTime);
    const Seconds step = outline.step(i, quick.step_within(i, measured.job));
    EXPECT_LE(quick.job(i, step).value, measured.job.value * (1 + kRounding))
        << group_text(space.group(choice).names) << ": " << space.describe(choice);
  }
}

INSTANTIATE_TEST_SUITE_P(Of40, DrawnSlow, testing::Range(1u, 41u));

}  // namespace
}  // namespace slmsim::never_worse_test
