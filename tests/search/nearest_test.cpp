// The nearest validated cluster: its table against the pages that it is taken from, and distances by hand.
#include "sim/search/nearest.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slmsim::nearest_test {
namespace {

const std::filesystem::path kRoot = SLMSIM_SOURCE_DIR;

std::vector<std::string> lines_of(const std::string& page) {
  std::ifstream file(kRoot / "docs/validation" / page);
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);) out.push_back(line);
  return out;
}

// Magnitudes of all "+3.7 %" of the tables' rows that begin with one of these and have no other digits between the signs.
std::vector<double> errors_of(const std::string& page, const std::vector<std::string>& rows) {
  std::vector<double> out;
  for (const auto& line : lines_of(page)) {
    if (std::none_of(rows.begin(), rows.end(), [&](const auto& row) { return line.starts_with("| " + row); })) continue;
    std::stringstream cells(line);
    for (std::string cell; std::getline(cells, cell, '|');) {
      if (!cell.ends_with(" % ") || (cell[1] != '+' && cell[1] != '-')) continue;
      out.push_back(std::abs(std::stod(cell)) / 100);
    }
  }
  return out;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

const ValidatedCluster& named(const std::string& name) {
  const auto& all = validated_clusters();
  return *std::find_if(all.begin(), all.end(), [&](const auto& c) { return name == c.name; });
}

TEST(Nearest, HasTheMediansOfThePages) {
  const auto expect = [](const char* name, const std::vector<std::string>& rows) {
    const ValidatedCluster& cluster = named(name);
    const auto errors = errors_of(cluster.page, rows);
    ASSERT_FALSE(errors.empty()) << name;
    EXPECT_NEAR(cluster.error, median_of(errors), 0.0006) << name;
  };
  expect("one A40, RTX 6000, V100 or P100", {"Zeus 2023, A40 | BERT", "Zeus 2023, Quadro RTX 6000 | BERT",
                                             "Zeus 2023, V100 PCIe | BERT", "Zeus 2023, P100 PCIe | BERT"});
  expect("one of fifteen GPUs, V100 to H200",
         {"Lambda 2022 and 2024, fp16 | BERT", "Lambda 2022 and 2024, TF32 and fp32 | BERT"});
  expect("one A100 of 80 GB", {"Karpathy's lecture 2024, A100 80 GB | GPT"});
  expect("two RTX 3090 or 4090",
         {"Lambda 2022, 2 GeForce cards | BERT", "Romero's worklog 2025, 2 x RTX 4090 | GPT"});
  expect("8 A100 of 80 GB", {"llm-foundry 2023, 8 x A100 80 GB | 1", "llm-foundry 2023, 8 x A100 80 GB | 30b",
                             "llm-foundry 2023, 8 x A100 80 GB | 3b", "llm-foundry 2023, 8 x A100 80 GB | 350m",
                             "llm-foundry 2023, 8 x A100 80 GB | 7"});
  expect("16 to 64 A100 of 40 GB",
         {"llm-foundry 2023, 16 to 64 x A100 40 GB | 1", "llm-foundry 2023, 16 to 64 x A100 40 GB | 7"});
  expect("8 H100", {"llm-foundry 2023, 8 x H100 | 1", "llm-foundry 2023, 8 x H100 | 3b",
                    "llm-foundry 2023, 8 x H100 | 7b", "llm-foundry 2023, 8 x H100 | 760m"});
  expect("one to four H200", {"KempnerForge 2026, H200 | Llama"});
  expect("64 to 256 H100", {"torchtitan 2024 and 2025, 64 to 256 x H100 at 500 W | Llama"});
  expect("2 to 32 H200", {"KempnerForge 2026, 2 to 32 x H200 | Llama"});
  expect("two GPUs of one FABRIC VM", {"TACC-TACC | 2xRTX |", "GAT-AMST | 2xA30 |"});
  expect("machines with shaped NICs", {"LocalSGD |", "DiLoCo |"});
  for (const std::string where : {"two", "four", "eight"}) {
    const std::string source = "DT-FM 2022, " + where + " regions | ";
    expect(("pipelines of 64 V100 in " + where + " regions").c_str(),
           {source + "Megatron-LM", source + "DeepSpeed, pipeline"});
    expect(("ZeRO-3 on 64 V100 in " + where + " regions").c_str(), {source + "DeepSpeed, ZeRO-3"});
  }
  expect("8 A100 of Selene", {"22 B |"});
  expect("64 to 512 A100 of Selene", {"175 B |", "530 B |", "1 T |"});
}

TEST(Nearest, HasTheErrorsOfSlicesThatNobodyFitted) {
  const auto lines = lines_of("fabric.md");
  const auto begin =
      std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("| slice left out"); });
  ASSERT_NE(begin, lines.end());
  std::vector<double> near, far;
  for (auto line = begin + 2; line != lines.end() && line->starts_with("| "); ++line) {
    std::vector<std::string> cells;
    std::stringstream text(*line);
    for (std::string cell; std::getline(text, cell, '|');) cells.push_back(cell);
    (line->starts_with("| TACC") ? near : far).push_back(std::abs(std::stod(cells[5])) / 100);
  }
  EXPECT_NEAR(named("one FABRIC site over TCP").error, median_of(near), 0.0006);
  EXPECT_NEAR(named("two FABRIC sites over TCP").error, median_of(far), 0.0006);
}

ClusterFeatures inside(const ValidatedCluster& c) {
  return {c.sites, c.rtt.low, c.gpus.low, c.memory.low, c.fabric, c.family, c.parameters.low};
}

TEST(Nearest, IsAtNoDistanceInsideItsRanges) {
  for (const auto& cluster : validated_clusters()) EXPECT_EQ(distance(inside(cluster), cluster), 0) << cluster.name;
}

TEST(Nearest, AddsSquaresOfWhatDiffers) {
  const ValidatedCluster& fabric = named("two FABRIC sites over TCP");  // 57.4 to 103 ms, 4 GPUs
  ClusterFeatures features = inside(fabric);
  features.sites = 3;
  EXPECT_DOUBLE_EQ(distance(features, fabric), 1);
  features.gpus = 40;  // ten times
  EXPECT_DOUBLE_EQ(distance(features, fabric), std::sqrt(2));
  features.rtt = 1049;  // 1 ms + this: ten times 1 ms + 104 ms
  EXPECT_NEAR(distance(features, fabric), std::sqrt(3), 1e-12);
  features.family = TechniqueFamily::kReplicas;
  EXPECT_NEAR(distance(features, fabric), 2, 1e-12);
}

TEST(Nearest, OfTheStudysSliceIsTheStudy) {
  const Scenario scenario = load_scenario(kRoot / "scenarios/gat-amst.yaml", {"models=gpt2m"});
  for (const auto& p : predict(scenario)) {
    const NearestValidated nearest = nearest_validated(scenario, p);
    EXPECT_EQ(nearest.page, "docs/validation/fabric.md");
    EXPECT_EQ(p.gpus == 4, nearest.name == "two FABRIC sites over TCP" && nearest.distance == 0);
  }
}

TEST(Nearest, NamesWhatIsOutsideOfAll) {
  const Scenario scenario =
      load_scenario(kRoot / "docs/examples/5-three-sites/scenario.yaml",
                    {"groups=all", "platform.links.lab-cloud.rtt=600 ms", "platform.links.partner-cloud.rtt=400 ms"});
  const auto predictions = predict(scenario);
  ASSERT_FALSE(predictions.empty());
  EXPECT_THAT(nearest_validated(scenario, predictions.front()).outside, testing::ElementsAre("RTT 600 ms"));
}

}  // namespace
}  // namespace slmsim::nearest_test
