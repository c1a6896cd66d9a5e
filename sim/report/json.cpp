#include <algorithm>
#include <cmath>

#include "sim/base/name_in.h"
#include "sim/compute/operator_graph.h"
#include "sim/predict/row.h"
#include "sim/report/json_values.h"
#include "sim/report/phrases.h"

namespace slmsim {

double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, 8 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

std::string to_text(const Json& list) { return (list.size() == 1 ? list.front() : list).dump(2) + "\n"; }

Json assumed_json(const std::vector<Assumption>& assumptions) {
  Json out = Json::array();
  for (const auto& one : assumptions)
    out.push_back({{"about", one.about}, {"text", one.text}, {"measure", one.measure}});
  return out;
}

Json head_json(const Prediction& p) {
  return {{"model", p.model},
          {"technique", p.technique->name},
          {"group", in_ranges(p.group)},
          {"gpus", p.gpus},
          {"status", name_of(p.status)},
          {"fit", p.status == Status::kUnsupported ? Json(nullptr) : Json(name_of(p.fit))},
          {"reason", p.reason},
          {"minutes", rounded(p.job.value / 60)},
          {"iteration_s", rounded(p.iteration.value)}};
}

Json breakdown_json(const Breakdown& b) {
  Json out = Json::object();
  for (const auto& part : kTimeParts) out[part.key] = rounded((b.*part.time).value);
  return out;
}

Json memory_json(const DeviceMemory& m, const Platform& platform) {
  Json parts = Json::object();
  for (const auto& part : kMemoryParts) parts[part.name] = std::llround((m.*part.bytes).value);
  return {{"gpu", platform.devices[m.device].name},
          {"bytes", std::llround(m.total().value)},
          {"limit_bytes", std::llround(m.limit.value)},
          {"allocated_bytes", std::llround(m.allocated().value)},
          {"reserved_bytes", std::llround(m.reserved().value)},
          {"at", name_of(m.moment)},
          {"parts", parts}};
}

Json stores_json(const std::vector<Store>& stores) {
  Json list = Json::array();
  for (const auto& store : stores) {
    list.push_back({{"name", store.name},
                    {"kind", store.drive ? "drives" : "memory"},
                    {"bytes", std::llround(store.used.value)},
                    {"limit_bytes", std::llround(store.limit.value)}});
  }
  return list;
}

namespace {

// Where GPUs are many, those with equal values are one, with their number.
Json memories_json(const Prediction& p, const Platform& platform) {
  Json list = Json::array();
  for (const auto& m : p.memory) list.push_back(memory_json(m, platform));
  if (list.size() <= kMostNamedGpus) return list;
  Json out = Json::array();
  std::map<std::string, std::size_t> known;
  for (const Json& entry : list) {
    Json rest = entry;
    rest.erase("gpu");
    const auto [at, is_new] = known.try_emplace(rest.dump(), out.size());
    if (is_new) out.push_back(entry);
    Json& one = out[at->second];
    one["gpus"] = one.value("gpus", 0) + 1;
  }
  return out;
}

// Consecutive layers with the same division are merged.
Json shardings_json(const Stage& stage, const OperatorGraph& operators) {
  Json list = Json::array();
  for (std::size_t i = 0; i < stage.shardings.size();) {
    const int layer = operators[stage.first + i].layer;
    Json division = Json::object();
    for (; i < stage.shardings.size() && operators[stage.first + i].layer == layer; ++i)
      division[name_of(operators[stage.first + i].role)] = name_of(stage.shardings[i]);
    if (!list.empty() && list.back()["operators"] == division) {
      list.back()["layers"][1] = layer;
    } else {
      list.push_back({{"layers", {layer, layer}}, {"operators", division}});
    }
  }
  return list;
}

Json plan_json(const Plan& plan, const Scenario& scenario, const OperatorGraph& operators) {
  Json stages = Json::array();
  const bool in_short = devices_of(plan).size() > kMostNamedGpus;
  for (const auto& stage : plan.stages) {
    std::vector<std::string> mesh;
    for (const int device : stage.mesh) mesh.push_back(scenario.platform.devices[device].name);
    if (in_short) mesh = names_of_gpus(scenario.platform, stage.mesh);
    const auto& shares = stage.batch_shares;
    const bool equal = in_short && std::equal(shares.begin() + 1, shares.end(), shares.begin());
    stages.push_back({{"gpus", mesh},
                      {"mesh", stage.shape()},
                      {"layers", {operators[stage.first].layer, operators[stage.last - 1].layer}},
                      {"batch_shares", equal ? std::vector{shares.front()} : shares},
                      {"shardings", shardings_json(stage, operators)}});
  }
  Json out = {{"micro_batches", plan.micro_batches}, {"schedule", name_in(schedule_names(), schedule_of(plan))}};
  if (plan.stages.size() > 1) out["order"] = name_in(send_order_names(), send_order_of(plan));
  out["optimizer"] = optimizer_of(plan) == Optimizer::kDivided ? "divided" : "replicated";
  out["stages"] = stages;
  return out;
}

Json interconnects_json(const Prediction& p, const Platform& platform) {
  Json list = Json::array();
  for (const auto& use : p.interconnects) {
    list.push_back({{"node", platform.vms[use.vm].name},
                    {"interconnect", use.interconnect},
                    {"bytes", std::llround(use.bytes.value)},
                    {"average_Bps", rounded(use.average.value)},
                    {"p90_Bps", rounded(use.p90.value)},
                    {"peak_Bps", rounded(use.peak.value)},
                    {"capacity_Bps", rounded(use.capacity.value)}});
  }
  return list;
}

Json prediction_json(const Prediction& p, const Scenario& scenario, const OperatorGraph& operators) {
  Json links = Json::array();
  for (const auto& use : p.links) {
    links.push_back({{"link", use.link},
                     {"bytes", static_cast<std::int64_t>(std::llround(use.bytes.value))},
                     {"average_Bps", rounded(use.average.value)},
                     {"p90_Bps", rounded(use.p90.value)},
                     {"peak_Bps", rounded(use.peak.value)}});
  }
  const double rate = rounded(p.rate_per_gpu.value / kTera);
  Json out = head_json(p);
  out.update({{"first_iteration_s", rounded(p.first_iteration.value)},
              {"startup_s", rounded(p.startup.value)},
              {"iterations", static_cast<std::int64_t>(p.iterations)},
              {"tflops_per_gpu", rate},
              {"tflops_total", rounded(rate * p.gpus)},
              {"gpu_hours", rounded(p.gpu_hours())},
              {"tokens_per_second", rounded(p.tokens_per_second)},
              {"mfu", rounded(p.mfu)},
              {"energy_kwh", p.bill.energy ? Json(rounded(p.bill.energy->value / kJoulesPerKwh)) : Json(nullptr)},
              {"cost", p.bill.cost ? Json(rounded(*p.bill.cost)) : Json(nullptr)},
              {"currency", p.bill.cost ? Json(p.bill.currency) : Json(nullptr)},
              {"assumed", p.assumed},
              {"measure", p.measures},
              {"memory", memories_json(p, scenario.platform)},
              {"breakdown_s", breakdown_json(p.breakdown)},
              {"links", links},
              {"plan", p.plan ? plan_json(*p.plan, scenario, operators) : Json(nullptr)}});
  if (p.round) {
    out["round"] = {{"steps", p.round->steps},
                    {"time_s", rounded(p.round->time.value)},
                    {"count", static_cast<std::int64_t>(p.round->count)},
                    {"rest_steps", p.round->rest},
                    {"rest_time_s", rounded(p.round->rest_time.value)}};
  }
  if (p.warm_up) out["warm_up"] = {{"steps", p.warm_up->steps}, {"iteration_s", rounded(p.warm_up->iteration.value)}};
  if (p.spread > 0) out["spread"] = rounded(p.spread);
  if (!p.remarks.empty()) out["remarks"] = p.remarks;
  if (p.basis) {
    out["computation_s"] = {{"measured", rounded(p.basis->measured.value)},
                            {"interpolated", rounded(p.basis->interpolated.value)},
                            {"roofline", rounded(p.basis->roofline.value)}};
  }
  // For nodes that describe their inside.
  if (!p.interconnects.empty()) out["interconnects"] = interconnects_json(p, scenario.platform);
  if (!p.stores.empty()) out["stores"] = stores_json(p.stores);
  return out;
}

Json selection_json(const Selection& s, const Scenario& scenario) {
  return {{"model", s.model},
          {"algorithm", name_in(algorithm_names(), s.algorithm)},
          {"delta", scenario.selection.delta},
          {"epsilon_epochs", scenario.selection.epsilon_epochs},
          {"objective", name_in(objective_names(), scenario.selection.objective)},
          {"technique", s.technique ? Json(s.technique->name) : Json(nullptr)},
          {"group", in_ranges(s.group)},
          {"steps", s.steps}};
}

constexpr std::size_t kMostRoutesListed = 1024;

Json interval_json(const Interval& interval, double unit, double level) {
  return {{"low", rounded(interval.low / unit)}, {"high", rounded(interval.high / unit)}, {"level", level}};
}

// Adds intervals and probabilities to predictions and picks.
void add_uncertainty(const RunResult& result, Json& out) {
  const Uncertainty& u = *result.uncertainty;
  for (std::size_t i = 0; i < u.cells.size(); ++i) {
    Json& prediction = out["predictions"][i];
    prediction["probability_fits"] = rounded(u.cells[i].fits);
    if (u.cells[i].job.high <= 0) continue;
    prediction["minutes_interval"] = interval_json(u.cells[i].job, 60, u.level);
    prediction["iteration_s_interval"] = interval_json(u.cells[i].iteration, 1, u.level);
  }
  const auto& objective = name_in(objective_names(), result.scenario.selection.objective);
  Json picks = Json::array();
  for (const auto& pick : u.picks)
    picks.push_back({{"model", pick.model},
                     {"probability", rounded(pick.right)},
                     {"regret", rounded(pick.regret)},
                     {"objective", objective}});
  out["uncertainty"] = {{"points", u.points}, {"fitted_to", u.fitted_to}, {"unknowns", u.unknowns}, {"picks", picks}};
  if (!u.remarks.empty()) out["uncertainty"]["remarks"] = u.remarks;
}

// The facts that `slmsim run` prints first, without draws and suggestions.
Json verdict_json(const RunResult& result) {
  Json out = Json::array();
  const auto place = [&](std::size_t row) {
    const Prediction& p = result.predictions[row];
    return Json{
        {"technique", p.technique->name}, {"group", in_ranges(p.group)}, {"minutes", rounded(p.job.value / 60)}};
  };
  for (const auto& v : verdicts_of(result)) {
    Json as_good = Json::array();
    for (const std::size_t row : v.as_good) as_good.push_back(place(row));
    Json one = {{"model", v.model}, {"best", v.best ? place(*v.best) : Json(nullptr)}, {"as_good", as_good}};
    if (v.job) one["minutes_interval"] = interval_json(*v.job, 60, v.level);
    if (v.right) one["probability"] = rounded(*v.right);
    if (v.fits) one["probability_fits"] = rounded(*v.fits);
    if (v.nearest)
      one["nearest"] = {{"name", v.nearest->name},
                        {"page", v.nearest->page},
                        {"error", v.nearest->error},
                        {"distance", rounded(v.nearest->distance)},
                        {"outside", v.nearest->outside}};
    out.push_back(std::move(one));
  }
  return out;
}

Json run_json(const RunResult& result) {
  std::map<std::string, OperatorGraph> operators;
  for (const auto& model : result.scenario.models) operators[model.name] = build_operator_graph(model);
  Json predictions = Json::array(), selections = Json::array();
  for (const auto& p : result.predictions)
    predictions.push_back(prediction_json(p, result.scenario, operators.at(p.model)));
  for (std::size_t i = 0; i < result.jobs.size(); ++i) {
    if (result.jobs[i]) predictions[i]["job"] = job_json(*result.jobs[i]);
  }
  for (std::size_t i = 0; i < result.selections.size(); ++i) {
    selections.push_back(selection_json(result.selections[i], result.scenario));
    selections.push_back(selection_json(result.others[i], result.scenario));
  }
  Json out = {{"schema", "slmsim/run/1"},
              {"scenario", result.scenario.name},
              {"predictions", predictions},
              {"selection", selections.empty() ? Json(nullptr) : selections.front()},
              {"selections", selections}};
  if (!result.plans.empty()) out["plans"] = result.plans;
  if (result.scenario.job) out["job"] = job_rules_json(result.scenario);
  Json routes = Json::array();
  for (const auto& route : site_routes(result.scenario.platform, kMostRoutesListed)) {
    routes.push_back({{"from", route.from},
                      {"to", route.to},
                      {"links", route.links},
                      {"over", route.over},
                      {"rtt_s", rounded(route.rtt.value)},
                      {"one_connection_Bps", rounded(route.there.value)},
                      {"bound_by", route.bound_there},
                      {"one_connection_back_Bps", rounded(route.back.value)},
                      {"bound_back_by", route.bound_back}});
  }
  if (!routes.empty()) out["ways"] = std::move(routes);
  if (result.uncertainty) add_uncertainty(result, out);
  out["assumed"] = assumed_json(all_assumptions(result));
  out["verdict"] = verdict_json(result);
  return out;
}

}  // namespace

std::string to_json(const RunResult& result) { return run_json(result).dump(2) + "\n"; }

std::string to_text(const std::vector<RunResult>& results, Format format) {
  std::string out;
  if (format == Format::kCsv) return to_csv(results);
  if (format == Format::kJson) {
    Json list = Json::array();
    for (const auto& result : results) list.push_back(run_json(result));
    return to_text(list);
  }
  for (const auto& result : results) out += (out.empty() ? "" : "\n") + to_table(result);
  return out;
}

std::string to_csv(const std::vector<RunResult>& results) {
  const bool intervals = !results.empty() && results.front().uncertainty;
  const bool jobs = std::ranges::any_of(results, [](const auto& result) { return !result.jobs.empty(); });
  std::string out = csv_header() + (intervals ? interval_header() : "") + (jobs ? job_header() : "") + "\n";
  for (const auto& result : results) {
    for (std::size_t i = 0; i < result.predictions.size(); ++i) {
      out += csv_line(row_of(result.scenario.name, result.predictions[i]));
      out += intervals ? interval_cells(*result.uncertainty, i) : "";
      out += (jobs ? job_cells(result.jobs.empty() ? std::nullopt : result.jobs[i]) : "") + "\n";
    }
  }
  return out;
}

}  // namespace slmsim
