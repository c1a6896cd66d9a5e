#include "tests/validation/allreduce_facts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/csv.h"
#include "sim/base/error.h"
#include "sim/fit/pilot.h"
#include "sim/scenario/scenario.h"

namespace slmsim {
namespace {

constexpr Bytes kLarge{10e6};
constexpr double kMostValue = 1e15;  // for any number in the table
const std::vector<std::string> kAllReduceColumns = {"source", "machine", "gpus", "bytes", "seconds"};

// Hardware of a machine in the tables. Sailor's V100-16 is unknown: two of its GPUs exceed two NVLinks, so it is no DGX-1.
struct Machine {
  const char *source, *name, *gpu, *vm_type;
  int gpus;
};
constexpr Machine kMachines[] = {
    {"Sailor", "RTX-2080", "rtx2080ti", "gpu-server", 8},
    {"Sailor", "Titan-RTX", "titan-rtx", "gpu-server", 8},
    {"Sailor", "RTX-3090", "rtx3090", "nvlink-pairs-8", 8},
    {"Sailor", "A100-40", "a100-40", "dgx-a100", 8},
    {"vTrain", "v100", "v100", "dgx-1v", 8},
    {"vTrain", "a100", "a100-40", "dgx-a100", 8},
    {"aiconfigurator", "a100_sxm", "a100-80", "dgx-a100", 8},
    {"aiconfigurator", "h100_sxm", "h100", "dgx-h100", 8},
    {"aiconfigurator", "l40s", "l40s", "pcie-switch-8", 8},
    {"aiconfigurator", "rtx_pro_6000_server", "rtxpro6000", "pcie5-switch-8", 8},
};

const Machine* machine_of(const std::string& source, const std::string& name) {
  const auto found = std::find_if(std::begin(kMachines), std::end(kMachines),
                                  [&](const Machine& m) { return m.source == source && m.name == name; });
  return found == std::end(kMachines) ? nullptr : found;
}

Scenario scenario_of(const Machine& machine) {
  std::string gpus;
  for (int i = 0; i < machine.gpus; ++i) gpus += (i ? ", " : "") + std::string(machine.gpu);
  const std::string text = fmt::format(R"(name: all-reduce
models: gpt2m
techniques: [DDP]
training: {{batch: 8, epochs: 1, blocks_per_epoch: 8}}
platform:
  name: machine
  sites: {{here: {{}}}}
  vms: {{vm: {{site: here, type: {}, gpus: [{}]}}}}
)",
                                       machine.vm_type, gpus);
  ScenarioFile file(parse_yaml(text, machine.name), std::filesystem::current_path() / "all-reduce.yaml");
  return read_scenario(file.link({}), file.name());
}

// One call of PyTorch or of NCCL's own test, with all GPUs ready.
Seconds predicted_time(const Scenario& scenario, const Network& network, int gpus, Bytes size) {
  std::vector<int> devices(static_cast<std::size_t>(gpus));
  std::iota(devices.begin(), devices.end(), 0);
  return time_of({.collective = Collective::kAllReduce, .size = size, .warm = false}, devices, scenario, network);
}

ErrorSummary summary_of_rows(const std::vector<AllReduceRow>& rows, const AllReduceSummary& of, bool large) {
  std::vector<Comparison> cells;
  for (const AllReduceRow& row : rows) {
    if (row.source == of.source && row.machine == of.machine && (of.gpus == 0 || row.gpus == of.gpus) &&
        (row.size > kLarge) == large)
      cells.push_back(row.judged());
  }
  return summary_of(cells);
}

}  // namespace

AllReduceReport validate_all_reduce(const std::filesystem::path& table) {
  struct BuiltMachine {
    Scenario scenario;
    std::unique_ptr<Network> network;
  };
  std::map<const Machine*, BuiltMachine> built;
  std::map<std::tuple<const Machine*, int, double>, Seconds> known;
  AllReduceReport report;
  for (const TableRow& cells : read_table(table, kAllReduceColumns, "source,machine,gpus,bytes,seconds")) {
    AllReduceRow row{cells.text("source"), cells.text("machine"), 0, {}, {}, {}};
    const double gpus = cells.positive("gpus", kMostValue);
    row.size = Bytes{cells.positive("bytes", kMostValue)};
    row.measured = Seconds{cells.positive("seconds", kMostValue)};
    const Machine* machine = machine_of(row.source, row.machine);
    if (!machine) {
      const std::string name = row.source + " " + row.machine;
      if (std::find(report.unknown.begin(), report.unknown.end(), name) == report.unknown.end())
        report.unknown.push_back(name);
      continue;
    }
    if (gpus < 2 || gpus > machine->gpus)
      cells.fail(fmt::format("gpus: {} has 2 to {}, not {}", row.machine, machine->gpus, cells.text("gpus")));
    row.gpus = static_cast<int>(gpus);
    BuiltMachine& with = built[machine];
    if (!with.network) {
      with.scenario = scenario_of(*machine);
      with.network = std::make_unique<Network>(with.scenario.platform);
    }
    const auto [time, is_new] = known.try_emplace({machine, row.gpus, row.size.value});
    if (is_new) time->second = predicted_time(with.scenario, *with.network, row.gpus, row.size);
    row.predicted = time->second;
    for (const int part : {0, row.gpus}) {
      const auto same = [&](const AllReduceSummary& s) {
        return s.source == row.source && s.machine == row.machine && s.gpus == part;
      };
      if (std::none_of(report.machines.begin(), report.machines.end(), same))
        report.machines.push_back({row.source, row.machine, machine->gpu, machine->vm_type, part, {}, {}});
    }
    report.rows.push_back(std::move(row));
  }
  for (AllReduceSummary& summary : report.machines) {
    summary.large = summary_of_rows(report.rows, summary, true);
    summary.small = summary_of_rows(report.rows, summary, false);
  }
  return report;
}

}  // namespace slmsim
