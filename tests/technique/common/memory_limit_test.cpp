// The memory limit of the intra-operator planner, and meshes of two axes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/collective/nccl_rules.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/alpa/planner/intra_operator.h"
#include "sim/technique/common/memory.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::memory_limit_test {
namespace {

// A model that Shard's planner replicates on GPUs that are far apart, as computing costs nothing and a message 1 s.
struct World {
  Scenario scenario = small_scenario(4, 1);
  Transformer model = small_model(3);
  OperatorGraph operators;
  TechniqueOptions options = with(named("Shard"), 2);

  World() {
    model.vocabulary = 104;
    model.heads = model.kv_heads = 4;
    operators = build_operator_graph(model);
    scenario.training.batch = 2;
    scenario.platform.devices[0].gpu.memory_bandwidth = BytesPerSecond{1e15};
    for (auto& device : scenario.platform.devices) device.gpu = scenario.platform.devices[0].gpu;
    for (auto& link : scenario.platform.links) link.forward.delay = link.backward.delay = Seconds{1};
    scenario.nccl.buffer = Bytes{100};
    options.set(kPlanner, Planner::kSlmsim);
  }
  Plan plan() const { return plan_of(scenario, model, operators, options); }
  double total(const Plan& plan) const {
    double most = 0;
    for (const auto& m : memory_of(plan, operators, scenario)) most = std::max(most, m.total().value);
    return most;
  }
};

TEST(MemoryLimit, MakesTheFastestPlanGiveWay) {
  World world;
  const double free = world.total(world.plan());
  EXPECT_EQ(bytes_over(lowered(world.plan(), world.operators, world.scenario), ""), 0);  // all replicated
  world.scenario.platform.devices[0].gpu.memory = Bytes{0.6 * free};
  for (auto& device : world.scenario.platform.devices) device.gpu = world.scenario.platform.devices[0].gpu;
  const Plan smaller = world.plan();
  EXPECT_LE(world.total(smaller), 0.6 * free);
  EXPECT_GT(bytes_over(lowered(smaller, world.operators, world.scenario), ""), 0);
}

TEST(MemoryLimit, ThatNothingMeetsIsToldWithWhatIsNeeded) {
  World world;
  world.options.set(kMemoryLimit, Bytes{1000});
  Group group;
  group.devices = {0, 1, 2, 3};
  const auto result = make_plan({world.scenario, world.model, world.operators, group, world.options});
  EXPECT_FALSE(result.plan.has_value());
  EXPECT_THAT(result.reason, testing::HasSubstr("no division of the operators fits into 1000 B per GPU; they need"));
}

TEST(MemoryLimit, CountsWhatMemoryOfCounts) {
  // The program's use of each operator, summed, is parameters, gradients, optimizer, activations and fused gradients.
  World world;
  const Training& training = world.scenario.training;
  for (const MeshShape shape : {MeshShape{4, 1}, MeshShape{2, 2}}) {
    for (const double sequences : {1.0, 4.0}) {
      const IntraOperatorRequest request{
          world.operators,   0,         boost::num_vertices(world.operators), shape, sequences, training,
          alpa_costs(shape), Bytes{1e9}};
      const DivisionProgram built = division_program(request, false);
      const ChoiceResult result = solve(built.program, Seconds{60});
      double use = 0;
      Stage stage{0, boost::num_vertices(world.operators), {0, 1, 2, 3}, {}, std::vector<double>(4, 0.25), shape[1]};
      for (std::size_t v = 0; v < built.choice_of.size(); ++v) {
        const std::size_t choice = built.choice_of[v];
        use += built.program.budgets[0].use[choice][result.options[choice]];
        stage.shardings.push_back(built.divisions[choice][result.options[choice]]);
      }
      Plan plan;
      plan.stages = {stage};
      Scenario scenario = world.scenario;
      scenario.training.batch = static_cast<int>(sequences);
      const DeviceMemory memory = memory_by_operators(plan, world.operators, scenario)[0];
      const double channels =
          2.0 * nccl_channels(scenario.nccl, nccl_view(scenario.platform, stage.mesh)) * scenario.nccl.buffer.value;
      EXPECT_NEAR(use, memory.total().value - memory.framework.value - channels, 1e-6 * use);
    }
  }
}

TEST(MemoryLimit, PlansAreTheCheapestThatKeepWithinIt) {
  // Up to two layers against the whole integer program; of ten layers against the bound of all prices: a layer too
  // many or too few that is divided the slower way is a tenth of what the limit costs.
  const Training training;
  for (const int layers : {1, 2, 10}) {
    Transformer model = small_model(layers);
    model.heads = model.kv_heads = 4;
    model.vocabulary = 104;
    const OperatorGraph operators = build_operator_graph(model);
    const Scenario scenario = small_scenario(4, 1, 1e4);
    const Network network(scenario.platform);
    for (const MeshShape shape : {MeshShape{4, 1}, MeshShape{2, 2}}) {
      IntraOperatorRequest request{operators,
                                   0,
                                   boost::num_vertices(operators),
                                   shape,
                                   4,
                                   training,
                                   time_costs(scenario, network, {0, 1, 2, 3}, shape, 4, 1)};
      const double free = divide_operators(request).cost;
      for (const double limit : {0.3, 0.5, 0.7, 0.9}) {
        request.memory_limit = Bytes{1e9};
        const auto replicated = division_program(request, false);
        double all = 0;
        for (const auto& use : replicated.program.budgets[0].use) all += use[0];
        request.memory_limit = Bytes{limit * all};
        const auto plan = divide_operators(request);
        ASSERT_FALSE(plan.shardings.empty());
        EXPECT_LE(plan.bound, plan.cost * (1 + 1e-6));
        EXPECT_GE(plan.cost, free * (1 - 1e-6));
        if (layers > 2) {
          EXPECT_LE(plan.cost - plan.bound, 0.1 * plan.bound + 0.1 * (plan.bound - free)) << limit;
          continue;
        }
        const auto whole = solve(division_program(request, false).program, Seconds{60});
        ASSERT_EQ(whole.status, SolveStatus::kOptimal);
        EXPECT_NEAR(plan.cost, whole.cost, 2e-6 * whole.cost);
      }
    }
  }
}

TEST(MemoryLimit, IsRefusedWhereTheWholeProgramHasNoSolutionAndNowhereElse) {
  // The quick bound that nothing is small enough, against the integer program, on both sides of the limit.
  const Training training;
  Transformer model = small_model(2);
  model.heads = model.kv_heads = 4;
  model.vocabulary = 104;
  const OperatorGraph operators = build_operator_graph(model);
  int refused = 0, planned = 0;
  for (const MeshShape shape : {MeshShape{4, 1}, MeshShape{2, 2}}) {
    IntraOperatorRequest request{operators,         0,         boost::num_vertices(operators), shape, 4, training,
                                 alpa_costs(shape), Bytes{1e9}};
    const DivisionProgram replicated = division_program(request, false);
    double all = 0;
    for (const auto& use : replicated.program.budgets[0].use) all += use[0];
    for (double limit = 0.1; limit < 0.4; limit *= 1.06) {
      request.memory_limit = Bytes{limit * all};
      const bool none = divide_operators(request).shardings.empty();
      const auto whole = solve(division_program(request, false).program, Seconds{60});
      EXPECT_EQ(none, whole.status == SolveStatus::kInfeasible) << shape[0] << " x " << shape[1] << ", " << limit;
      ++(none ? refused : planned);
    }
  }
  EXPECT_GT(refused, 2);
  EXPECT_GT(planned, 2);
}

TEST(TwoAxes, SendWhatTheirDivisionsSay) {
  // 2 VMs x 2 GPUs, 2 sequences: one per VM, operators divided inside. Per layer and VM 4 all-reduces of S h = 160
  // elements of 2 B over 2 ranks: 320 B by each of 2 GPUs. Between the VMs only gradients.
  Scenario scenario = small_scenario(2, 2);
  scenario.training.batch = 2;
  Transformer model = small_model(2, false);
  const OperatorGraph operators = build_operator_graph(model);
  TechniqueOptions options = with(named("Shard"), 1);
  options.set(kMesh, {2, 2});
  const Plan plan = plan_of(scenario, model, operators, options);
  const Stage& stage = plan.stages[0];
  EXPECT_EQ(stage.shape(), (MeshShape{2, 2}));
  for (std::size_t v = 0; v < stage.shardings.size(); ++v) {
    EXPECT_EQ(stage.shardings[v].along[0], Sharding::kBatch);
    if (operators[v].role == Role::kQkv) {
      EXPECT_EQ(stage.shardings[v].along[1], Sharding::kColumn);
    }
  }
  const TaskGraph graph = lowered(plan, operators, scenario);
  const double gradients = bytes_over(graph, "all-reduce grads");
  EXPECT_EQ(bytes_over(graph, "", "wan"), gradients);
  double activations = 0;
  for (int layer = 0; layer < 2; ++layer) {
    for (const char* what : {"all-reduce fwd mb0 L", "all-reduce bwd mb0 L"})
      activations += bytes_over(graph, what + std::to_string(layer));
  }
  EXPECT_GE(activations, 2 * 2 * 4 * 320 - 2 * 2 * 320);  // a stretch may begin in the head
  // Weights of products are cut in two, norms (2 h = 32 each, five of them) are whole; each GPU sends its part of the
  // sums to the other VM once: 2 x 1/2.
  double held = 0;
  for (std::size_t v = 0; v < stage.shardings.size(); ++v)
    held += operators[v].weights / (operators[v].kind == OperatorKind::kNorm ? 1 : 2);
  EXPECT_EQ(gradients, 4 * 2 * held);
}

TEST(TwoAxes, ThatDoNotMakeTheGroupAreRefused) {
  Scenario scenario = small_scenario(2, 2);
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  TechniqueOptions options = with(named("Shard"), 1);
  options.set(kMesh, {3, 2});
  Group group;
  group.devices = {0, 1, 2, 3};
  const auto result = make_plan({scenario, model, operators, group, options});
  EXPECT_FALSE(result.plan.has_value());
  EXPECT_EQ(result.reason, "the mesh has 6 GPUs; the group has 4");
}

TEST(TwoAxes, ActivationsThatChangeTheirLayoutAreGatheredAndSentAllToAll) {
  // Two operators in a row on 2 x 2 GPUs: by sequences along both axes, then by columns along the second.
  Scenario scenario = small_scenario(1, 4);
  scenario.training.batch = 4;
  OperatorGraph operators = chain(2);
  boost::add_edge(0, 1, operators);
  Plan plan;
  plan.stages = {{0,
                  2,
                  {0, 1, 2, 3},
                  {Division(Sharding::kBatch, Sharding::kBatch), Division(Sharding::kBatch, Sharding::kColumn)},
                  std::vector<double>(4, 0.25),
                  2}};
  // 4 x 50 elements of 2 B = 400 B, half of it in each row of the mesh: each GPU sends a quarter of that to the other
  // one of its row, forward and back.
  const TaskGraph graph = lowered(plan, operators, scenario);
  EXPECT_EQ(bytes_over(graph, "all-to-all fwd"), 4 * 50);
  EXPECT_EQ(bytes_over(graph, "all-to-all bwd"), 4 * 50);
  // By sequences along the first axis only: the second gathers 200 B per row, half of it from each; back it is cut.
  plan.stages[0].shardings[1] = Division(Sharding::kBatch);
  const TaskGraph gathering = lowered(plan, operators, scenario);
  EXPECT_EQ(bytes_over(gathering, "all-gather fwd"), 4 * 100);
  EXPECT_EQ(bytes_over(gathering, ""), 4 * 100);
}

}  // namespace
}  // namespace slmsim::memory_limit_test
