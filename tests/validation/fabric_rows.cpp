#include "tests/validation/fabric_rows.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "sim/base/csv.h"
#include "sim/base/text.h"

namespace slmsim {
namespace {

const std::vector<std::string> kFabricColumns = {"slice",     "gpus",    "n_gpus",         "model",
                                           "technique", "minutes", "tflops_per_gpu", "status"};

// Half a unit of the last digit, at least the noise of repeated runs.
double rounding(double figure, double unit) { return std::max(kUsualNoise, unit / 2 / figure); }

}  // namespace

std::string FabricRow::scenario() const { return lower_case(slice); }

std::vector<Pilot> FabricRow::pilots(const Candidate& candidate) const {
  std::vector<Pilot> out;
  if (minutes) out.push_back({candidate, Measure::kJob, *minutes * 60, rounding(*minutes, 1)});
  if (tflops_per_gpu)
    out.push_back({candidate, Measure::kRate, *tflops_per_gpu * kTera, rounding(*tflops_per_gpu, 0.01)});
  if (out.empty()) out.push_back({candidate, Measure::kFits, fits() ? 1.0 : 0.0, kUsualNoise});
  return out;
}

std::vector<FabricRow> read_fabric_rows(const std::filesystem::path& reference) {
  std::vector<FabricRow> out;
  for (const auto& row : read_csv_table(reference, kFabricColumns, "tests/reference/fabric.csv")) {
    const auto count = parse_number(row.at("n_gpus"));
    out.push_back({row.at("slice"), row.at("gpus"), static_cast<int>(count.value_or(0)), row.at("model"),
                   row.at("technique"), parse_number(row.at("minutes")), parse_number(row.at("tflops_per_gpu")),
                   row.at("status")});
  }
  return out;
}

std::optional<Candidate> candidate_of(const FabricRow& row, const Scenario& scenario) {
  const std::string type = lower_case(row.gpus.substr(row.gpus.find('x') + 1));
  for (const auto& candidate : candidates_of(scenario)) {
    if (candidate.model != row.model || candidate.technique != row.technique) continue;
    const auto group = std::find_if(scenario.groups.begin(), scenario.groups.end(),
                                    [&](const Group& g) { return g.names == candidate.group; });
    if (static_cast<int>(group->devices.size()) != row.gpu_count) continue;
    const Device& first = scenario.platform.devices[group->devices.front()];
    if (row.two_vms() || first.gpu.name.starts_with(type)) return candidate;
  }
  return std::nullopt;
}

}  // namespace slmsim
