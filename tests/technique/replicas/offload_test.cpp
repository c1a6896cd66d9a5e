// Offloading on a machine that states its host memory and not its inside.
#include <gmock/gmock.h>

#include "sim/engine/simulate.h"
#include "sim/technique/common/holding.h"
#include "sim/technique/common/memory.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::offload_test {
namespace {

constexpr double kParameters = 8352;  // with 2 layers: 2 x 3280 + 1792

struct World {
  Scenario scenario = small_scenario(1, 1);
  Transformer model = small_model(2);
  OperatorGraph operators = build_operator_graph(model);

  explicit World(double pcie, Bytes memory = Bytes{64 * kGibi}) {
    scenario.training.precision = scenario.training.gradient_precision = Precision::kFp16;
    scenario.framework.cpu_adam_rate = BytesPerSecond{1e18};
    VmType& type = scenario.platform.vms[0].type;
    type.host_memory = memory;
    type.host_memory_rate = BytesPerSecond{1e18};
    Gpu& gpu = scenario.platform.devices[0].gpu;
    gpu.pcie = BytesPerSecond{pcie};
    gpu.memory_bandwidth = BytesPerSecond{1e18};
  }
  Plan plan(const std::string& techniques) const { return plan_of(scenario, model, operators, written(techniques)); }
  double time(const std::string& techniques) const {
    return simulate(lowered(plan(techniques), operators, scenario)).end.value;
  }
};

TEST(Offload, TakesTheTimeOfTheSlot) {
  // Gradients to the host and parameters back, 2 B per parameter each, at 0.78 of the slot's rate; at half the rate as long again.
  const double copies = 4 * kParameters / (0.78 * 1e5);
  const double fast = World(1e5).time("{ZeRO-1-CPU: {}}"), slow = World(5e4).time("{ZeRO-1-CPU: {}}");
  EXPECT_NEAR(slow - fast, copies, 1e-3 * copies);
}

// A single GPU's gradients are complete, and in host memory, before the CPU's Adam begins: its time adds to theirs.
TEST(Offload, UpdatesAfterTheBackwardPass) {
  for (const char* technique :
       {"{ZeRO-1-CPU: {}}", "{ZeRO-2-CPU: {}}", "{ZeRO-3-CPU: {}}", "{FSDP: {cpu_offload: yes}}"}) {
    SCOPED_TRACE(technique);
    World world(1e18);
    const double computed = world.time(technique);
    const auto updated = [&](double share) {
      world.scenario.framework.cpu_adam_rate = BytesPerSecond{kParameters / (share * computed)};
      return world.time(technique) - computed;
    };
    const double once = updated(0.01), twice = updated(0.02);
    EXPECT_GT(once, 0.1 * computed);  // at least ten bytes for each parameter
    EXPECT_NEAR(twice, 2 * once, 1e-3 * once);
  }
}

TEST(Offload, FillsTheHostsMemory) {
  for (const char* technique :
       {"{ZeRO-1-CPU: {}}", "{ZeRO-2-CPU: {}}", "{ZeRO-3-CPU: {}}", "{FSDP: {cpu_offload: yes}}"}) {
    SCOPED_TRACE(technique);
    const World world(1e9);
    const Plan plan = world.plan(technique);
    const auto stores = stores_of(plan, world.operators, world.scenario);
    ASSERT_EQ(stores.size(), 1u);
    EXPECT_EQ(stores[0].name, "a/memory");
    EXPECT_EQ(stores[0].limit, Bytes{64 * kGibi});
    // fp32 master and two moments at the least, and the process's 5 GB.
    EXPECT_GE(stores[0].used.value, 5e9 + 12 * kParameters);
    EXPECT_LE(stores[0].used.value, 5e9 + 24 * kParameters);
    EXPECT_TRUE(fits(plan, world.operators, world.scenario));
    const World small(1e9, Bytes{4e9});
    EXPECT_FALSE(fits(small.plan(technique), small.operators, small.scenario));
  }
}

TEST(Offload, ListsNoHostMemoryThatNothingIsKeptIn) {
  const World world(1e9);
  EXPECT_TRUE(stores_of(world.plan("{ZeRO-2: {}}"), world.operators, world.scenario).empty());
}

}  // namespace
}  // namespace slmsim::offload_test
