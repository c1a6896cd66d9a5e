#include "tests/random/law.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "sim/predict/row.h"
#include "sim/report/report.h"

namespace slmsim {
namespace {

constexpr double kRounding = 1e-9;     // relative; sums in another order
constexpr double kConditioned = 1e-3;  // relative; by so much the last digits of a figure may move an answer

std::string texts_of(const Scenario& scenario) {
  RunResult result;
  result.scenario = scenario;
  result.predictions = predict(scenario, {.links = true, .advice = false});
  result.selections = select_techniques(scenario, result.predictions, Algorithm::kAmended);
  result.others = select_techniques(scenario, result.predictions, Algorithm::kPaper);
  return to_json(result) + to_csv({result}) + to_table(result);
}

}  // namespace

const std::vector<Law>& laws() {
  static const std::vector<Law> kLaws = {
      {"parts", "parts add up and none is negative", 1, parts_add_up},
      {"twice", "the same input gives the same bytes", 4, bytes_are_equal_twice},
      {"names", "names change nothing", 2, names_change_nothing},
      {"units", "the units that a quantity is written in change nothing", 2, units_change_nothing},
      {"conditioning",
       "a change of 1e-6 of a figure moves no answer by more than 1e-3, or than the spread that it tells", 1,
       small_changes_stay_small},
      {"monotonic", "more of anything good is not slower", 1, more_is_not_slower},
      {"memory", "deeper models need more memory, rematerialisation does not", 2, memory_follows_its_laws},
      {"bytes", "what is sent arrives", 2, bytes_are_conserved},
      {"engines", "all ways to simulate end together", 2, engines_agree},
      {"sweep", "a point of a sweep is a run", 8, a_point_is_a_run},
      {"plan", "a plan is no worse than a run, and its numbers are those of a run", 10, a_plan_is_no_worse},
      {"max-model", "the largest model fits, and the next one does not", 10, the_largest_model_fits},
  };
  return kLaws;
}

Scenario scenario_of(const Json& document) {
  static const std::filesystem::path kPlace = std::filesystem::path(SLMSIM_SOURCE_DIR) / "scenarios" / "drawn.yaml";
  ScenarioFile file(parse_yaml(document.dump(1), kPlace.string()), kPlace);
  return read_scenario(file.link({}), "drawn");
}

std::vector<Prediction> predicted(const Scenario& scenario) { return predict(scenario, {.advice = false}); }

std::string which(const Prediction& p) {
  return fmt::format("{} on {} ({})", p.technique->name, group_text(p.group), p.model);
}

double relative(double a, double b) {
  const double most = std::max(std::abs(a), std::abs(b));
  return most > 0 ? std::abs(a - b) / most : 0.0;
}

double known_to_within(const Prediction& a, const Prediction& b) {
  return std::max(kConditioned, std::min(a.spread, b.spread));
}

void parts_add_up(const RandomCase& drawn, CaseDice&, Faults& faults) {
  for (const Prediction& p : drawn.predictions) {
    const auto wrong = [&](const std::string& text) { faults.push_back(which(p) + ": " + text); };
    if (p.status == Status::kUnsupported && p.reason.empty()) wrong("unsupported without a reason");
    double most = 0;
    for (const auto& memory : p.memory) {
      if (!(memory.total() > Bytes{0}) || !std::isfinite(memory.total().value)) wrong("memory is no positive number");
      most = std::max(most, memory.total() / memory.limit);
    }
    if (p.status == Status::kOk && most > 1) wrong("ok, but it does not fit");
    if (!p.is_timed()) continue;
    const Breakdown& b = p.breakdown;
    double sum = 0;
    for (const Seconds part : {b.compute, b.exposed_communication, b.pipeline_bubble, b.optimizer, b.overhead}) {
      if (!(part.value >= 0)) wrong(fmt::format("a part of {:.9g} s", part.value));
      sum += part.value;
    }
    if (relative(sum, p.iteration.value) > 1e-6)
      wrong(fmt::format("parts add up to {:.9g} s of an iteration of {:.9g} s", sum, p.iteration.value));
    for (const double number : {p.job.value, p.iteration.value, p.first_iteration.value, p.tokens_per_second, p.mfu}) {
      if (!std::isfinite(number) || !(number > 0)) wrong(fmt::format("a figure of {}", number));
    }
    if (p.job < p.startup) wrong("the job is shorter than its start-up");
  }
}

void bytes_are_equal_twice(const RandomCase& drawn, CaseDice&, Faults& faults) {
  if (texts_of(scenario_of(drawn.document)) != texts_of(scenario_of(drawn.document)))
    faults.emplace_back("two runs differ");
}

// Everything that the user names gets another name, whose order differs too.
void names_change_nothing(const RandomCase& drawn, CaseDice& dice, Faults& faults) {
  Json changed = drawn.document;
  Json& platform = changed["platform"];
  const auto renamed = [&](Json& map, const char* stem) {
    Json out = Json::object();
    std::vector<std::pair<std::string, std::string>> names;
    for (auto& [name, value] : map.items()) {
      names.emplace_back(name, fmt::format("{}{}-{}", dice.of({"z", "a", "m"}), names.size(), stem));
      out[names.back().second] = value;
    }
    map = out;
    return names;
  };
  const auto name_of = [](const auto& names, const std::string& old) {
    const auto at = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == old; });
    return at == names.end() ? old : at->second;
  };
  const auto sites = renamed(platform["sites"], "site");
  const auto vms = renamed(platform["vms"], "vm");
  for (auto& [name, vm] : platform["vms"].items()) vm["site"] = name_of(sites, vm["site"]);
  if (platform.contains("links")) {
    renamed(platform["links"], "link");
    for (auto& [name, link] : platform["links"].items()) {
      for (auto& end : link["between"]) end = name_of(sites, end);
    }
  }
  for (auto& group : changed["groups"]) {
    if (!group.is_array()) continue;
    for (auto& member : group) {
      const std::string text = member;
      const auto slash = std::min(text.find('/'), text.size());
      member = name_of(vms, text.substr(0, slash)) + text.substr(slash);
    }
  }
  changed["name"] = "another";
  const auto again = predicted(scenario_of(changed));
  if (again.size() != drawn.predictions.size()) return void(faults.emplace_back("another number of predictions"));
  for (std::size_t i = 0; i < again.size(); ++i) {
    const Prediction &p = drawn.predictions[i], &q = again[i];
    if (p.status != q.status || relative(p.job.value, q.job.value) > kRounding ||
        relative(p.iteration.value, q.iteration.value) > kRounding)
      faults.push_back(
          fmt::format("{}: {:.12g} s, by other names {:.12g} s", which(p), p.iteration.value, q.iteration.value));
  }
}

// The same quantity in another unit, with all its digits.
void units_change_nothing(const RandomCase& drawn, CaseDice& dice, Faults& faults) {
  struct Rule {
    const char *from, *to;
    double factor;
  };
  static const std::vector<Rule> kRules = {
      {" ms", " us", 1e3},    {" Gbps", " Mbps", 1e3},       {" GB/s", " MB/s", 1e3}, {" GiB", " MiB", 1024},
      {" MiB", " KiB", 1024}, {" TFLOP/s", " GFLOP/s", 1e3}, {" us", " ns", 1e3}};
  const auto change = [&](auto& self, Json& node) -> void {
    if (node.is_structured()) {
      for (auto& item : node) self(self, item);
      return;
    }
    if (!node.is_string() || !dice.one_in(2)) return;
    const std::string text = node;
    for (const Rule& rule : kRules) {
      if (!text.ends_with(rule.from)) continue;
      const auto number = parse_number(text.substr(0, text.size() - std::string(rule.from).size()));
      if (number) node = fmt::format("{:.17g}{}", *number * rule.factor, rule.to);
      return;
    }
  };
  Json changed = drawn.document;
  change(change, changed["platform"]);
  const auto again = predicted(scenario_of(changed));
  for (std::size_t i = 0; i < again.size(); ++i) {
    const Prediction &p = drawn.predictions[i], &q = again[i];
    // Rounding of the conversion is a change of 1e-16 of a figure, and what a change of a figure may move is the law of
    // conditioning's: a unit that is taken for another moves it by a factor.
    if (p.status != q.status || relative(p.job.value, q.job.value) > known_to_within(p, q))
      faults.push_back(fmt::format("{}: job {:.12g} s, in other units {:.12g} s", which(p), p.job.value, q.job.value));
  }
}

}  // namespace slmsim
