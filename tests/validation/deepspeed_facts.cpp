#include "tests/validation/deepspeed_facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/csv.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/predict/max_model.h"
#include "sim/predict/predict.h"
#include "tests/validation/study.h"

namespace slmsim {
namespace {

constexpr std::array kConfigs = {
    DeepSpeedRun{"DDP", "DDP", ""},
    DeepSpeedRun{"Megatron-LM", "Megatron", ""},
    DeepSpeedRun{"ZeRO-1", "ZeRO-1", ""},
    DeepSpeedRun{"ZeRO-2", "ZeRO-2", ""},
    DeepSpeedRun{"ZeRO-3", "ZeRO-3", ""},
    DeepSpeedRun{"ZeRO-1 (CPU)", "ZeRO-1-CPU", ""},
    DeepSpeedRun{"ZeRO-2 (CPU)", "ZeRO-2-CPU", ""},
    DeepSpeedRun{"ZeRO-3 (CPU)", "ZeRO-3-CPU", ""},
    DeepSpeedRun{"ZeRO-3 (1xNVMe opt)", "Infinity", "a"},
    DeepSpeedRun{"ZeRO-3 (2xNVMe opt)", "Infinity", "b"},
    DeepSpeedRun{"ZeRO-3 (1xNVMe opt+param)", "Infinity-P", "a"},
    DeepSpeedRun{"ZeRO-3 (2xNVMe opt+param)", "Infinity-P", "b"},
    DeepSpeedRun{"ZeRO-3 (NVMe placement A)", "Infinity", "a"},
    DeepSpeedRun{"ZeRO-3 (NVMe placement B)", "Infinity", "b"},
    DeepSpeedRun{"ZeRO-3 (NVMe placement C)", "Infinity", "c"},
    DeepSpeedRun{"ZeRO-3 (NVMe placement D)", "Infinity", "d"},
    DeepSpeedRun{"ZeRO-3 (NVMe placement E)", "Infinity", "e"},
    DeepSpeedRun{"ZeRO-3 (NVMe placement F)", "Infinity", "f"},
    DeepSpeedRun{"ZeRO-3 (NVMe placement G)", "Infinity", "g"},
};

constexpr double kBillion = 1e9;

// "bw_NVLink_avg" -> "NVLink"; empty for other metrics.
std::string link_of(const std::string& metric) {
  const std::string begin = "bw_", end = "_avg";
  if (!metric.starts_with(begin) || !metric.ends_with(end)) return "";
  return metric.substr(begin.size(), metric.size() - begin.size() - end.size());
}

class Predictor {
 public:
  explicit Predictor(std::filesystem::path root) : root_(std::move(root)) {}

  void fill(DeepSpeedFact& fact, const DeepSpeedRun& config) {
    const Scenario& scenario = scenario_of(fact.nodes, config.placement);
    if (fact.metric == "max_model_size") {
      const auto largest = largest_models(scenario, find_technique(config.technique));
      if (!largest.empty()) fact.predicted = largest.front().parameters / kBillion;
      return;
    }
    const Prediction& p = prediction_of(scenario, fact, config);
    fact.reason = p.reason;
    if (p.status != Status::kOk) return;
    if (fact.metric == "throughput") fact.predicted = p.rate_per_gpu.value * p.gpus / kTera;
    if (fact.metric == "iteration_time") fact.predicted = p.iteration.value;
    const std::string link = link_of(fact.metric);
    double sum = 0;
    for (const auto& use : p.interconnects) {
      if (lower_case(use.interconnect) == lower_case(link)) sum += use.average.value / kGiga;
    }
    if (!link.empty()) fact.predicted = sum / fact.nodes;
  }

  std::vector<Parameter> fitted() const {
    std::vector<const Scenario*> used;
    for (const auto& [key, scenario] : scenarios_) used.push_back(&scenario);
    return fitted_values(used);
  }

 private:
  const Scenario& scenario_of(int nodes, const std::string& placement) {
    const auto [at, is_new] = scenarios_.try_emplace({nodes, placement});
    if (is_new) {
      Overrides overrides;
      if (!placement.empty()) overrides.push_back("platform=xe8545-nvme-" + placement);
      at->second = load_scenario(root_ / "scenarios" / fmt::format("xe8545-{}.yaml", nodes), overrides);
    }
    return at->second;
  }

  const Prediction& prediction_of(const Scenario& scenario, const DeepSpeedFact& fact, const DeepSpeedRun& config) {
    const auto [at, is_new] = predictions_.try_emplace({fact.nodes, config.placement, config.technique, fact.size});
    if (!is_new) return at->second;
    Scenario sized = scenario;
    sized.models = {scenario.models.front()};
    sized.models.front().layers = layers_of_size(fact.size, sized.models.front());
    // Measured configurations did fit; the largest fitting size is a separate fact.
    auto all = predict(sized, {.links = true, .only = find_technique(config.technique), .ignore_memory = true});
    if (all.empty()) {
      at->second.status = Status::kUnsupported;
      at->second.reason = "the scenario does not name the technique";
    } else {
      at->second = std::move(all.front());
    }
    return at->second;
  }

  std::filesystem::path root_;
  std::map<std::pair<int, std::string>, Scenario> scenarios_;
  std::map<std::tuple<int, std::string, std::string, double>, Prediction> predictions_;
};

ErrorSummary summarise(const std::vector<DeepSpeedFact>& facts, bool (*belongs)(const std::string& metric)) {
  std::vector<Comparison> cells;
  for (const auto& fact : facts) {
    if (belongs(fact.metric)) cells.push_back(fact.judged());
  }
  return summary_of(cells);
}

bool is_throughput(const std::string& metric) { return metric == "throughput"; }
bool is_size(const std::string& metric) { return metric == "max_model_size"; }
bool is_link(const std::string& metric) { return !link_of(metric).empty(); }

}  // namespace

std::int64_t layers_of_size(double billions, const Transformer& model) {
  constexpr double kPositions = 1024;
  const double h = static_cast<double>(model.hidden);
  const double outside = (static_cast<double>(model.vocabulary) + kPositions) * h;
  return std::max<std::int64_t>(1, std::llround((billions * kBillion - outside) / (12 * h * h + 13 * h)));
}

const DeepSpeedRun* deepspeed_run(const std::string& config) {
  const auto at =
      std::find_if(kConfigs.begin(), kConfigs.end(), [&](const DeepSpeedRun& run) { return config == run.config; });
  return at == kConfigs.end() ? nullptr : &*at;
}

std::vector<DeepSpeedFact> read_deepspeed_facts(const std::filesystem::path& reference) {
  static const std::vector<std::string> kColumns = {"config", "nodes", "model_size_B", "metric", "value", "unit"};
  std::vector<DeepSpeedFact> out;
  for (const auto& row : read_csv_table(reference, kColumns, "tests/reference/deepspeed.csv")) {
    const std::string& metric = row.at("metric");
    const bool known =
        metric == "iteration_time" || is_throughput(metric) || is_size(metric) || !link_of(metric).empty();
    const auto nodes = parse_number(row.at("nodes")), value = parse_number(row.at("value")),
               size = parse_number(row.at("model_size_B"));
    if (!deepspeed_run(row.at("config")) || !known || !nodes || !value || !size) continue;
    const auto use = row.find("use");
    out.push_back({.config = row.at("config"),
                   .metric = metric,
                   .unit = row.at("unit"),
                   .use = use == row.end() ? "" : use->second,
                   .nodes = static_cast<int>(*nodes),
                   .size = *size,
                   .measured = *value,
                   .predicted = {},
                   .reason = ""});
  }
  return out;
}

DeepSpeedValidation validate_deepspeed(const std::filesystem::path& root, const std::filesystem::path& reference) {
  Predictor predictor(root);
  DeepSpeedValidation out{read_deepspeed_facts(reference), {}, {}, {}, {}};
  for (auto& fact : out.facts) predictor.fill(fact, *deepspeed_run(fact.config));
  out.throughput = summarise(out.facts, is_throughput);
  out.largest = summarise(out.facts, is_size);
  out.links = summarise(out.facts, is_link);
  out.fitted = predictor.fitted();
  return out;
}

}  // namespace slmsim
