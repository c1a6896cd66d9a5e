#include "sim/validate/facts.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/base/csv_table.h"
#include "sim/base/quantity.h"
#include "sim/validate/study.h"

namespace slmsim {
namespace {

const std::vector<std::string> kColumns = {"slice",     "gpus",    "n_gpus",         "model",
                                           "technique", "minutes", "tflops_per_gpu", "status"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The study's "2xRTX" is a VM of that GPU; four GPUs are both VMs.
bool is_group(const Prediction& p, const Scenario& scenario, const std::string& gpus, int count) {
  if (p.gpus != count) return false;
  if (count > 2) return true;
  const std::string type = lower(gpus.substr(gpus.find('x') + 1));
  const auto device = std::find_if(scenario.platform.devices.begin(), scenario.platform.devices.end(),
                                   [&](const Device& d) { return d.name == p.group.front() + "/0"; });
  return device != scenario.platform.devices.end() && device->gpu.name.starts_with(type);
}

FactSummary summarise(const std::vector<Fact>& facts) {
  FactSummary summary;
  std::vector<Judged> minutes;
  for (const auto& fact : facts) {
    ++summary.status_cells;
    summary.status_agree += fact.status_agrees() ? 1 : 0;
    if (fact.model == "gpt2m" && fact.two_vms() && fact.minutes) minutes.push_back(*fact.minutes_judged());
  }
  summary.minutes = summary_of(minutes);
  return summary;
}

std::optional<Judged> judged(const Prediction& prediction, std::optional<double> published, double predicted) {
  if (!published) return std::nullopt;
  return Judged{*published, prediction.status == Status::kOk ? std::optional(predicted) : std::nullopt};
}

}  // namespace

std::optional<Judged> Fact::minutes_judged() const { return judged(prediction, minutes, prediction.job.value / 60); }

std::optional<Judged> Fact::rate_judged() const {
  return judged(prediction, tflops_per_gpu, prediction.rate_per_gpu.value / kTera);
}

bool Fact::status_agrees() const { return (status == "oom") == (prediction.status == Status::kOutOfMemory); }

Validation validate_fabric(const std::filesystem::path& root, const std::filesystem::path& reference) {
  struct Slice {
    Scenario scenario;
    std::vector<Prediction> predictions;
  };
  std::map<std::string, Slice> slices;
  std::vector<const Scenario*> used;
  Validation out;
  for (const auto& row : read_csv_table(reference, kColumns, "tests/reference/fabric.csv")) {
    const std::string name = lower(row.at("slice"));
    if (!slices.contains(name)) {
      Slice slice{load_scenario(root / "scenarios" / (name + ".yaml")), {}};
      slice.predictions = predict(slice.scenario);
      used.push_back(&slices.emplace(name, std::move(slice)).first->second.scenario);
    }
    const Slice& slice = slices.at(name);
    const int count = static_cast<int>(parse_number(row.at("n_gpus")).value_or(0));
    const auto at = std::find_if(slice.predictions.begin(), slice.predictions.end(), [&](const Prediction& p) {
      return p.model == row.at("model") && p.technique->name == row.at("technique") &&
             is_group(p, slice.scenario, row.at("gpus"), count);
    });
    if (at == slice.predictions.end()) continue;
    out.facts.push_back({row.at("slice"), row.at("gpus"), row.at("model"), row.at("technique"),
                         parse_number(row.at("minutes")), parse_number(row.at("tflops_per_gpu")), row.at("status"),
                         *at});
  }
  out.summary = summarise(out.facts);
  out.fitted = fitted_values(used);
  return out;
}

}  // namespace slmsim
