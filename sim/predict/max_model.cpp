#include "sim/predict/max_model.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/predict/advice.h"
#include "sim/technique/technique.h"

namespace slmsim {
namespace {

class Search {
 public:
  Search(const Scenario& scenario, const Transformer& model, const Group& group, const TechniqueOptions& options)
      : scenario_(scenario), model_(model), group_(group), options_(options) {}

  LargestModel run() {
    LargestModel out;
    out.model = model_.name;
    out.technique = options_.technique;
    out.group = group_.names;
    // Planners that cut layers into stages need some.
    constexpr std::int64_t kFewLayers = 1024;
    std::int64_t fits = 1, too_many = (kMostLayers - layers_at(1)) / (layers_at(2) - layers_at(1)) + 2;
    Trial trial = try_layers(layers_at(1), nullptr);
    const std::string of_fewest = trial.problem;
    while (!trial.has_plan && fits < std::min(kFewLayers, too_many)) trial = try_layers(layers_at(fits *= 2), nullptr);
    if (!trial.problem.empty()) {
      out.limit = trial.has_plan ? trial.problem : of_fewest;
      return out;
    }
    // Planning takes longer the more layers there are, so none far beyond the answer is tried.
    while (fits * 2 < too_many && try_layers(layers_at(fits * 2), nullptr).problem.empty()) fits *= 2;
    too_many = std::min(too_many, fits * 2);
    while (too_many - fits > 1) {
      const std::int64_t middle = fits + (too_many - fits) / 2;
      (try_layers(layers_at(middle), nullptr).problem.empty() ? fits : too_many) = middle;
    }
    out.layers = layers_at(fits);
    try_layers(out.layers, &out);  // once more, for what it holds
    out.limit = layers_at(too_many) > kMostLayers ? "nothing below the most layers looked at"
                                                  : try_layers(layers_at(too_many), nullptr).problem;
    return out;
  }

 private:
  // A pipeline's layers must divide into its stages.
  std::int64_t layers_at(std::int64_t k) const {
    return options_.technique->layers_at ? options_.technique->layers_at(options_, k) : k;
  }

  struct Trial {
    bool has_plan = false;
    std::string problem;  // empty where so many layers fit
  };
  Trial try_layers(std::int64_t layers, LargestModel* out) {
    if (!out) {
      if (const auto known = trials_.find(layers); known != trials_.end()) return known->second;
    }
    return trials_[layers] = tried(layers, out);
  }

  Trial tried(std::int64_t layers, LargestModel* out) const {
    Transformer model = model_;
    model.layers = layers;
    const OperatorGraph operators = build_operator_graph(model);
    const PlanResult result = make_plan({scenario_, model, operators, group_, options_});
    if (!result.plan) return {false, result.reason};
    const auto memory = memory_of(*result.plan, operators, scenario_);
    const auto stores = stores_of(*result.plan, operators, scenario_);
    if (out) {
      out->parameters = parameter_count(operators);
      out->memory = memory;
      out->stores = stores;
    }
    for (const auto& m : memory) {
      if (!m.fits())
        return {true,
                fmt::format("memory of {}, most of it {}",
                            scenario_.platform.devices[static_cast<std::size_t>(m.device)].name, largest_part(m))};
    }
    for (const auto& store : stores) {
      if (!store.fits()) return {true, fmt::format("{} {}", store.drive ? "drives of" : "host memory of", store.name)};
    }
    return {true, ""};
  }

  std::map<std::int64_t, Trial> trials_;  // by layers
  const Scenario& scenario_;
  const Transformer& model_;
  const Group& group_;
  const TechniqueOptions& options_;
};

}  // namespace

std::vector<LargestModel> largest_models(const Scenario& scenario, const Technique* only) {
  std::vector<LargestModel> out;
  for (const auto& model : scenario.models) {
    for (const auto& group : scenario.groups) {
      for (const auto& options : scenario.techniques) {
        if (!only || only == options.technique) out.push_back(Search(scenario, model, group, options).run());
      }
    }
  }
  return out;
}

}  // namespace slmsim
