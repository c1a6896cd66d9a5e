#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/compute/operator_graph.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

constexpr std::size_t kLabel = 9;
constexpr double kSureToFit = 0.95;
constexpr std::size_t kAsGood = 3;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// "2 x a30 + 1 x t4".
std::string gpus_text(const Scenario& scenario, const Prediction& p) {
  std::vector<std::pair<std::string, int>> counts;
  for (const auto& group : scenario.groups) {
    if (group.names != p.group) continue;
    for (const int device : group.devices) {
      const std::string& name = scenario.platform.devices[device].gpu.name;
      if (counts.empty() || counts.back().first != name) counts.emplace_back(name, 0);
      ++counts.back().second;
    }
  }
  std::vector<std::string> out;
  out.reserve(counts.size());
  for (const auto& [name, count] : counts) out.push_back(fmt::format("{} x {}", count, name));
  return fmt::format("{}", fmt::join(out, " + "));
}

// The fastest prediction on all GPUs, where the best choice is on fewer: "All 4 GPUs: 4.8 times slower (Pipeshard, waiting
// 80 % of the time)."
std::string all_gpus_text(const RunResult& result, const Prediction& best) {
  int most = 0;
  const Prediction* fastest = nullptr;
  for (const auto& group : result.scenario.groups) most = std::max(most, static_cast<int>(group.devices.size()));
  if (most <= best.gpus) return "";
  for (const auto& p : result.predictions) {
    const bool counts = p.model == best.model && p.gpus == most && p.status == Status::kOk;
    if (counts && (!fastest || p.job < fastest->job)) fastest = &p;
  }
  const std::string all = most == 2 ? "Both GPUs" : fmt::format("All {} GPUs", most);
  if (!fastest) return fmt::format("{}: nothing runs.", all);
  if (fastest->job == best.job) return fmt::format("{}: the same, the others stay idle.", all);
  const auto& b = fastest->breakdown;
  const double factor = fastest->job / best.job;
  const double waiting = (b.exposed_communication + b.overhead) / fastest->iteration;
  const double idle = b.pipeline_bubble / fastest->iteration;
  const double most_lost = std::max(waiting, idle);
  const std::string lost =
      most_lost < 0.005 ? ""
                        : fmt::format(", {} {} of the time", idle > waiting ? "idle" : "waiting", percent(most_lost));
  if (std::abs(factor - 1) < 0.005) return fmt::format("{}: no faster ({}{}).", all, fastest->technique->name, lost);
  return fmt::format("{}: {:.3g} times {} ({}{}).", all, factor < 1 ? 1 / factor : factor,
                     factor < 1 ? "faster" : "slower", fastest->technique->name, lost);
}

// "30.7 min (26.1 to 36.0)".
std::string job_text(const Prediction& best, const std::optional<Interval>& interval) {
  const TimeUnit unit = job_unit({best.job});
  std::string out = fmt::format("{} {}", unit.text(best.job), unit.name);
  if (!interval) return out;
  return out + fmt::format(" ({} to {})", unit.text(Seconds{interval->low}), unit.text(Seconds{interval->high}));
}

std::string best_text(const RunResult& result, const Verdict& v) {
  const Prediction& p = result.predictions[*v.best];
  std::vector<std::string> out = {fmt::format("{} ({})", place_of(p), gpus_text(result.scenario, p)),
                                  job_text(p, v.job)};
  if (const DeviceMemory* memory = fullest(p.memory))
    out.push_back(fmt::format("{:.1f} of {:.1f} GiB", memory->total().value / kGibi, memory->limit.value / kGibi));
  if (const std::string price = price_text(result, p); !price.empty()) out.push_back(price);
  if (v.fits && *v.fits < kSureToFit) out.push_back(fmt::format("fits: {}", percent(*v.fits)));
  // Where one GPU is all there is, nothing is picked.
  const bool is_choice = p.gpus > 1 || std::ranges::any_of(result.predictions, [&](const Prediction& other) {
                           return other.group != p.group;
                         });
  if (is_choice) out.push_back(v.right ? fmt::format("{} sure", percent(*v.right)) : "how sure: --intervals");
  // Lines break between these only.
  for (auto& one : out) std::ranges::replace(one, ' ', kNoBreak);
  return fmt::format("{}", fmt::join(out, ", "));
}

// Whether the best choice is preferred to this prediction for its room in memory alone.
bool is_faster_at_edge(const Prediction& p, const Prediction& best) {
  return p.model == best.model && p.status == Status::kOk && p.fit == Fit::kAtEdge && p.job < best.job;
}

std::string as_good_text(const RunResult& result, const Verdict& v) {
  std::vector<std::string> all;
  for (const std::size_t row : v.as_good) {
    const Prediction& p = result.predictions[row];
    if (!is_faster_at_edge(p, result.predictions[*v.best])) all.push_back(place_of(p));
  }
  if (all.empty()) return "";
  const std::size_t shown = std::min(all.size(), kAsGood), more = all.size() - shown;
  return fmt::format("As good: {}{}.", fmt::join(all.begin(), all.begin() + static_cast<long>(shown), ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string suggestion_text(const std::string& first, const Suggestion& s) {
  const TimeUnit unit = job_unit({s.job});
  const std::string gain = fmt::format("{}, {} {}", s.choice, unit.text(s.job), unit.name);
  const std::string command = command_text(first, s.command, kLabel);
  const std::size_t last = command.rfind('\n') == std::string::npos ? 0 : command.rfind('\n') + 1;
  if (command.size() - last + gain.size() + 3 <= kTextWidth) return fmt::format("{}   {}\n", command, gain);
  return fmt::format("{}\n{:{}}{}\n", command, "", kLabel, gain);
}

// "Data, ZeRO2 on gpn; Shard on utah": techniques with the same groups are together.
std::vector<std::string> places_of(const std::vector<const Prediction*>& predictions) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // by technique
  for (const Prediction* p : predictions) {
    const auto at = std::ranges::find_if(groups, [&](const auto& one) { return one.first == p->technique->name; });
    auto& own = at == groups.end() ? groups.emplace_back(p->technique->name, std::vector<std::string>()) : *at;
    own.second.push_back(group_text(p->group));
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<std::string> techniques;
    for (std::size_t k = i; k < groups.size(); ++k) {
      if (groups[k].second == groups[i].second) techniques.push_back(groups[k].first);
    }
    const bool is_first = std::none_of(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const auto& one) { return one.second == groups[i].second; });
    if (is_first)
      out.push_back(fmt::format("{} on {}", fmt::join(techniques, ", "), fmt::join(groups[i].second, ", ")));
  }
  return out;
}

std::string edge_text(const RunResult& result, const Prediction& best) {
  std::vector<const Prediction*> faster;
  for (const auto& p : result.predictions) {
    if (is_faster_at_edge(p, best)) faster.push_back(&p);
  }
  if (faster.empty() || result.scenario.selection.objective != Objective::kTime) return "";
  return fmt::format("Faster, but at the edge of memory: {}.", fmt::join(places_of(faster), "; "));
}

// As many places as fit beside `after` in two lines.
std::string folded(const std::string& first, const std::vector<std::string>& places, const std::string& after) {
  const std::size_t room = 2 * (kTextWidth - kLabel) - after.size() - 24;
  std::string text;
  std::size_t shown = 0;
  for (; shown < places.size(); ++shown) {
    if (shown > 0 && text.size() + places[shown].size() + 2 > room) break;
    text += (shown > 0 ? "; " : "") + places[shown];
  }
  if (text.size() > room) text = text.substr(0, room) + "...";
  if (shown < places.size()) text += fmt::format("; {} more: --all", places.size() - shown);
  return wrapped(first, text + after);
}

// "rematerialisation", from "... ; it would fit with rematerialisation, or with 2 GiB more per GPU".
std::string first_remedy(const std::string& reason) {
  const std::string mark = "it would fit with ";
  const std::size_t at = reason.find(mark);
  if (at == std::string::npos) return "";
  const std::string next = ", or with ";
  const auto& techniques = technique_names();
  for (std::size_t begin = at + mark.size(); begin < reason.size();) {
    const std::size_t end = std::min(reason.find(next, begin), reason.size());
    std::string remedy = reason.substr(begin, end - begin);
    // Other techniques that fit have rows of their own.
    const bool named = std::ranges::find(techniques, remedy.substr(0, remedy.find(' '))) != techniques.end();
    if (!named) return remedy;
    begin = end + next.size();
  }
  return "";
}

}  // namespace

std::string TimeUnit::text(Seconds time) const {
  const double value = time.value / seconds;
  return fmt::format("{:.{}f}", value, value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3);
}

TimeUnit unit_of(const std::vector<Seconds>& times, double least_value, std::initializer_list<TimeUnit> units) {
  TimeUnit out = *units.begin();
  if (times.empty()) return out;
  const Seconds least = *std::ranges::min_element(times);
  for (const auto& unit : units) {
    if (least.value >= least_value * unit.seconds) out = unit;
  }
  return out;
}

TimeUnit job_unit(const std::vector<Seconds>& times) {
  return unit_of(times, 1, {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}});
}

std::string label(const std::string& word) { return fmt::format("{:<{}}", word, kLabel); }

std::string coloured(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string line = text.substr(begin, end - begin);
    const std::size_t word = line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ ");
    const bool labelled = line.front() != ' ' && word != std::string::npos && word >= kLabel;
    const char* code = line.starts_with("BEST") ? "\033[1;32m" : "\033[1m";
    out += labelled ? code + line.substr(0, kLabel) + "\033[0m" + line.substr(kLabel) : line;
    begin = end;
  }
  return out;
}

std::string model_text(const Transformer& model) {
  const OperatorGraph operators = build_operator_graph(model);
  const double parameters = parameter_count(operators), trained = trained_count(operators);
  return fmt::format(
      "{} ({}{})", model.name,
      parameters < 1e10 ? fmt::format("{:.0f} M parameters", parameters / 1e6)
                        : fmt::format("{:.1f} B parameters", parameters / 1e9),
      trained < parameters ? fmt::format(", of which adapters of {:.3g} M are trained", trained / 1e6) : "");
}

// "flash attention", or the kernels that run in its place on GPUs without it.
std::string attention_text(const Scenario& s) {
  std::vector<std::string> names;
  for (const auto& device : s.platform.devices) {
    const auto runs = s.software.attention_on(device.gpu, s.training.precision);
    const std::string& name = name_in(attention_kernel_names(), runs);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return fmt::format("{} attention", fmt::join(names, " and "));
}

std::string setup_text(const Scenario& s) {
  const Training& t = s.training;
  std::vector<std::string> out;
  if (s.models.size() == 1) out.push_back(model_text(s.models.front()));
  out.push_back(extent_text(t));
  const bool same = std::ranges::all_of(
      s.models, [&](const Transformer& model) { return model.sequence == s.models.front().sequence; });
  out.push_back(same && !s.models.empty() ? fmt::format("{} x {} tokens per step", t.batch, s.models.front().sequence)
                                          : count_of(t.batch, "sequence") + " per step");
  out.push_back(count_of(t.steps(), "step"));
  out.push_back(name_in(precision_names(), t.precision));
  if (!s.software.stack.empty()) out.push_back(s.software.stack);
  if (s.software.attention == AttentionKernel::kFlash) out.push_back(attention_text(s));
  // Lines break between these only.
  for (auto& one : out) std::ranges::replace(one, ' ', kNoBreak);
  return fmt::format("{}: {}", s.name, fmt::join(out, ", "));
}

std::string verdict_text(const RunResult& result, const Verdict& v, bool searched) {
  const std::string name = result.scenario.models.size() > 1 ? v.model + ": " : "";
  const std::string indent(kLabel, ' ');
  std::string out;
  if (!v.best) {
    if (!searched) return wrapped(label("BEST"), name + "nothing runs; slmsim plan searches for a way");
    if (v.would_fit)
      return wrapped(label("BEST"), name + "nothing runs as it is") + suggestion_text(label("FITS"), *v.would_fit);
    return wrapped(
        label("BEST"),
        name + "nothing runs, nor does any plan of a short search: try other techniques or a larger cluster");
  }
  out = wrapped(label("BEST"), name + best_text(result, v));
  const Prediction& best = result.predictions[*v.best];
  std::string more;
  for (const auto& one : {as_good_text(result, v), edge_text(result, best), all_gpus_text(result, best)})
    more += (more.empty() || one.empty() ? "" : " ") + one;
  if (!more.empty()) out += wrapped(indent, more);
  if (v.faster) out += suggestion_text(label("FASTER"), *v.faster);
  return out;
}

namespace {

// A line for each of the first reasons.
std::string refusals_text(const std::string& word, std::vector<const Prediction*> cannot) {
  constexpr std::size_t kMostReasons = 3;
  std::string out;
  for (std::size_t n = 0; n < kMostReasons && !cannot.empty(); ++n) {
    std::string reason = cannot.front()->reason;
    std::vector<const Prediction*> same;
    std::erase_if(cannot, [&](const Prediction* p) {
      if (p->reason == reason) same.push_back(p);
      return p->reason == reason;
    });
    if (reason.size() > kTextWidth) reason = reason.substr(0, reason.find(';'));
    out += folded(label(word), places_of(same), ": " + reason);
  }
  if (!cannot.empty()) out += wrapped(label(word), fmt::format("{} more: --all", cannot.size()));
  return out;
}

}  // namespace

std::string misfits_text(const RunResult& result, const std::string& model) {
  std::vector<const Prediction*> large, off_gpu, cannot;  // off_gpu: lack memory of a host or room on a drive
  const Prediction* nearest = nullptr;                    // to fitting
  double low = 0, high = 0, limit = 0, least = 0;
  for (const auto& p : result.predictions) {
    if (p.model != model || p.status == Status::kOk) continue;
    const DeviceMemory* memory = fullest(p.memory);
    auto& those = p.status != Status::kOutOfMemory ? cannot : memory && !memory->fits() ? large : off_gpu;
    those.push_back(&p);
    if (&those != &large) continue;
    const double need = memory->total().value / kGibi;
    low = low == 0 ? need : std::min(low, need);
    high = std::max(high, need);
    limit = std::max(limit, memory->limit.value / kGibi);
    const double times = memory->total() / memory->limit;
    if (!nearest || times < least) nearest = &p, least = times;
  }
  std::string out;
  if (!large.empty()) {
    std::string after = low * 1.02 < high ? fmt::format(" ({:.3g} to {:.3g} of up to {:.3g} GiB)", low, high, limit)
                                          : fmt::format(" ({:.3g} of {:.3g} GiB)", high, limit);
    if (const std::string remedy = nearest ? first_remedy(nearest->reason) : ""; !remedy.empty())
      after += fmt::format("; {} would fit with {}", place_of(*nearest), remedy);
    out += folded(label("NO FIT"), places_of(large), after);
  }
  return out + refusals_text("NO FIT", std::move(off_gpu)) + refusals_text("CANNOT", std::move(cannot));
}

std::string assumed_list(const std::vector<Assumption>& assumptions) {
  std::string out;
  for (const auto& one : assumptions)
    out += wrapped(out.empty() ? label("ASSUMED") : std::string(kLabel, ' '), one.text);
  return out;
}

std::string assumed_text(const RunResult& result, const TableOptions& options) {
  const auto all = all_assumptions(result);
  if (all.empty()) return "";
  if (options.assumed) return assumed_list(all);
  std::string text = fmt::format("{} value{}", all.size(), all.size() == 1 ? "" : "s");
  const auto most = std::ranges::max_element(options.verdicts, [](const auto& a, const auto& b) {
    const auto ratio = [](const Verdict& v) {
      return v.key_assumption ? v.key_assumption->job.high / v.key_assumption->job.low : 0;
    };
    return ratio(a) < ratio(b);
  });
  if (most != options.verdicts.end() && most->key_assumption) {
    const KeyAssumption& key = *most->key_assumption;
    const TimeUnit unit = job_unit({Seconds{key.job.low}});
    text += fmt::format("; largest effect: {} ({} to {} {}{})", key.value, unit.text(Seconds{key.job.low}),
                        unit.text(Seconds{key.job.high}), unit.name,
                        key.measure.empty() ? "; state yours" : "; measure: " + key.measure);
  }
  return wrapped(label("ASSUMED"), text + "; all: --assumed");
}

std::string like_text(const TableOptions& options) {
  const auto at = std::ranges::find_if(options.verdicts, [](const Verdict& v) { return v.nearest.has_value(); });
  if (at == options.verdicts.end()) return "";
  const NearestValidated& n = *at->nearest;
  const std::string outside =
      n.outside.empty() ? "" : fmt::format("; outside all that is validated: {}", fmt::join(n.outside, ", "));
  return wrapped(label("LIKE"),
                 fmt::format("nearest validated: {}, {} off ({}){}", n.name, percent(n.error), n.page, outside));
}

std::string next_text(const TableOptions& options) {
  if (options.scenario.empty()) return "";
  const std::string all =
      fmt::format("slmsim explain {0} | slmsim plan {0} | slmsim report {0} -o FILE\n", options.scenario);
  std::string text = label("NEXT") + all;
  if (text.size() <= kTextWidth + 1) return text;
  return label("NEXT") + fmt::format("slmsim explain {} (or plan, report)\n", options.scenario);
}

}  // namespace slmsim
