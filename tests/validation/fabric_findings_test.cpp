// The findings of the FABRIC study (arXiv 2602.02632), against tests/reference/fabric.csv.
#include <algorithm>
#include <map>

#include <gmock/gmock.h>

#include "sim/predict/algorithm.h"
#include "tests/validation/facts.h"
#include "tests/named.h"

namespace slmsim::fabric_findings_test {
namespace {

const std::filesystem::path kRoot = SLMSIM_SOURCE_DIR;
const std::vector<std::string> kSlices = {"tacc-tacc", "utah-gpn", "utah-mass", "bris-star", "gat-amst"};

struct Slice {
  Scenario scenario;
  std::vector<Prediction> predictions;

  const Prediction& of(const Technique* technique, std::size_t vms, const std::string& first_vm = "") const {
    return *std::find_if(predictions.begin(), predictions.end(), [&](const Prediction& p) {
      return p.technique == technique && p.group.size() == vms && (first_vm.empty() || p.group.front() == first_vm);
    });
  }
};

Slice gpt2m_on(const std::string& slice) {
  Slice out;
  out.scenario = load_scenario(kRoot / "scenarios" / (slice + ".yaml"), {"models=gpt2m"});
  out.predictions = predict(out.scenario);
  return out;
}

const Validation& validation() {
  static const Validation result = validate_fabric(kRoot, kRoot / "tests/reference/fabric.csv");
  return result;
}

TEST(FabricFindings, AcrossTwoVmsPipeshardBeatsDataBeatsZero2BeatsShard) {
  for (const auto& name : kSlices) {
    const Slice slice = gpt2m_on(name);
    EXPECT_LT(slice.of(named("Pipeshard"), 2).job, slice.of(named("Data"), 2).job) << name;
    EXPECT_LT(slice.of(named("Data"), 2).job, slice.of(named("ZeRO2"), 2).job) << name;
    EXPECT_LT(slice.of(named("ZeRO2"), 2).job, slice.of(named("Shard"), 2).job) << name;
  }
}

TEST(FabricFindings, InsideOneVmDataOrShardBeatsPipeshard) {
  for (const auto& name : kSlices) {
    const Slice slice = gpt2m_on(name);
    for (const auto& vm : slice.scenario.platform.vms) {
      const Seconds best = std::min(slice.of(named("Data"), 1, vm.name).job, slice.of(named("Shard"), 1, vm.name).job);
      EXPECT_LT(best, slice.of(named("Pipeshard"), 1, vm.name).job) << name << " " << vm.name;
    }
  }
}

TEST(FabricFindings, TwoGpusOfOneVmBeatFourAcrossSites) {
  for (const auto& name : kSlices) {
    const Slice slice = gpt2m_on(name);
    const Selection selection = select_technique(slice.scenario, slice.predictions, Algorithm::kAmended);
    ASSERT_TRUE(selection.technique != nullptr) << name;
    EXPECT_EQ(selection.group.size(), 1u) << name;
  }
}

TEST(FabricFindings, DataOnTheRtxVmIsThePickOfTaccGpnMassAndBris) {
  // At BRIS-STAR the study ran one VM alone, the A30s, where Data was best; the RTXs of the other VM are
  // faster in its own figures (15.74 TFLOP/s per GPU at TACC).
  const std::map<std::string, std::string> vm = {
      {"tacc-tacc", "tacc-rtx"}, {"utah-gpn", "utah"}, {"utah-mass", "utah"}, {"bris-star", "star"}};
  for (const auto& [name, rtx] : vm) {
    const Slice slice = gpt2m_on(name);
    for (const Algorithm algorithm : {Algorithm::kPaper, Algorithm::kAmended}) {
      const Selection selection = select_technique(slice.scenario, slice.predictions, algorithm);
      EXPECT_EQ(selection.technique, named("Data")) << name;
      EXPECT_EQ(selection.group, std::vector<std::string>{rtx}) << name;
    }
  }
}

TEST(FabricFindings, PipeshardDegradesLeastWithLatency) {
  const Slice near = gpt2m_on("tacc-tacc"), far = gpt2m_on("utah-mass");
  const auto slowdown = [&](const Technique* technique) {
    return far.of(technique, 2).job / near.of(technique, 2).job;
  };
  for (const Technique* other : {named("Data"), named("ZeRO2"), named("Shard")})
    EXPECT_LT(slowdown(named("Pipeshard")), slowdown(other));
}

TEST(FabricFindings, Gpt2LAcrossTaccsVmsFitsWithZero2AndNotWithData) {
  const Scenario scenario = load_scenario(kRoot / "scenarios/tacc-tacc.yaml", {"models=gpt2L", "groups=all"});
  std::map<const Technique*, Status> status;
  for (const auto& p : predict(scenario)) status[p.technique] = p.status;
  EXPECT_EQ(status[named("Data")], Status::kOutOfMemory);
  EXPECT_EQ(status[named("ZeRO2")], Status::kOk);
}

TEST(FabricMinutes, AreWithinTheErrorsThatTheProjectPromises) {
  const FactSummary& s = validation().summary;
  EXPECT_EQ(s.minutes.cells, 15);
  EXPECT_LE(s.minutes.mean, 0.15);
  EXPECT_LE(s.minutes.worst, 0.6);  // Pipeshard on GAT-AMST, see docs/validation/fabric.md
}

TEST(FabricMinutes, RestOnAtMostTenFittedValues) { EXPECT_LE(validation().fitted.size(), 10u); }

TEST(FabricMemory, AgreesWithAsManyFactsAsOneBatchSizeCanExplain) {
  // The facts contradict each other for any one batch: a search over batches explained at best 48 of 67.
  const FactSummary& s = validation().summary;
  EXPECT_EQ(s.status_cells, 50);
  EXPECT_GE(static_cast<double>(s.status_agree) / s.status_cells, 48.0 / 67.0);
}

}  // namespace
}  // namespace slmsim::fabric_findings_test
