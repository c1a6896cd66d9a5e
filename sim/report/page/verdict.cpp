#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/report/page/page.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

bool runs(const Prediction* p) { return p->status == Status::kOk; }

const Prediction* fastest(const std::vector<const Prediction*>& predictions, const auto& wanted) {
  const Prediction* best = nullptr;
  for (const Prediction* p : predictions) {
    if (runs(p) && wanted(*p) && (!best || p->job < best->job)) best = p;
  }
  return best;
}

const Prediction* of(const ModelReport& report, const std::vector<std::string>& group, const Technique* technique) {
  for (const Prediction* p : report.predictions) {
    if (p->group == group && p->technique == technique) return p;
  }
  return nullptr;
}

int most_gpus(const ModelReport& report) {
  int most = 0;
  for (const Prediction* p : report.predictions) most = std::max(most, p->gpus);
  return most;
}

// "4 % longer", "4.1 times as long".
std::string longer(const Prediction& slow, const Prediction& fast) {
  const double ratio = slow.job / fast.job;
  if (ratio < 2) return fmt::format("{:.0f} % longer", 100 * (ratio - 1));
  return ratio >= 10 ? fmt::format("{:.0f} times as long", ratio) : fmt::format("{:.1f} times as long", ratio);
}

// Words for a plan other than the pick, behind or ahead of it, in the order of Objective.
constexpr std::pair<const char*, const char*> kBehindOrAhead[] = {
    {"longer", "shorter"}, {"more GPU-hours", "fewer GPU-hours"}, {"slower per GPU", "faster per GPU"}};

// Effect of more or fewer GPUs.
std::string more_or_fewer_text(const ModelReport& report, const Prediction& pick) {
  const int most = most_gpus(report);
  if (pick.gpus < most) {
    const Prediction* best = fastest(report.predictions, [&](const Prediction& p) { return p.gpus == most; });
    if (!best) return fmt::format("On all {} GPUs nothing runs.", most);
    if (best->job <= pick.job)
      return fmt::format("All {} GPUs with {} would take {}.", most, best->technique->name, duration(best->job));
    std::string out = fmt::format("All {} GPUs together would take {} with {}, the best technique there", most,
                                  longer(*best, pick), best->technique->name);
    const Prediction* same = of(report, best->group, pick.technique);
    if (same && same != best && runs(same))
      out += fmt::format(", and {} with {}", longer(*same, pick), pick.technique->name);
    return out + ".";
  }
  const Prediction* best = fastest(report.predictions, [&](const Prediction& p) { return p.gpus < most; });
  if (!best) return "";
  return fmt::format("With fewer GPUs the best is {}: {} ({}).", place_of(report.platform(), *best),
                     duration(best->job), longer(*best, pick));
}

}  // namespace

ModelReport report_of(const RunResult& result, std::size_t index) {
  ModelReport report{.result = result, .index = index, .predictions = {}, .sweep = {}, .verdict = {}};
  for (const auto& p : result.predictions) {
    if (p.model == report.model().name) report.predictions.push_back(&p);
  }
  return report;
}

std::vector<const Prediction*> fastest_first(const ModelReport& report) {
  std::vector<const Prediction*> out = report.predictions;
  const auto misfits = std::stable_partition(out.begin(), out.end(), runs);
  sort_by_time({out.begin(), misfits}, report.pick());
  return out;
}

const Store* lacking_store(const Prediction& p) {
  const auto over = [](const Store& store) { return store.used / store.limit; };
  const auto fullest = std::ranges::max_element(p.stores, {}, over);
  return fullest == p.stores.end() || fullest->fits() ? nullptr : &*fullest;
}

const Prediction* nearest_misfit(const ModelReport& report) {
  const Prediction* out = nullptr;
  const auto over = [](const Prediction& p) {
    const DeviceMemory* memory = fullest(p.memory);
    const Store* store = lacking_store(p);
    return std::max(memory->total() / memory->limit, store ? store->used / store->limit : 0.0);
  };
  for (const Prediction* p : report.predictions) {
    if (p->status == Status::kOutOfMemory && (!out || over(*p) < over(*out))) out = p;
  }
  return out;
}

const Prediction* ModelReport::pick() const {
  if (!selection().technique) return nullptr;
  for (const Prediction* p : predictions) {
    if (p->technique == selection().technique && p->group == selection().group) return p;
  }
  return nullptr;
}

std::string sureness_text(const ModelReport& report) {
  const Prediction* pick = report.pick();
  const auto& uncertainty = report.result.uncertainty;
  if (!pick || !uncertainty) return "";
  const auto& cell = uncertainty->cells[pick - report.result.predictions.data()];
  std::string out;
  if (cell.job.high > 0)
    out = fmt::format("With a probability of {:.0f} % it takes {}, and with {:.0f} % it fits into memory. ",
                      100 * uncertainty->level, between_text(cell.job), 100 * cell.fits);
  return out + fmt::format("This pick is {}.",
                           pick_text(*uncertainty, report.index, report.result.scenario.selection.objective));
}

std::string verdict_text(const ModelReport& report) {
  const Prediction* pick = report.pick();
  if (!pick)
    return fmt::format("{} cannot be trained here: no technique works on any group of GPUs.", report.model().name);
  return fmt::format("Train {} with {} on {}{}: {}.", report.model().name, pick->technique->name,
                     group_sentence(report.platform(), pick->group), pick->gpus < most_gpus(report) ? " alone" : "",
                     duration(pick->job));
}

std::string alternative_text(const ModelReport& report) {
  const Prediction* pick = report.pick();
  if (!pick) return "";
  std::string out = more_or_fewer_text(report, *pick);
  const Prediction* first = fastest(report.predictions, [](const Prediction&) { return true; });
  if (first && first->job.value < pick->job.value * (1 - kEqualCosts) && first->gpus != most_gpus(report))
    out += fmt::format("{}The fastest is {} with {}; the scenario's rules prefer the pick.", out.empty() ? "" : " ",
                       place_of(report.platform(), *first), duration(first->job));
  return out;
}

std::string near_text(const ModelReport& report) {
  const Prediction* pick = report.pick();
  if (!pick) return "";
  const SelectionRules& rules = report.result.scenario.selection;
  const auto behind = [&](const Prediction* p) {
    return cost_of(*p, rules.objective) / cost_of(*pick, rules.objective) - 1;
  };
  std::vector<const Prediction*> others;
  for (const Prediction* p : report.predictions) {
    if (runs(p) && p != pick) others.push_back(p);
  }
  if (others.empty()) return "Nothing else runs.";
  std::ranges::stable_sort(others, [&](auto* a, auto* b) { return behind(a) < behind(b); });
  const auto words_of = [&](const Prediction* p) {
    const std::string place = place_of(report.platform(), *p),
                      more = fmt::format("{:.1f} %", 100 * std::abs(behind(p)));
    if (more == "0.0 %") return fmt::format("{} (equal)", place);
    const auto& [worse, better] = kBehindOrAhead[static_cast<std::size_t>(rules.objective)];
    return fmt::format("{} ({} {})", place, more, behind(p) > 0 ? worse : better);
  };
  const auto end = std::ranges::find_if(others, [&](auto* p) { return behind(p) > rules.delta; });
  const std::string share = fmt::format("{:.3g} %", 100 * rules.delta);
  if (end == others.begin()) return fmt::format("Nothing within {}; next is {}.", share, words_of(others.front()));
  constexpr std::size_t kMostNear = 3;
  std::vector<std::string> words;
  for (auto p = others.begin(); p != end && words.size() < kMostNear; ++p) words.push_back(words_of(*p));
  const auto near = static_cast<std::size_t>(end - others.begin());
  return fmt::format("Within {}: {}{}.", share, fmt::join(words, ", "),
                     near > words.size() ? fmt::format(" and {} more", near - words.size()) : "");
}

std::string workload_text(const ModelReport& report) {
  const Scenario& scenario = report.result.scenario;
  const Training& t = scenario.training;
  const Transformer& model = report.model();
  const double tokens = static_cast<double>(model.sequence) * t.batch;
  return fmt::format("Workload: {} in {}; {} of {} tokens in a step, {:.0f} tokens; {}, {}.", model.name,
                     name_in(precision_names(), t.precision), count_of(t.batch, "sequence"), model.sequence, tokens,
                     extent_text(t), count_of(t.steps(), "step"));
}

std::string change_text(const ModelReport& report) {
  if (report.stopped) return "The round-trip time was not varied: the report was stopped before.";
  if (!report.sweep) {
    const auto& groups = report.result.scenario.groups;
    const bool large =
        std::ranges::any_of(groups, [](const Group& group) { return group.devices.size() > kMostSweptGpus; });
    return large ? fmt::format("The round-trip time was not varied: a group has more than {} GPUs.", kMostSweptGpus)
                 : "The round-trip time was not varied: no group spans several VMs.";
  }
  const auto& sweep = *report.sweep;
  const char* between = sweep.wide_area ? "sites" : "VMs";
  std::string out =
      sweep.alike ? fmt::format("The round-trip time between {} is {}.", between, to_text(sweep.own))
                  : fmt::format("The longest round-trip time between {} is {}; all are varied by the same factor.",
                                between, to_text(sweep.own));
  const bool none =
      std::ranges::none_of(sweep.points, [](const LatencyPoint& point) { return point.pick.technique != nullptr; });
  if (none)
    return out + fmt::format(" Nothing runs from {} to {}.", to_text(sweep.points.front().rtt),
                             to_text(sweep.points.back().rtt));
  if (sweep.changes.empty())
    return out + fmt::format(" From {} to {} the pick stays the same.", to_text(sweep.points.front().rtt),
                             to_text(sweep.points.back().rtt));
  for (const auto& [rtt, below, above] : sweep.changes)
    out += fmt::format(" At {} the pick changes from {} (below) to {} (above).", to_text(rtt),
                       picked(report.platform(), below), picked(report.platform(), above));
  return out;
}

}  // namespace slmsim
