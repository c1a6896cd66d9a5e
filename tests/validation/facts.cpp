#include "tests/validation/facts.h"

#include <algorithm>
#include <map>

#include "tests/validation/study.h"

namespace slmsim {
namespace {

FactSummary summarise(const std::vector<Fact>& facts) {
  FactSummary summary;
  std::vector<Comparison> minutes;
  for (const auto& fact : facts) {
    ++summary.status_cells;
    summary.status_agree += fact.status_agrees() ? 1 : 0;
    if (fact.model == "gpt2m" && fact.two_vms() && fact.minutes) minutes.push_back(*fact.minutes_judged());
  }
  summary.minutes = summary_of(minutes);
  return summary;
}

std::optional<Comparison> cell(const Prediction& prediction, std::optional<double> published, double predicted) {
  if (!published) return std::nullopt;
  return Comparison{*published, prediction.status == Status::kOk ? std::optional(predicted) : std::nullopt};
}

}  // namespace

std::optional<Comparison> Fact::minutes_judged() const { return cell(prediction, minutes, prediction.job.value / 60); }

std::optional<Comparison> Fact::rate_judged() const {
  return cell(prediction, tflops_per_gpu, prediction.rate_per_gpu.value / kTera);
}

bool Fact::status_agrees() const { return fits() != (prediction.status == Status::kOutOfMemory); }

Validation validate_fabric(const std::filesystem::path& root, const std::filesystem::path& reference,
                           const Overrides& overrides) {
  struct Slice {
    Scenario scenario;
    std::vector<Prediction> predictions;
  };
  std::map<std::string, Slice> slices;
  std::vector<const Scenario*> used;
  Validation out;
  for (const auto& row : read_fabric_rows(reference)) {
    const std::string name = row.scenario();
    if (!slices.contains(name)) {
      Slice slice{load_scenario(root / "scenarios" / (name + ".yaml"), overrides), {}};
      slice.predictions = predict(slice.scenario);
      used.push_back(&slices.emplace(name, std::move(slice)).first->second.scenario);
    }
    const Slice& slice = slices.at(name);
    const auto run = candidate_of(row, slice.scenario);
    const auto at = std::find_if(slice.predictions.begin(), slice.predictions.end(), [&](const Prediction& p) {
      return run && p.model == run->model && p.technique->name == run->technique && p.group == run->group;
    });
    if (at != slice.predictions.end()) out.facts.push_back({row, *at});
  }
  out.summary = summarise(out.facts);
  out.fitted = fitted_values(used);
  return out;
}

}  // namespace slmsim
