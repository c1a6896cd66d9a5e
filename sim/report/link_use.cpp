#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/predict/row.h"
#include "sim/report/tables.h"
#include "sim/scenario/group.h"

namespace slmsim {
namespace {

// Explains a table without rows: predictions that did not run use no links.
std::string none_text(const RunResult& result) {
  const auto& all = result.predictions;
  if (std::none_of(all.begin(), all.end(), [](const Prediction& p) { return p.is_timed(); }))
    return "  none: nothing ran, for the reasons above\n";
  const auto& vms = result.scenario.platform.vms;
  if (std::all_of(vms.begin(), vms.end(), [](const Vm& vm) { return vm.type.inside.empty(); }))
    return "  none: no VM type of this platform describes its inside (docs/scenario.md, The inside of a node)\n";
  return "  none: the VM types of what ran do not describe their inside (docs/scenario.md, The inside of a node)\n";
}

}  // namespace

std::string to_link_use_table(const std::vector<RunResult>& results) {
  std::string out;
  for (const auto& result : results) {
    out += fmt::format("\n{}: use of links per node, both directions together, GB/s\n", result.scenario.name);
    out += fmt::format("  {:<14} {:<10} {:<10} {:<10} {:>9} {:>9} {:>9} {:>9}\n", "model", "technique", "node", "links",
                       "average", "90th", "peak", "capacity");
    bool any = false;
    for (const auto& p : result.predictions) {
      for (const auto& use : p.interconnects) {
        any = true;
        out += fmt::format("  {:<14} {:<10} {:<10} {:<10} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.1f}\n", p.model,
                           p.technique->name, result.scenario.platform.vms[use.vm].name,
                           use.interconnect, use.average.value / kGiga, use.p90.value / kGiga, use.peak.value / kGiga,
                           use.capacity.value / kGiga);
      }
    }
    if (!any) out += none_text(result);
  }
  return out;
}

std::string to_timeline_csv(const std::vector<RunResult>& results) {
  std::string out = "scenario,model,technique,group,node,interconnect,time_s,rate_Bps\n";
  for (const auto& result : results) {
    for (const auto& p : result.predictions) {
      for (const auto& use : p.interconnects) {
        const std::string row = fmt::format(
            "{},{},{},{},{},{}", csv_cell(result.scenario.name), csv_cell(p.model), p.technique->name,
            csv_cell(fmt::format("{}", fmt::join(in_ranges(p.group), "+"))),
            csv_cell(result.scenario.platform.vms[use.vm].name), csv_cell(use.interconnect));
        for (const auto& step : use.steps) out += fmt::format("{},{:.9g},{:.9g}\n", row, step.time, step.rate);
      }
    }
  }
  return out;
}

}  // namespace slmsim
