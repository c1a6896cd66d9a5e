// slmsim fit SCENARIO --measured FILE: fits unknown values to pilot runs.
#include <memory>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/fit/scenario_fit.h"
#include "sim/report/report.h"

namespace slmsim {
namespace {

struct FitOptions {
  std::string scenario, measured, output;
  Overrides overrides;
  std::uint64_t seed = 1;
  std::size_t points = 256;
  double time_limit = 0;
};

int fit_verb(const FitOptions& options) {
  ScenarioFit request{options.scenario, options.overrides, options.measured, {}};
  request.sampling.particles = options.points;
  request.sampling.seed = options.seed;
  request.sampling.stop = stop_at(options.time_limit);
  ProgressLine line;
  request.sampling.progress = [&](double beta, std::size_t evaluated) {
    line.update(fmt::format("weight of the runs {:.2g} %, {} points tried", 100 * beta, evaluated));
  };
  const FitReport report = fit_scenario(request);
  line.clear();
  if (!options.output.empty()) write_result(to_yaml(report), options.output);
  write_result(to_table(report), "");
  return kDone;
}

}  // namespace

Command add_fit(CLI::App& app) {
  auto* verb = app.add_subcommand("fit", "fit a scenario's unknowns to measured runs");
  auto options = std::make_shared<FitOptions>();
  verb->add_option("SCENARIO", options->scenario, "a scenario's file, or a name as slmsim list scenarios prints it")
      ->required()
      ->transform(scenario_file);
  verb->add_option("--measured", options->measured,
                   "table of runs (CSV) with the columns model, technique, group, what, value and noise")
      ->required();
  add_output_option(*verb, options->output, "write the fit to this file, which slmsim run --fitted takes");
  add_set_option(*verb, options->overrides);
  add_seed(*verb, options->seed, "seed of the random numbers; the same seed gives the same fit");
  verb->add_option("--points", options->points, "number of points that represent the result")
      ->capture_default_str()
      ->check(number_within(16, 100'000));
  verb->add_option("--time-limit", options->time_limit,
                   "seconds after which it stops with the results so far, which then depend on the machine")
      ->check(number_within(0.001, 1e7));
  verb->footer(R"(
Unknowns are values with stated choices or ranges, {value: 8, one_of: [4, 8, 16]} or {value: 1 GB/s,
between: [0.3 GB/s, 3 GB/s], scale: log}, inferred and assumed values, and defaults that differ between machines;
docs/commands/fit.md lists them.

Values of the column what: job, iteration (with a unit), peak_memory, tokens_per_second, tflops_per_gpu, fits (yes or no),
or log, a file with the steps that Megatron-LM, DeepSpeed, torchtitan or Alpa printed; for the network alone nccl-tests,
the output of all_reduce_perf, or netprobe, a path that slmsim-netprobe or iperf3 measured from one VM to another:
  model,technique,group,what,value
  gpt2m,Data,gat+amst,iteration,58.1 s
  gpt2m,Shard,gat,fits,yes
  gpt2m,Data,gat,log,data.log
  ,,gat+amst,nccl-tests,all_reduce_perf.txt
  ,,gat+amst,netprobe,gat-amst.yaml

Examples:
  slmsim fit scenarios/gat-amst.yaml --measured runs.csv -o fitted.yaml
  slmsim run scenarios/gat-amst.yaml --fitted fitted.yaml)");
  return {verb, [options] { return fit_verb(*options); }};
}

}  // namespace slmsim
