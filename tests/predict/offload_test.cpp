// Bytes that offload moves where gradients are summed over micro-batches, by hand, per parameter in fp16.
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/predict/predict.h"
#include "tests/named.h"

namespace slmsim::offload_test {
namespace {

struct Case {
  Scenario scenario;
  Prediction prediction;
  double parameters = 0, trained = 0, embedding = 0;

  // Per parameter, of all links of a kind in the node.
  double bytes(const std::string& interconnect) const {
    for (const auto& use : prediction.interconnects) {
      if (use.interconnect == interconnect) return use.bytes.value / parameters;
    }
    ADD_FAILURE() << "no " << interconnect;
    return 0;
  }
  double host() const {
    double sum = 0;
    for (const auto& store : prediction.stores) {
      if (!store.drive) sum += store.used.value;
    }
    return sum / parameters;
  }
};

// Four A100 with NVLink, each with a way to host memory; 16 sequences per GPU.
Case of(const std::string& name, const std::string& technique, int micro_batches, bool adapters = false) {
  Case out;
  std::vector<std::string> overrides = {"training.batch=64", "models.0.layers=8"};
  if (adapters) overrides.emplace_back("training.lora={rank: 16, targets: [query, value, up, down]}");
  out.scenario = load_scenario(std::string(SLMSIM_SOURCE_DIR) + "/scenarios/" + name + ".yaml", overrides);
  out.scenario.training.gradient_accumulation = micro_batches;
  out.prediction = predict(out.scenario, {.links = true, .only = named(technique), .ignore_memory = true}).front();
  EXPECT_EQ(out.prediction.status, Status::kOk) << out.prediction.reason;
  const OperatorGraph operators = build_operator_graph(out.scenario.models.front());
  out.parameters = parameter_count(operators);
  out.trained = trained_count(operators);
  out.embedding = operators[0].weights;
  return out;
}

// A ring's collective of a buffer of 2 bytes per parameter, on both ends of NVLink: four GPUs send 3/4 of it each.
constexpr double kCollective = 4 * 0.75 * 2 * 2;

TEST(Offload, Stage2AddsUpInHostMemoryByWayOfTheGpu) {
  // The gradients of each micro-batch go to the host, 2 bytes; from the second on the sums come first; parameters come back.
  for (const int n : {1, 2, 4}) {
    const Case c = of("xe8545-1", "ZeRO-2-CPU", n);
    const double over_pcie = 2.0 * n + 2.0 * (n - 1) + 2;
    EXPECT_NEAR(c.bytes("PCIe-GPU"), over_pcie, 1e-3 * over_pcie) << n;
    // The CPU's Adam moves 51 bytes of host memory, once.
    EXPECT_NEAR(c.bytes("DRAM"), 51 + over_pcie, 1e-2 * (51 + over_pcie)) << n;
    // A reduce-scatter per micro-batch, and a gather.
    EXPECT_NEAR(c.bytes("NVLink"), (n + 1) * kCollective, 1e-2 * kCollective * (n + 1)) << n;
  }
}

TEST(Offload, Stage1AddsUpOnTheGpuAndFetchesTheEmptySumsOnce) {
  for (const int n : {1, 2, 4}) {
    const Case c = of("xe8545-1", "ZeRO-1-CPU", n);
    const double over_pcie = n == 1 ? 2 + 2 : 2 + 2 + 2;
    EXPECT_NEAR(c.bytes("PCIe-GPU"), over_pcie, 1e-3 * over_pcie) << n;
    // One all-reduce, which is two collectives, and a gather.
    EXPECT_NEAR(c.bytes("NVLink"), 3 * kCollective, 3e-2 * kCollective) << n;
  }
}

TEST(Offload, Stage3GathersParametersForEachMicroBatch) {
  for (const int n : {1, 2, 4}) {
    const Case c = of("xe8545-1", "ZeRO-3-CPU", n);
    const double over_pcie = 2.0 * n + 2.0 * (n - 1) + 2;
    EXPECT_NEAR(c.bytes("PCIe-GPU"), over_pcie, 1e-3 * over_pcie) << n;
    // Gathered and reduce-scattered; fewer than live_parameters stay between the passes.
    ASSERT_LT(2 * (c.parameters - c.embedding), 1e9);
    EXPECT_NEAR(c.bytes("NVLink"), 2 * n * kCollective, 1e-3 * n * kCollective) << n;
  }
}

TEST(Offload, DrivesAreReadForEachMicroBatchWhereParametersLieThere) {
  for (const int n : {1, 2}) {
    // State: 12 bytes read and 12 written, once.
    EXPECT_NEAR(of("xe8545-nvme-d", "Infinity", n).bytes("PCIe-NVMe"), 24, 0.05) << n;
    // Parameters: 2 bytes read for each micro-batch, whose passes share them, and written once.
    EXPECT_NEAR(of("xe8545-nvme-d", "Infinity-P", n).bytes("PCIe-NVMe"), 24 + 2 * n + 2, 0.1) << n;
  }
}

TEST(Offload, MovesGradientsAndStateOfAdaptersOnly) {
  for (const int n : {1, 2}) {
    const double over_pcie = 2.0 * n + 2.0 * (n - 1) + 2;
    for (const char* technique : {"ZeRO-2-CPU", "ZeRO-3-CPU"}) {
      const Case c = of("xe8545-1", technique, n, true);
      ASSERT_LT(c.trained, 0.02 * c.parameters);
      EXPECT_NEAR(c.bytes("PCIe-GPU") * c.parameters / c.trained, over_pcie, 1e-2 * over_pcie) << technique << n;
    }
    // Parameters are read all the same; few are written.
    const Case drives = of("xe8545-nvme-d", "Infinity-P", n, true);
    const double read = drives.bytes("PCIe-NVMe") - 26 * drives.trained / drives.parameters;
    EXPECT_NEAR(read, 2.0 * n, 1e-3 * read);
  }
}

TEST(Offload, SumsTakeHostMemory) {
  for (const char* technique : {"ZeRO-2-CPU", "ZeRO-3-CPU"}) {
    const double once = of("xe8545-1", technique, 1).host();
    EXPECT_NEAR(of("xe8545-1", technique, 4).host() - once, 2, 1e-6) << technique;
  }
}

}  // namespace
}  // namespace slmsim::offload_test
