#include "sim/predict/max_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/base/work.h"
#include "sim/compute/operator_graph.h"
#include "sim/platform/network.h"
#include "sim/predict/predict.h"
#include "sim/technique/common/technique.h"

namespace slmsim {
namespace {

class Search {
 public:
  Search(const Scenario& scenario, const Transformer& model, const Group& group, const TechniqueOptions& options)
      : scenario_(scenario), model_(model), group_(group), options_(options) {}

  // `likely`: number of layers that fits on a similar group, or 0. See layers_at().
  LargestModel run(std::int64_t likely) {
    LargestModel out;
    out.model = model_.name;
    out.technique = options_.technique;
    out.group = group_.names;
    // Smallest number for planners that cut layers into stages.
    constexpr std::int64_t kFewLayers = 1024;
    std::int64_t fits = 1, too_many = (kMostLayers - layers_at(1)) / (layers_at(2) - layers_at(1)) + 2;
    Trial trial = try_layers(layers_at(1));
    const std::string of_fewest = trial.problem;
    while (!trial.has_plan && fits < std::min(kFewLayers, too_many)) trial = try_layers(layers_at(fits *= 2));
    if (!trial.problem.empty()) {
      out.limit = trial.has_plan ? trial.problem : of_fewest;
      return out;
    }
    for (const std::int64_t next : {likely, likely + 1}) {
      if (likely > 0 && next > fits && next < too_many)
        (try_layers(layers_at(next)).problem.empty() ? fits : too_many) = next;
    }
    narrow(fits, too_many);
    fits_ = fits;
    out.layers = layers_at(fits);
    const Trial& last = try_layers(out.layers);
    out.parameters = last.parameters;
    out.memory = last.memory;
    out.stores = last.stores;
    // The limiting memory is that of more layers, not that of the listed model.
    out.limit = layers_at(too_many) > kMostLayers
                    ? "nothing up to the most layers tried"
                    : fmt::format("at {} layers {}", layers_at(too_many), try_layers(layers_at(too_many)).problem);
    return out;
  }
  std::int64_t fits() const { return fits_; }

 private:
  // A pipeline's layers must divide evenly into its stages.
  std::int64_t layers_at(std::int64_t k) const {
    return options_.technique->layers_at ? options_.technique->layers_at(options_, k) : k;
  }

  // Narrows a number that fits and one that does not to two neighbours. Memory grows by about the same amount with each layer,
  // so few numbers are tried: planning is slow, and slower with more layers.
  void narrow(std::int64_t& fits, std::int64_t& too_many) {
    constexpr int kGuesses = 8, kTriesAll = 6;
    const std::int64_t all = too_many - 1;
    std::int64_t other = fits, next = fits * 2, step = 1;  // another number whose memory is known
    for (int guess = 1; too_many - fits > 1; ++guess) {
      // Where a planner saves memory only as needed, nearly full memory says nothing: all numbers looked at may fit.
      if (guess == kTriesAll && too_many > all) next = all;
      next = std::clamp(next, fits + 1, too_many - 1);
      const Trial& trial = try_layers(layers_at(next));
      if (trial.problem.empty()) {
        other = std::exchange(fits, next);
        const std::int64_t full = full_at(fits, other);
        next = std::clamp(full, fits + step, fits + leap(fits));
        if (full < next) step *= 2;
      } else {
        too_many = next;
        if (trial.has_plan) other = next;
        next = trial.has_plan ? full_at(fits, other) : middle(fits, too_many);
      }
      if (guess >= kGuesses) next = middle(fits, too_many);
    }
  }

  // Once a planner has begun to save memory, the growth by the last layers says little.
  std::int64_t leap(std::int64_t fits) const {
    const double further = std::clamp(1.5 / trials_.at(layers_at(fits)).fullness - 1, 0.1, 7.0);
    return 1 + static_cast<std::int64_t>(further * static_cast<double>(fits));
  }

  static std::int64_t middle(std::int64_t fits, std::int64_t too_many) {
    if (too_many <= 4 * fits) return fits + (too_many - fits) / 2;
    return static_cast<std::int64_t>(std::sqrt(static_cast<double>(fits) * static_cast<double>(too_many)));
  }

  // Largest number that fits, by linear extrapolation of the fullest memory through these two numbers of layers.
  std::int64_t full_at(std::int64_t fits, std::int64_t other) const {
    const double is = trials_.at(layers_at(fits)).fullness, its = trials_.at(layers_at(other)).fullness;
    const double each = std::max((its - is) / static_cast<double>(other - fits), 1e-12);
    return fits + static_cast<std::int64_t>(std::min((1 - is) / each, 1.0 * kMostLayers));
  }

  struct Trial {
    bool has_plan = false;
    std::string problem;  // empty where this number of layers fits
    double fullness = 0;  // share of the fullest memory, host or drive
    double parameters = 0;
    std::vector<DeviceMemory> memory;
    std::vector<Store> stores;
  };
  const Trial& try_layers(std::int64_t layers) {
    const auto known = trials_.find(layers);
    return known != trials_.end() ? known->second : trials_.emplace(layers, tried(layers)).first->second;
  }

  Trial tried(std::int64_t layers) {
    Transformer model = model_;
    model.layers = layers;
    const OperatorGraph operators = build_operator_graph(model);
    const PlanResult result = make_plan({scenario_, model, operators, group_, options_});
    if (!result.plan) return {false, result.reason};
    Trial out{.has_plan = true,
              .parameters = parameter_count(operators),
              .memory = memory_of(*result.plan, operators, scenario_),
              .stores = stores_of(*result.plan, operators, scenario_)};
    const auto note = [&](double share, const auto& text) {
      out.fullness = std::max(out.fullness, share);
      if (share > 1 && out.problem.empty()) out.problem = text();
    };
    for (const auto& m : out.memory) {
      note(m.needed() / m.limit, [&] {
        return fmt::format("memory of {}, most of it {}", scenario_.platform.devices[m.device].name, largest_part(m));
      });
    }
    for (const auto& store : out.stores) {
      note(store.used / store.limit,
           [&] { return fmt::format("{} {}", store.drive ? "drives of" : "host memory of", store.name); });
    }
    return out;
  }

  std::map<std::int64_t, Trial> trials_;  // by layers
  std::int64_t fits_ = 0;
  const Scenario& scenario_;
  const Transformer& model_;
  const Group& group_;
  const TechniqueOptions& options_;
};

}  // namespace

std::vector<LargestModel> largest_models(const Scenario& scenario, const Technique* only, std::size_t threads) {
  struct Question {
    const Group* group = nullptr;
    std::size_t place = 0;  // in the result
  };
  // Groups of one kind, one after the other: a number that fits on one fits on the next.
  struct GroupSeries {
    const Transformer* model = nullptr;
    const TechniqueOptions* options = nullptr;
    std::vector<Question> questions;
  };
  std::vector<GroupSeries> all;
  std::map<std::tuple<const Transformer*, const TechniqueOptions*, std::vector<int>>, std::size_t> known;
  const MeshKinds kinds(scenario.platform);
  std::size_t count = 0;
  for (const auto& model : scenario.models) {
    for (const auto& group : scenario.groups) {
      for (const auto& options : scenario.techniques) {
        if (only && only != options.technique) continue;
        const auto [at, is_new] = known.try_emplace({&model, &options, kinds.of(group.devices)}, all.size());
        if (is_new) all.push_back({&model, &options, {}});
        all[at->second].questions.push_back({&group, count++});
      }
    }
  }
  std::vector<LargestModel> out(count);
  in_parallel(all.size(), threads, [&](std::size_t i) {
    std::int64_t likely = 0;
    for (const auto& [group, place] : all[i].questions) {
      Search search(scenario, *all[i].model, *group, *all[i].options);
      out[place] = search.run(likely);
      likely = search.fits();
    }
  });
  return out;
}

}  // namespace slmsim
