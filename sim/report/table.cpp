#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/compute/operator_graph.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

// Rows of a table that lists not all: of one model, and of each of several.
constexpr std::size_t kRows = 8, kRowsOfSeveral = 4;
constexpr std::size_t kRoutes = 3;
// Widest names that share a line with their figures.
constexpr std::size_t kWidestTechnique = 15, kWidestGroup = 18;

// Three digits: "109 k".
std::string count_text(double value) {
  return value >= 1e6   ? fmt::format("{:.3g} M", value / 1e6)
         : value >= 1e3 ? fmt::format("{:.3g} k", value / 1e3)
                        : fmt::format("{:.3g}", value);
}

std::string share(Seconds part, Seconds whole) {
  return fmt::format("{:.0f}", whole.value > 0 ? 100 * (part / whole) : 0.0);
}

std::string factor_text(double factor) {
  return fmt::format("{:.{}f} x", factor, factor < 10 ? 2 : factor < 100 ? 1 : 0);
}

// Predictions with equal figures.
struct Row {
  std::vector<const Prediction*> predictions;

  const Prediction& first() const { return *predictions.front(); }
  bool has(const Prediction* one) const { return std::ranges::find(predictions, one) != predictions.end(); }
  std::string techniques() const {
    return names([](const Prediction& p) { return std::string(p.technique->name); }, " = ");
  }
  std::string groups() const {
    return names([](const Prediction& p) { return group_text(p.group); }, ", ");
  }

 private:
  template <class Name>
  std::string names(Name name, const char* between) const {
    std::vector<std::string> out;
    for (const Prediction* p : predictions) {
      if (std::ranges::find(out, name(*p)) == out.end()) out.push_back(name(*p));
    }
    return fmt::format("{}", fmt::join(out, between));
  }
};

bool same_figures(const Prediction& a, const Prediction& b) {
  const auto memory = [](const Prediction& p) {
    const DeviceMemory* most = fullest(p.memory);
    return most ? std::pair(most->total().value, most->limit.value) : std::pair(0.0, 0.0);
  };
  return a.job == b.job && a.iteration == b.iteration && memory(a) == memory(b) &&
         a.round.has_value() == b.round.has_value();
}

// Those that run, by time. A row joins equal predictions of one technique on several groups, or of several on one group.
std::vector<Row> rows_of(const RunResult& result, const std::string& model, const Prediction* best) {
  std::vector<const Prediction*> sorted;
  for (const auto& p : result.predictions) {
    if (p.model == model && p.status == Status::kOk) sorted.push_back(&p);
  }
  sort_by_time(sorted, best);
  std::vector<Row> out;
  for (const Prediction* p : sorted) {
    const auto joins = [&](const Row& row) {
      const auto all = [&](auto same) { return std::ranges::all_of(row.predictions, same); };
      return same_figures(row.first(), *p) &&
             (all([&](const auto* other) { return other->technique == p->technique; }) ||
              all([&](const auto* other) { return other->group == p->group; }));
    };
    const auto at = std::ranges::find_if(out, joins);
    (at == out.end() ? out.emplace_back() : *at).predictions.push_back(p);
  }
  // Rows of several techniques that are the same on several groups.
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (std::size_t k = out.size() - 1; k > i; --k) {
      if (!same_figures(out[i].first(), out[k].first()) || out[i].techniques() != out[k].techniques()) continue;
      out[i].predictions.insert(out[i].predictions.end(), out[k].predictions.begin(), out[k].predictions.end());
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  return out;
}

struct Columns {
  TimeUnit job{"s", 1}, iteration{"s", 1};
  std::size_t technique = 9, group = 4;
  const Prediction* best = nullptr;
};

Columns columns_of(const std::vector<Row>& rows, const Prediction* best) {
  Columns out;
  out.best = best;
  std::vector<Seconds> jobs, iterations;
  for (const auto& row : rows) {
    const std::size_t technique = row.techniques().size(), group = row.groups().size();
    if (technique <= kWidestTechnique) out.technique = std::max(out.technique, technique);
    if (group <= kWidestGroup) out.group = std::max(out.group, group);
    jobs.push_back(row.first().job);
    iterations.push_back(row.first().iteration);
  }
  out.job = job_unit(jobs);
  out.iteration = unit_of(iterations, 0.1, {{"ms", 1e-3}, {"s", 1}});
  return out;
}

// A row's names before its figures; on a line of their own where they are too long.
std::string names_text(const Row& row, const Columns& columns) {
  const std::string techniques = row.techniques(), groups = row.groups();
  if (techniques.size() <= columns.technique && groups.size() <= columns.group)
    return fmt::format("  {:<{}} {:<{}}", techniques, columns.technique, groups, columns.group);
  return wrapped("  ", fmt::format("{} on {}:", techniques, groups)) +
         std::string(3 + columns.technique + columns.group, ' ');
}

std::string figures(const Row& row, const Columns& columns) {
  const Prediction& p = row.first();
  const DeviceMemory* memory = fullest(p.memory);
  const auto& b = p.breakdown;
  const bool is_best = row.has(columns.best);
  const std::string factor = is_best ? "best" : columns.best ? factor_text(p.job / columns.best->job) : "";
  return fmt::format(
      " {:>7} {:>7} {:>9} {:>8} {:>11} {:>4} {:>4} {:>4}\n", columns.job.text(p.job), factor,
      columns.iteration.text(p.iteration), count_text(p.tokens_per_second),
      memory ? fmt::format("{:.1f}/{:.1f}", memory->total().value / kGibi, memory->limit.value / kGibi) : "-",
      share(b.compute + b.optimizer, p.iteration), share(b.exposed_communication + b.overhead, p.iteration),
      share(b.pipeline_bubble, p.iteration));
}

std::string head_text(const Columns& c) {
  const char* form = "  {:<{}} {:<{}} {:>7} {:>7} {:>9} {:>8} {:>11} {:>4} {:>4} {:>4}\n";
  return fmt::format(fmt::runtime(form), "technique", c.technique, "GPUs", c.group, "job", "vs best", "iteration",
                     "tokens/s", "memory", "busy", "wait", "idle") +
         fmt::format(fmt::runtime(form), "", c.technique, "", c.group, c.job.name, "", c.iteration.name, "", "GiB", "%",
                     "%", "%");
}

// Rates and costs, for --all.
std::string rates_text(const std::vector<Row>& rows, const Columns& c) {
  std::string currency;
  for (const auto& row : rows) {
    if (row.first().bill.cost) currency = row.first().bill.currency;
  }
  std::string out =
      fmt::format("\n  {:<{}} {:<{}} {:>4} {:>8} {:>6} {:>9} {:>8} {:>8}\n", "technique", c.technique, "GPUs", c.group,
                  "", "TFLOP/s", "MFU", "GPU-hours", "energy", currency.empty() ? "" : "cost") +
      fmt::format("  {:<{}} {:<{}} {:>4} {:>8} {:>6} {:>9} {:>8} {:>8}\n", "", c.technique, "", c.group, "", "per GPU",
                  "%", "", "kWh", currency);
  for (const auto& row : rows) {
    const Prediction& p = row.first();
    out += names_text(row, c) + fmt::format(" {:>4} {:>8} {:>6} {:>9} {:>8} {:>8}\n", p.gpus,
                                            fmt::format("{:.2f}", p.rate_per_gpu.value / kTera),
                                            fmt::format("{:.1f}", 100 * p.mfu), count_text(p.gpu_hours()),
                                            p.bill.energy ? count_text(p.bill.energy->value / kJoulesPerKwh) : "?",
                                            currency.empty() ? ""
                                            : p.bill.cost    ? money_text(*p.bill.cost)
                                                             : "?");
  }
  return out;
}

void add_selection(std::string& out, const Selection& s) {
  out += fmt::format("  Algorithm 1, {}: {}\n", name_in(algorithm_names(), s.algorithm), picked(s));
  for (const auto& step : s.steps) out += wrapped("    - ", step);
}

// Details of predictions that no column shows.
std::string details_text(const Prediction& p) {
  const std::string place = place_of(p) + ": ";
  std::string out;
  if (p.basis) out += wrapped("  ", place + "computation " + basis_text(*p.basis));
  if (p.round) out += wrapped("  ", place + round_text(*p.round));
  if (p.warm_up) out += wrapped("  ", place + warm_up_text(*p.warm_up));
  return out;
}

void add_model(std::string& out, const RunResult& result, std::size_t index, const TableOptions& options,
               const Verdict& verdict) {
  const std::string& model = verdict.model;
  const bool several = result.scenario.models.size() > 1;
  const Prediction* best = verdict.best ? &result.predictions[*verdict.best] : nullptr;
  out += several ? fmt::format("\n{}\n", model_text(result.scenario.models[index])) : "\n";
  auto rows = rows_of(result, model, best);
  std::size_t left = 0;
  if (const std::size_t most = several ? kRowsOfSeveral : kRows; !options.all && rows.size() > most) {
    // By another objective the best one may be slower than all of these.
    const auto at = std::ranges::find_if(rows, [&](const Row& row) { return row.has(best); });
    if (at != rows.end() && at - rows.begin() >= static_cast<std::ptrdiff_t>(most))
      std::iter_swap(rows.begin() + static_cast<std::ptrdiff_t>(most) - 1, at);
    left = rows.size() - most;
    rows.resize(most);
  }
  const Columns columns = columns_of(rows, best);
  if (!rows.empty()) out += head_text(columns);
  for (const auto& row : rows) out += names_text(row, columns) + figures(row, columns);
  if (left > 0) out += fmt::format("  {} slower: --all\n", left);
  if (options.all && !rows.empty()) out += rates_text(rows, columns);
  if (result.uncertainty) out += fmt::format("\n{}\n", interval_table(*result.uncertainty, result.predictions, model));
  if (!result.jobs.empty() && options.all) out += job_table(result, model);
  if (!result.jobs.empty() && !options.all && best && result.jobs[*verdict.best])
    out += wrapped(label("JOB"), job_line(*result.jobs[*verdict.best]) + " (all: --all)");
  for (const auto& p : result.predictions) {
    if (p.model == model && p.status == Status::kOk && (options.all || &p == best)) out += details_text(p);
    if (p.model == model && p.status != Status::kOk && options.all) out += wrapped("  ", place_of(p) + ": " + p.reason);
  }
  if (!options.all) out += misfits_text(result, model);
  if (options.steps && !result.selections.empty()) add_selection(out, result.selections[index]);
  if (!result.plans.empty()) out += wrapped(label("PLAN"), result.plans[index]);
}

std::string ways_text(const Platform& platform, bool all) {
  const auto routes = site_routes(platform, all ? platform.sites.size() * platform.sites.size() : kRoutes + 1);
  std::vector<std::pair<std::string, std::string>> ways;  // those that carry the same, and what they carry
  for (std::size_t i = 0; i < routes.size() && (all || i < kRoutes); ++i) {
    const std::string carried = carried_text(routes[i]);
    const auto same = std::ranges::find(ways, carried, &std::pair<std::string, std::string>::second);
    if (same == ways.end())
      ways.emplace_back(way_text(routes[i]), carried);
    else
      same->first += ", " + way_text(routes[i]);
  }
  std::string out;
  for (const auto& [way, carried] : ways)
    out += wrapped(label(out.empty() ? "LINKS" : ""), fmt::format("{}: {}", way, carried));
  if (!all && routes.size() > kRoutes) out += label("") + "more pairs of sites: --all\n";
  return out;
}

// "memory is highest at: backward pass (DDP), optimizer step (ZeRO-1)"
std::string moments_text(const std::vector<Prediction>& predictions) {
  std::map<Moment, std::vector<std::string>> by_moment;
  for (const auto& p : predictions) {
    const DeviceMemory* memory = fullest(p.memory);
    if (!memory) continue;
    auto& names = by_moment[memory->moment];
    if (std::ranges::find(names, p.technique->name) == names.end()) names.emplace_back(p.technique->name);
  }
  std::string out;
  for (const auto& [moment, names] : by_moment)
    out += fmt::format("{}{} ({})", out.empty() ? "memory is highest at: " : ", ", name_of(moment),
                       fmt::join(names, ", "));
  return out;
}

}  // namespace

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> kNames = {"table", "json", "csv"};
  return kNames;
}

std::string to_table(const RunResult& result, const TableOptions& given) {
  TableOptions options = given;
  if (options.verdicts.empty()) options.verdicts = verdicts_of(result);
  const auto& models = result.scenario.models;
  std::string out = wrapped("", setup_text(result.scenario));
  if (const Platform& p = result.scenario.platform; options.all && p.vms.size() > 2 && sites_with_vms(p).size() > 1)
    out += wrapped("  ", fmt::format("compared: {}", compared_text(result.scenario)));
  out += "\n";
  for (const auto& verdict : options.verdicts) out += verdict_text(result, verdict, !options.scenario.empty());
  for (std::size_t i = 0; i < models.size(); ++i) add_model(out, result, i, options, options.verdicts[i]);
  std::vector<const Prediction*> remarked;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto& best = options.verdicts[i].best;
    for (std::size_t row = 0; row < result.predictions.size(); ++row) {
      const Prediction& p = result.predictions[row];
      if (p.model == models[i].name && (options.all || !best || *best == row)) remarked.push_back(&p);
    }
  }
  out += "\n";
  for (const auto& remarks : {contradictions_in(result.scenario.platform), remarks_of(remarked)}) {
    for (const auto& remark : remarks) out += wrapped(label("REMARK"), remark);
  }
  if (result.uncertainty) out += wrapped("", origin_text(*result.uncertainty));
  if (const std::string moments = moments_text(result.predictions); options.all && !moments.empty())
    out += wrapped(label("MEMORY"), moments);
  out += ways_text(result.scenario.platform, options.all);
  out += assumed_text(result, options) + like_text(options) + next_text(options);
  return options.colour ? coloured(out) : out;
}

std::string to_selection_table(const RunResult& result) {
  std::string out = result.scenario.name + "\n";
  for (std::size_t i = 0; i < result.selections.size(); ++i) {
    out += fmt::format("\n{}\n", result.scenario.models[i].name);
    add_selection(out, result.selections[i]);
    add_selection(out, result.others[i]);
  }
  if (const auto assumed = all_assumptions(result); !assumed.empty()) out += "\n" + assumed_list(assumed);
  return out;
}

}  // namespace slmsim
