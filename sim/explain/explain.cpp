#include "sim/explain/explain.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/base/work.h"

namespace slmsim {
namespace {

constexpr double kLeastSaved = 0.01;  // share of an iteration: changes that save less are not listed

class WhatIfSearch {
 public:
  WhatIfSearch(const Scenario& scenario, const ExplainOptions& options)
      : scenario_(scenario), reload_(options.reload), stop_(options.stop) {}

  void try_all(std::size_t model, std::size_t group, std::size_t technique, Explanation& out) {
    if (!reload_) return;
    const Group& now = scenario_.groups[group];
    for (const auto& set : changes_to_try(scenario_, out.prediction, now)) {
      stop_if(stop_);
      const auto& changed = loaded(set);
      if (changed && can_run_stack(*changed, now)) add(set, *changed, model, changed->groups[group], technique, out);
    }
    for (const Group& other : other_orders(scenario_.platform, now)) {
      stop_if(stop_);
      add({fmt::format("groups=[[{}]]", fmt::join(other.names, ", "))}, scenario_, model, other, technique, out);
    }
    std::ranges::stable_sort(out.what_ifs, [](const WhatIf& a, const WhatIf& b) { return a.iteration < b.iteration; });
  }

 private:
  static bool can_run_stack(const Scenario& scenario, const Group& group) {
    return std::ranges::all_of(
        group.devices, [&](int device) { return scenario.software.runs_on(scenario.platform.devices[device].gpu); });
  }

  static void add(const Overrides& set, const Scenario& changed, std::size_t model, const Group& group,
                  std::size_t technique, Explanation& out) {
    const Prediction& now = out.prediction;
    Scenario one = changed;
    one.models = {changed.models[model]};
    one.groups = {group};
    one.techniques = {changed.techniques[technique]};
    const Prediction then = predict(one).front();
    if (then.status == Status::kOk && now.iteration - then.iteration >= now.iteration * kLeastSaved)
      out.what_ifs.push_back({set, then.iteration, then.job});
  }

  const std::optional<Scenario>& loaded(const Overrides& set) {
    const auto [at, is_new] = loaded_.try_emplace(set);
    if (is_new) at->second = reload_(set);
    return at->second;
  }

  const Scenario& scenario_;
  const Reload& reload_;
  const std::function<bool()>& stop_;
  std::map<Overrides, std::optional<Scenario>> loaded_;
};

std::string advice_of(const Explanation& e) {
  if (e.limits.single.empty()) return "Nothing limits it.";
  const Seconds iteration = e.prediction.iteration;
  const auto share = [&](Seconds of) { return fmt::format("{:.0f} % of the time", 100 * (of / iteration)); };
  const Limit& first = e.limits.single.front();
  std::string limit = fmt::format("{}, {}", first.name, share(first.given_back));
  // Where two hide each other, neither helps alone.
  if (!e.limits.pairs.empty() && e.limits.pairs.front().together > first.given_back) {
    const LimitPair& pair = e.limits.pairs.front();
    limit = fmt::format("{} and {} together, {}", pair.first, pair.second, share(pair.together));
  }
  if (e.what_ifs.empty()) return fmt::format("Limited most by {}; no setting tried helps.", limit);
  const WhatIf& best = e.what_ifs.front();
  return fmt::format("Change first: --set {}, {} in place of {} ({:+.0f} %). Limited most by {}.", set_words(best.set),
                     to_text(best.iteration), to_text(iteration), 100 * (best.iteration / iteration - 1), limit);
}

void explain_each(const Scenario& scenario, const ExplainOptions& options, std::vector<Explanation>& out) {
  WhatIfSearch changes(scenario, options);
  std::vector<std::size_t> techniques;
  for (std::size_t i = 0; i < scenario.techniques.size(); ++i) {
    if (!options.only || options.only == scenario.techniques[i].technique) techniques.push_back(i);
  }
  const auto predictions = predict(scenario, {.only = options.only, .stop = options.stop});
  for (std::size_t m = 0; m < scenario.models.size(); ++m) {
    for (std::size_t g = 0; g < scenario.groups.size(); ++g) {
      for (const std::size_t t : techniques) {
        Explanation e;
        e.prediction = predictions[out.size()];
        if (e.prediction.status == Status::kOk) {
          e.limits = find_limits(scenario, scenario.models[m], e.prediction, options.in_depth, [&](std::size_t cases) {
            stop_if(options.stop);
            if (options.on_progress) options.on_progress(out.size(), predictions.size(), cases);
          });
          changes.try_all(m, g, t, e);
          e.advice = advice_of(e);
        }
        out.push_back(std::move(e));
        if (options.on_progress) options.on_progress(out.size(), predictions.size(), 0);
      }
    }
  }
}

}  // namespace

std::string set_words(const std::vector<std::string>& set) {
  std::string out;
  for (const auto& text : set) out += (out.empty() ? "" : " --set ") + shell_word(text);
  return out;
}

std::vector<Explanation> explain(const Scenario& scenario, const ExplainOptions& options) {
  std::vector<Explanation> out;
  try {
    explain_each(scenario, options, out);
  } catch (const Stopped&) {
    if (!options.partial) throw;
  }
  return out;
}

}  // namespace slmsim
