#include "tests/validation/wan_facts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/csv.h"
#include "sim/base/error.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/compute/operator_graph.h"
#include "sim/fit/pilot.h"
#include "sim/predict/iterations.h"
#include "sim/technique/common/technique.h"

namespace slmsim {
namespace {

constexpr Seconds kIperf{10};  // its default (-t 10)

Scenario scenario_from(const std::string& text, const char* name) {
  ScenarioFile file(parse_yaml(text, name), std::filesystem::current_path() / (std::string(name) + ".yaml"));
  return read_scenario(file.link({}), file.name());
}

template <class Use>
void for_each_row(const std::filesystem::path& table, const std::vector<std::string>& columns, Use use) {
  for (const TableRow& row : read_table(table, columns, fmt::format("{}", fmt::join(columns, ",")))) use(row);
}

// --- paths

// Two VMs whose kernels have Linux's defaults (tcp(7)), with the path's round trip.
Scenario path_scenario(Seconds rtt) {
  return scenario_from(fmt::format(R"(name: path
models: gpt2m
techniques: [Data]
training: {{batch: 8, epochs: 1, blocks_per_epoch: 8}}
platform:
  name: path
  sites: {{here: {{}}, there: {{}}}}
  vms:
    a:
      site: here
      type: &machine
        name: machine
        nic: {0:.17g} bps
        device_latency: 0 s
        tcp: {{net.ipv4.tcp_rmem: 6 MiB, net.ipv4.tcp_wmem: 4 MiB, copy_rate: 10 GB/s}}
      gpus: [a100-40]
    b: {{site: there, type: *machine, gpus: [a100-40]}}
  links: {{path: {{between: [here, there], rtt: {1:.17g} s, bandwidth: {0:.17g} bps, mtu: 1500 B}}}}
)",
                                   kCloudEgress.value * 8, rtt.value),
                       "path");
}

// Rate that arrives within the test's time, over new connections.
BytesPerSecond predicted_rate(Seconds rtt, int connections) {
  const Scenario scenario = path_scenario(rtt);
  const Network network(scenario.platform);
  const auto send = [&](Bytes size) {
    return time_of({.collective = {}, .size = size, .connections = connections, .warm = false}, {0, 1}, scenario,
                   network);
  };
  double least = 0, most = (kCloudEgress * kIperf).value;
  while (most - least > 1e-6 * most) {
    const double middle = (least + most) / 2;
    (send(Bytes{middle}) > kIperf ? most : least) = middle;
  }
  return Bytes{least} / kIperf;
}

std::vector<PathRow> paths_of(const std::filesystem::path& table) {
  std::vector<PathRow> out;
  for_each_row(table, {"path", "rtt_ms", "connections", "mbit_s"}, [&](const TableRow& row) {
    PathRow path{row.text("path"),
                 Seconds{row.positive("rtt_ms", 60'000) / 1000},
                 row.count("connections", 10'000),
                 BytesPerSecond{row.positive("mbit_s", 1e6) * 1e6 / 8},
                 {}};
    path.predicted = predicted_rate(path.rtt, path.connections);
    out.push_back(std::move(path));
  });
  return out;
}

// --- rounds

// Six layers of 384 and GPT-2's vocabulary make 30.3 M parameters: the table says 30 M, without a shape. Machines are joined by
// one switch; 0.1 ms between them is typical.
constexpr const char* kFourMachines = R"(name: rounds
models:
  - {{name: gpt2-30m, family: gpt2, hidden: 384, heads: 6, layers: 6, sequence: 1024, vocabulary: 50257}}
techniques: {{{0}: {{inner_steps: {1}}}}}
groups: all
training: {{batch: 4, epochs: 1, blocks_per_epoch: 4000000, precision: bf16}}
platform:
  name: rounds
  sites: {{lab: {{rtt: 0.1 ms}}}}
  vms:
    a:
      site: lab
      type: &machine
        name: machine
        nic: {2}
        device_latency: 10 us
        tcp: {{net.ipv4.tcp_rmem: 6 MiB, net.ipv4.tcp_wmem: 4 MiB, copy_rate: 1 GB/s}}
      gpus: [l40s]
    b: {{site: lab, type: *machine, gpus: [l40s]}}
    c: {{site: lab, type: *machine, gpus: [l40s]}}
    d: {{site: lab, type: *machine, gpus: [l40s]}}
)";

const Technique& technique_in(const TableRow& row) {
  std::vector<std::string> names;
  for (const Technique* technique : technique_table()) {
    if (lower_case(technique->name) == lower_case(row.text("technique"))) return *technique;
    names.emplace_back(technique->name);
  }
  row.fail(fmt::format("technique: \"{}\" is unknown; {}", row.text("technique").substr(0, 64),
                       did_you_mean(row.text("technique"), names)));
}

// A round with inner steps of the measured length: passes are scaled so that they and Adam add up to it.
Seconds predicted_step(const Technique& technique, int steps, const std::string& rate) {
  const Scenario scenario = scenario_from(fmt::format(kFourMachines, technique.name, steps, rate), "rounds");
  const OperatorGraph operators = build_operator_graph(scenario.models.front());
  const Network network(scenario.platform);
  const PlanResult planned = make_plan(
      {scenario, scenario.models.front(), operators, scenario.groups.front(), scenario.techniques.front()});
  if (!planned.plan) throw InputError({}, planned.reason);
  TaskGraph graph = technique.lower({*planned.plan, operators, scenario, network}).graph;
  double passes = 0;
  for (const Task& task : graph.tasks()) {
    const TaskClass of = graph.tag_of(task).of;
    const bool is_pass = of == TaskClass::kForward || of == TaskClass::kBackward;
    if (task.kind == TaskKind::kCompute && task.place == 0 && is_pass) passes += task.amount;
  }
  const Seconds adam = update_time(parameter_count(operators), scenario.platform.devices.front().gpu,
                                   scenario.training.update(), scenario.software);
  const double factor = (kInnerStep - adam).value * steps / passes;
  for (const TaskClass of : {TaskClass::kForward, TaskClass::kBackward}) graph.scale(of, factor);
  return simulate_iterations(graph).steady() / static_cast<double>(steps);
}

std::vector<RoundRow> rounds_of(const std::filesystem::path& table) {
  std::vector<RoundRow> out;
  for_each_row(table, {"technique", "rate", "inner_steps", "seconds_per_inner_step"}, [&](const TableRow& row) {
    const Technique& technique = technique_in(row);
    RoundRow round{technique.name,
                   row.text("rate"),
                   row.count("inner_steps", 100'000),
                   Seconds{row.positive("seconds_per_inner_step", 1e6)},
                   {}};
    round.predicted = predicted_step(technique, round.inner_steps, round.rate);
    out.push_back(std::move(round));
  });
  return out;
}

template <class Rows>
ErrorSummary errors_of(const Rows& rows) {
  std::vector<Comparison> cells;
  cells.reserve(rows.size());
  for (const auto& row : rows) cells.push_back(row.judged());
  return summary_of(cells);
}

}  // namespace

WanValidation validate_wan(const std::filesystem::path& folder) {
  WanValidation out{paths_of(folder / "iperf.csv"), rounds_of(folder / "localsgd.csv"), {}, {}};
  out.path_errors = errors_of(out.paths);
  out.round_errors = errors_of(out.rounds);
  return out;
}

}  // namespace slmsim
