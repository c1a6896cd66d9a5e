#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/quantity.h"
#include "sim/predict/assumption.h"
#include "sim/predict/predict.h"
#include "sim/report/json_values.h"
#include "sim/report/phrases.h"
#include "sim/report/tables.h"
#include "sim/scenario/group.h"

namespace slmsim {
namespace {

std::string gib(Bytes size) { return fmt::format("{:.1f}", size.value / kGibi); }

// Used and total size, over host memories or over drives.
std::string store_text(const LargestModel& model, bool drive) {
  Bytes used{0}, limit{0};
  for (const auto& store : model.stores) {
    if (store.drive != drive) continue;
    used += store.used;
    limit += store.limit;
  }
  return limit > Bytes{0} ? fmt::format("{:.0f}/{:.0f}", used.value / kGibi, limit.value / kGibi) : "-";
}

// Assumptions on stored state and the framework's memory; times and paths do not matter here.
std::vector<Assumption> assumptions_on_memory(const LargestResult& result) {
  std::vector<Assumption> out = assumptions_of(result.scenario);
  std::erase_if(out, [](const Assumption& one) { return one.measure != kTorchStep && one.about != "software.stack"; });
  return out;
}

Json model_json(const LargestModel& m, const Platform& platform) {
  Json memory = Json::array();
  for (const auto& d : m.memory) memory.push_back(memory_json(d, platform));
  return {{"model", m.model},
          {"technique", m.technique->name},
          {"group", in_ranges(m.group)},
          {"layers", m.layers},
          {"parameters", rounded(m.parameters)},
          {"memory", memory},
          {"stores", stores_json(m.stores)},
          {"limit", m.limit}};
}

Json result_json(const LargestResult& result) {
  Json models = Json::array();
  for (const auto& m : result.models) models.push_back(model_json(m, result.scenario.platform));
  return {{"schema", "slmsim/max-model/1"},
          {"scenario", result.scenario.name},
          {"models", models},
          {"assumed", assumed_json(assumptions_on_memory(result))}};
}

}  // namespace

std::string to_largest_table(const std::vector<LargestResult>& results) {
  std::string out;
  for (const auto& result : results) {
    out += fmt::format("{}{}: the largest models that fit; memory in GiB, used/limit\n", out.empty() ? "" : "\n",
                       result.scenario.name);
    for (const auto& model : result.scenario.models) {
      out += fmt::format("\nlike {} (hidden {}, {} heads, sequence {})\n", model.name, model.hidden, model.heads,
                         model.sequence);
      out +=
          fmt::format("  {:<10} {:<14} {:>6} {:>8}  {:>11}  {:>31} {:>10} {:>11}  {}\n", "technique", "group", "layers",
                      "1e9", "fullest GPU", "param/grad/optim/act/buf/frame", "host", "drives", "limited by");
      for (const auto& m : result.models) {
        if (m.model != model.name) continue;
        const DeviceMemory* d = fullest(m.memory);
        std::vector<std::string> parts;
        for (const auto& part : kMemoryParts) {
          if (d) parts.push_back(gib(d->*part.bytes));
        }
        out += fmt::format("  {:<10} {:<14} {:>6} {:>8}  {:>11}  {:>31} {:>10} {:>11}  {}\n", m.technique->name,
                           group_text(m.group), m.layers > 0 ? fmt::format("{}", m.layers) : "-",
                           m.layers > 0 ? fmt::format("{:.2f}", m.parameters / 1e9) : "-",
                           d ? gib(d->total()) + "/" + gib(d->limit) : "-",
                           d ? fmt::format("{}", fmt::join(parts, "/")) : "-", store_text(m, false),
                           store_text(m, true), m.limit);
      }
    }
    if (const std::string assumed = assumed_line(assumptions_on_memory(result)); !assumed.empty())
      out += "\n" + assumed + "\n";
  }
  return out;
}

std::string to_largest_json(const std::vector<LargestResult>& results) {
  Json list = Json::array();
  for (const auto& result : results) list.push_back(result_json(result));
  return (list.size() == 1 ? list.front() : list).dump(2) + "\n";
}

}  // namespace slmsim
