#include "sim/fit/draws.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/base/text.h"

namespace slmsim {
namespace {

constexpr const char* kSchema = "slmsim/fitted/2";

// Coordinates along the first principal component, by power iteration; choices and discrepancies take part like the rest.
std::vector<double> along_main_direction(const std::vector<Point>& points) {
  const std::size_t dimensions = points.front().size();
  Point mean(dimensions, 0.0);
  for (const auto& point : points) {
    for (std::size_t d = 0; d < dimensions; ++d) mean[d] += point[d] / static_cast<double>(points.size());
  }
  Point direction(dimensions, 1.0);
  std::vector<double> along(points.size());
  const auto project = [&] {
    for (std::size_t i = 0; i < points.size(); ++i) {
      along[i] = 0;
      for (std::size_t d = 0; d < dimensions; ++d) along[i] += direction[d] * (points[i][d] - mean[d]);
    }
  };
  for (int round = 0; round < 50; ++round) {
    project();
    Point next(dimensions, 0.0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t d = 0; d < dimensions; ++d) next[d] += along[i] * (points[i][d] - mean[d]);
    }
    const double length = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
    if (length <= 0) break;
    for (std::size_t d = 0; d < dimensions; ++d) direction[d] = next[d] / length;
  }
  project();
  return along;
}

std::string median_text(const Unknown& u, const Marginal& n) {
  return u.is_choice() ? u.words[static_cast<std::size_t>(n.median)] : u.text(n.median);
}

std::vector<std::size_t> in_order(const std::vector<Point>& points) {
  const auto along = along_main_direction(points);
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return along[a] < along[b]; });
  return order;
}

std::string unknown_text(const Unknown& u, const Marginal& n) {
  std::string out = fmt::format("  - paths: [{}]\n", fmt::join(u.paths, ", "));
  out += fmt::format("    value: {}\n", median_text(u, n));
  if (u.is_choice()) {
    out += "    probabilities: {";
    for (std::size_t i = 0; i < u.words.size(); ++i)
      out += fmt::format("{}{}: {:.3f}", i == 0 ? "" : ", ", u.words[i], n.shares[i]);
    out += "}\n";
  } else {
    out += fmt::format("    interval: [{}, {}]\n", u.text(n.low), u.text(n.high));
  }
  out +=
      fmt::format("    prior: {}\n    left: {:.2f}\n    provenance: measured\n", yaml_quoted(u.prior_text()), n.left);
  return out;
}

}  // namespace

Draws draws_of(const Posterior& posterior, std::size_t most) {
  const PointLayout layout = layout_of(posterior.unknowns);
  const auto order = in_order(posterior.points);
  most = std::min(most, order.size());
  Draws out;
  for (std::size_t i = 0; i < most; ++i) {
    const Point& point = posterior.points[order[(2 * i + 1) * order.size() / (2 * most)]];
    out.points.push_back({layout.overrides(0, point), layout.discrepancy(point)});
  }
  const auto marginals = marginals_of(posterior);
  for (std::size_t i = 0; i < marginals.size(); ++i) {
    const Unknown& u = posterior.unknowns[i];
    for (const auto& path : u.paths) out.centre.push_back(path + "=" + median_text(u, marginals[i]));
  }
  for (const auto& u : posterior.unknowns) out.unknowns.push_back(fmt::format("{}: {}", u.name(), u.prior_text()));
  return out;
}

StandingRuns standing_runs(const Draws& draws, const std::vector<Candidate>& cells,
                           const std::vector<Forecast>& centre) {
  StandingRuns out{{}, draws.remarks};
  std::vector<std::string> others;
  for (std::size_t i = 0; i < draws.runs.size(); ++i) {
    const Pilot& run = draws.runs[i];
    const auto cell = static_cast<std::size_t>(std::ranges::find(cells, run.cell) - cells.begin());
    if (cell == cells.size()) continue;
    const double here = figure_of(centre[cell], run.measure), there = draws.runs_at_centre[i];
    if (std::abs(here - there) <= kUsualNoise * there) {
      out.runs.push_back(run);
    } else {
      others.push_back(fmt::format("{} ({})", run.cell.text(), name_in(measure_names(), run.measure)));
    }
  }
  if (!others.empty())
    out.remarks.push_back(
        fmt::format("measured in another scenario than this one, so that only the fitted values count: {}",
                    fmt::join(others, "; ")));
  return out;
}

bool Residual::is_met() const {
  if (pilot.measure == Measure::kFits) return pilot.value == predicted;
  return low <= pilot.value && pilot.value <= high;
}

std::string to_yaml(const FitReport& report) {
  const Posterior& posterior = report.posterior;
  const Draws draws = draws_of(posterior, posterior.points.size());
  std::string out = fmt::format(
      "# Values of {} fitted to measured runs by slmsim fit; input of slmsim run --fitted.\n"
      "schema: {}\nscenario: {}\nidentity: {}\nmeasured: {}\nruns: {}\nseed: {}\n",
      report.scenario, kSchema, report.scenario, report.identity, yaml_quoted(report.measured), report.residuals.size(),
      report.seed);
  if (!posterior.complete) out += "stopped: yes  # before the runs had their full weight\n";
  out +=
      "# left: remaining share of the prior's 80 % width (of a choice: of its entropy); 1: the runs carry no "
      "information.\nunknowns:\n";
  const auto marginals = marginals_of(posterior);
  for (std::size_t i = 0; i < posterior.unknowns.size(); ++i) out += unknown_text(posterior.unknowns[i], marginals[i]);
  const auto entangled = correlated_pairs(posterior);
  if (!entangled.empty()) {
    out += "# Unknowns that the runs cannot separate, with their correlation.\nentangled:\n";
    for (const auto& pair : entangled)
      out += fmt::format("  - {{first: {}, second: {}, correlation: {:.2f}}}\n", posterior.unknowns[pair.first].name(),
                         posterior.unknowns[pair.second].name(), pair.correlation);
  }
  out +=
      "# base: the measured value in s, B, tokens/s or FLOP/s; 1 or 0 for yes and no. centre: its prediction at the "
      "central point.\nfit:\n";
  for (const auto& r : report.residuals) {
    Pilot predicted = r.pilot, low = r.pilot, high = r.pilot;
    predicted.value = r.predicted, low.value = r.low, high.value = r.high;
    std::vector<std::string> group;
    for (const auto& name : r.pilot.cell.group) group.push_back(yaml_quoted(name));
    out += fmt::format(
        "  - {{model: {}, technique: {}, group: [{}], what: {}, measured: {}, base: {:.9g}, centre: {:.9g}, fitted: {}",
        yaml_quoted(r.pilot.cell.model), yaml_quoted(r.pilot.cell.technique), fmt::join(group, ", "),
        name_in(measure_names(), r.pilot.measure), r.pilot.value_text(), r.pilot.value, r.centre,
        predicted.value_text());
    if (r.pilot.measure != Measure::kFits)
      out += fmt::format(", interval: [{}, {}]", low.value_text(), high.value_text());
    out += r.is_met() ? "}\n" : ", met: no}\n";
  }
  out += "centre:\n";
  for (const auto& text : draws.centre) out += fmt::format("  - {}\n", yaml_quoted(text));
  out += fmt::format(
      "# {} points, equally likely: time and memory are the model's own discrepancies, values in the order of the "
      "unknowns.\nensemble:\n",
      draws.points.size());
  for (const Draw& draw : draws.points) {
    std::vector<std::string> values;
    std::size_t at = 0;
    for (const auto& u : posterior.unknowns) {
      values.push_back(draw.overrides[at].substr(u.name().size() + 1));
      at += u.paths.size();
    }
    out += fmt::format("  - {{time: {}, memory: {}, values: [{}]}}\n", draw.discrepancy.time, draw.discrepancy.memory,
                       fmt::join(values, ", "));
  }
  return out;
}

Draws read_fitted(const std::filesystem::path& file, const std::string& identity, bool& stale) {
  const Node root = read_yaml(file);
  Reading reading;
  Fields fields(root, "", reading);
  const std::string schema = fields.text({"schema", "Format of the file."}, "");
  if (schema != kSchema)
    throw InputError(root.place, fmt::format("schema is not {}; a file written by slmsim fit is expected", kSchema));
  stale = fields.text({"identity", "Hash of the fitted files."}, "") != identity;
  Draws out;
  out.fitted_to = fields.text({"measured", "File of the measured runs."}, "runs");
  for (const char* key : {"scenario", "runs", "seed", "entangled"})
    fields.ignore({key, "Recorded with the fit; not read."});
  if (fields.flag({"stopped", "Whether the fit was stopped early."}, false))
    out.remarks.emplace_back("the fit was stopped before its runs had full weight; fit again without a limit");
  std::vector<std::string> not_met;
  for (const Node* item : fields.list({"fit", "Measured runs."}, {ValueType::map()})) {
    Fields run(*item, "fit", reading);
    Pilot pilot;
    pilot.cell.model = run.text({"model", "Group of GPUs of the run."}, "");
    pilot.cell.technique = run.text({"technique", "Group of GPUs of the run."}, "");
    for (const Node* name : run.list({"group", "Group of GPUs of the run."}, {ValueType::text()}))
      pilot.cell.group.push_back(name->scalar);
    pilot.measure = static_cast<Measure>(run.choice({"what", "Measured quantity."}, measure_names(), 0));
    pilot.value = run.number({"base", "Measured value in base units."}, {0, 1e30});
    out.runs_at_centre.push_back(run.number({"centre", "Value predicted at the central point."}, {0, 1e30}, 0));
    for (const char* key : {"measured", "fitted", "interval"}) run.ignore({key, "Recorded with the fit; not read."});
    if (!run.flag({"met", "Whether the run lies inside its interval."}, true))
      not_met.push_back(fmt::format("{} ({})", pilot.cell.text(), name_in(measure_names(), pilot.measure)));
    run.done();
    out.runs.push_back(std::move(pilot));
  }
  if (!not_met.empty())
    out.remarks.push_back(fmt::format("the fit does not meet {} of its {} runs: {}", not_met.size(), out.runs.size(),
                                      fmt::join(not_met, "; ")));
  std::vector<std::vector<std::string>> paths;
  for (const Node* item : fields.list({"unknowns", "Fitted unknowns."}, {ValueType::map()})) {
    Fields unknown(*item, "unknowns", reading);
    paths.emplace_back();
    for (const Node* path : unknown.list({"paths", "Paths in the scenario."}, {ValueType::text()}))
      paths.back().push_back(path->scalar);
    out.unknowns.push_back(fmt::format("{}: {}", paths.back().empty() ? "" : paths.back().front(),
                                       unknown.text({"value", "Fitted value."}, "")));
    for (const char* key : {"interval", "probabilities", "prior", "left", "provenance"})
      unknown.ignore({key, "Recorded with the fit; not read."});
    unknown.done();
  }
  for (const Node* text : fields.list({"centre", "The central point."}, {ValueType::text()}))
    out.centre.push_back(text->scalar);
  for (const Node* item : fields.list({"ensemble", "The points."}, {ValueType::map()})) {
    Fields point(*item, "ensemble", reading);
    Draw draw;
    draw.discrepancy.time = point.number({"time", "The model's discrepancy of times."}, {1e-6, 10});
    draw.discrepancy.memory = point.number({"memory", "The model's discrepancy of memory."}, {1e-6, 10});
    const auto values = point.list({"values", "Values of the unknowns, in their order."}, {ValueType::text()});
    point.done();
    if (values.size() != paths.size()) {
      reading.error(item->place, fmt::format("{} values of {} unknowns", values.size(), paths.size()));
      continue;
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
      for (const auto& path : paths[i]) draw.overrides.push_back(path + "=" + values[i]->scalar);
    }
    out.points.push_back(std::move(draw));
  }
  fields.done();
  if (out.points.empty()) reading.error(root.place, "no ensemble; a file written by slmsim fit is expected");
  reading.check();
  return out;
}

std::string identity_of(const ScenarioFile& file) {
  const auto texts = file.texts();
  return identity_of("", std::vector<std::string>(texts.begin(), texts.end()));
}

}  // namespace slmsim
