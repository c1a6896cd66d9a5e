// slmsim max-model SCENARIO...: the largest number of layers that fits, by technique, and the memory that is full then.
#include <algorithm>
#include <memory>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/crew/crew.h"
#include "sim/report/report.h"

namespace slmsim {
namespace {

struct MaxModelOptions : ScenarioOptions {
  std::string format = "table";
  Filter filter;
};

int max_model(const MaxModelOptions& options) {
  std::vector<LargestResult> results;
  bool any = false;
  for (auto& scenario : load_filtered(options, options.filter)) {
    auto models = largest_models(scenario, nullptr, available_cores());
    any = any || std::ranges::any_of(models, [](const LargestModel& m) { return m.layers > 0; });
    results.push_back({std::move(scenario), std::move(models)});
  }
  write_result(options.format == "json" ? to_largest_json(results) : to_largest_table(results), options.output);
  return any ? kDone : kNothingFits;
}

}  // namespace

Command add_max_model(CLI::App& app) {
  auto* verb =
      app.add_subcommand("max-model", "find the largest number of layers that fits, by technique, and its limit");
  auto options = std::make_shared<MaxModelOptions>();
  add_scenario_options(*verb, *options);
  add_format_option(*verb, options->format, {"table", "json"});
  add_filter_options(*verb, options->filter);
  verb->footer(R"(
The model's hidden size, heads, sequence and vocabulary stay fixed; layers are added until GPU, host memory or drives are full.

Examples:
  slmsim max-model scenarios/xe8545-1.yaml
  slmsim max-model scenarios/xe8545-1.yaml --technique ZeRO-3 --format json
  slmsim max-model scenarios/gat-amst.yaml --set training.rematerialisation=yes)");
  return {verb, [options] { return max_model(*options); }};
}

}  // namespace slmsim
