#include "sim/validate/deepspeed_facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/csv_table.h"
#include "sim/base/quantity.h"
#include "sim/predict/max_model.h"
#include "sim/predict/predict.h"
#include "sim/validate/study.h"

namespace slmsim {
namespace {

// The study's names of its configurations: the technique, as slmsim list techniques has
// it, and where the drives are (Table VI; one drive is A, two are B).
struct Config {
  const char* name;
  const char* technique;
  const char* placement;  // "": the node's own storage
};
constexpr std::array kConfigs = {
    Config{"DDP", "DDP", ""},
    Config{"Megatron-LM", "Megatron", ""},
    Config{"ZeRO-1", "ZeRO-1", ""},
    Config{"ZeRO-2", "ZeRO-2", ""},
    Config{"ZeRO-3", "ZeRO-3", ""},
    Config{"ZeRO-1 (CPU)", "ZeRO-1-CPU", ""},
    Config{"ZeRO-2 (CPU)", "ZeRO-2-CPU", ""},
    Config{"ZeRO-3 (CPU)", "ZeRO-3-CPU", ""},
    Config{"ZeRO-3 (1xNVMe opt)", "Infinity", "a"},
    Config{"ZeRO-3 (2xNVMe opt)", "Infinity", "b"},
    Config{"ZeRO-3 (1xNVMe opt+param)", "Infinity-P", "a"},
    Config{"ZeRO-3 (2xNVMe opt+param)", "Infinity-P", "b"},
    Config{"ZeRO-3 (NVMe placement A)", "Infinity", "a"},
    Config{"ZeRO-3 (NVMe placement B)", "Infinity", "b"},
    Config{"ZeRO-3 (NVMe placement C)", "Infinity", "c"},
    Config{"ZeRO-3 (NVMe placement D)", "Infinity", "d"},
    Config{"ZeRO-3 (NVMe placement E)", "Infinity", "e"},
    Config{"ZeRO-3 (NVMe placement F)", "Infinity", "f"},
    Config{"ZeRO-3 (NVMe placement G)", "Infinity", "g"},
};

constexpr double kBillion = 1e9;

class Predictor {
 public:
  explicit Predictor(std::filesystem::path root) : root_(std::move(root)) {}

  void fill(DeepSpeedFact& fact, const Config& config) {
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
      if (use.interconnect == link) sum += use.average.value / kGiga;
    }
    if (!link.empty()) fact.predicted = sum / fact.nodes;
  }

  std::vector<Parameter> fitted() const {
    std::vector<const Scenario*> used;
    for (const auto& [key, scenario] : scenarios_) used.push_back(&scenario);
    return fitted_values(used);
  }

  // "bw_NVLink_avg" -> "NVLink"; empty for other metrics.
  static std::string link_of(const std::string& metric) {
    const std::string begin = "bw_", end = "_avg";
    if (!metric.starts_with(begin) || !metric.ends_with(end)) return "";
    return metric.substr(begin.size(), metric.size() - begin.size() - end.size());
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

  const Prediction& prediction_of(const Scenario& scenario, const DeepSpeedFact& fact, const Config& config) {
    const auto [at, is_new] = predictions_.try_emplace({fact.nodes, config.placement, config.technique, fact.size});
    if (!is_new) return at->second;
    Scenario sized = scenario;
    sized.models = {scenario.models.front()};
    sized.models.front().layers = layers_of_size(fact.size, sized.models.front());
    // What was measured did fit; how much fits is a fact of its own.
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
  std::vector<Judged> cells;
  for (const auto& fact : facts) {
    if (belongs(fact.metric)) cells.push_back(fact.judged());
  }
  return summary_of(cells);
}

bool is_throughput(const std::string& metric) { return metric == "throughput"; }
bool is_size(const std::string& metric) { return metric == "max_model_size"; }
bool is_link(const std::string& metric) { return !Predictor::link_of(metric).empty(); }

}  // namespace

std::int64_t layers_of_size(double billions, const Transformer& model) {
  constexpr double kPositions = 1024;
  const double h = static_cast<double>(model.hidden);
  const double outside = (static_cast<double>(model.vocabulary) + kPositions) * h;
  return std::max<std::int64_t>(1, std::llround((billions * kBillion - outside) / (12 * h * h + 13 * h)));
}

DeepSpeedValidation validate_deepspeed(const std::filesystem::path& root, const std::filesystem::path& reference) {
  static const std::vector<std::string> kColumns = {"config", "nodes", "model_size_B", "metric", "value", "unit"};
  Predictor predictor(root);
  DeepSpeedValidation out;
  for (const auto& row : read_csv_table(reference, kColumns, "tests/reference/deepspeed.csv")) {
    const auto config =
        std::find_if(kConfigs.begin(), kConfigs.end(), [&](const Config& c) { return row.at("config") == c.name; });
    const std::string& metric = row.at("metric");
    const bool known = metric == "iteration_time" || is_throughput(metric) || is_size(metric) || is_link(metric);
    const auto nodes = parse_number(row.at("nodes")), value = parse_number(row.at("value")),
               size = parse_number(row.at("model_size_B"));
    if (config == kConfigs.end() || !known || !nodes || !value || !size) continue;
    DeepSpeedFact fact{.config = row.at("config"),
                       .metric = metric,
                       .unit = row.at("unit"),
                       .nodes = static_cast<int>(*nodes),
                       .size = *size,
                       .measured = *value,
                       .predicted = {},
                       .reason = ""};
    predictor.fill(fact, *config);
    out.facts.push_back(std::move(fact));
  }
  out.throughput = summarise(out.facts, is_throughput);
  out.largest = summarise(out.facts, is_size);
  out.links = summarise(out.facts, is_link);
  out.fitted = predictor.fitted();
  return out;
}

}  // namespace slmsim
