#include "tests/validation/deepspeed_protocol.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/fit/unknown.h"

namespace slmsim {
namespace {

// Points at which rows are simulated: enough for the ends of an interval.
constexpr std::size_t kJudged = 48;

struct ProtocolRow {
  DeepSpeedFact fact;
  std::size_t experiment = 0;
  Candidate cell;
  int gpus = 0;
};

class DeepSpeedRunner {
 public:
  DeepSpeedRunner(const std::filesystem::path& root, std::vector<DeepSpeedFact> facts, const ProtocolOptions& options)
      : options_(options) {
    for (auto& fact : facts) {
      if (fact.metric == "throughput") add(root, std::move(fact));
    }
    forecaster_.emplace(experiments_);
    out_.level = options.level;
  }

  DeepSpeedProtocol run() {
    out_.unknowns = deepspeed_unknowns();
    const Posterior prior = prior_of(out_.unknowns, options_.points, options_.seed);
    judge(prior, out_.before);
    Sampling sampling;
    sampling.particles = options_.points;
    sampling.seed = options_.seed;
    sampling.stop = options_.stop;
    sampling.progress = [&](double beta, std::size_t evaluated) {
      tell(fmt::format("weight of the runs {:.2g} %, {} points", 100 * beta, evaluated));
    };
    const Posterior posterior = fit(request(), *forecaster_, sampling);
    out_.complete = out_.complete && posterior.complete;
    if (out_.complete) judge(posterior, out_.after);
    out_.marginals = marginals_of(posterior);
    out_.emulated_error = posterior.emulated_error;
    out_.simulated = forecaster_->simulated();
    return std::move(out_);
  }

 private:
  void tell(const std::string& text) const {
    if (options_.progress) options_.progress(text);
  }

  // Rows with the same nodes, drives and size belong to one scenario.
  void add(const std::filesystem::path& root, DeepSpeedFact fact) {
    const DeepSpeedRun& run = *deepspeed_run(fact.config);
    const auto [at, is_new] =
        places_.try_emplace({fact.nodes, run.placement, fact.size, fact.use == "fit"}, experiments_.size());
    const auto file = root / "scenarios" / fmt::format("xe8545-{}.yaml", fact.nodes);
    Overrides overrides;
    if (*run.placement) overrides.push_back(fmt::format("platform=xe8545-nvme-{}", run.placement));
    auto scenario = scenarios_.find(file);
    if (scenario == scenarios_.end()) scenario = scenarios_.emplace(file, load_scenario(file)).first;
    const Transformer& model = scenario->second.models.front();
    overrides.push_back(fmt::format("models.0.layers={}", layers_of_size(fact.size, model)));
    if (is_new) experiments_.push_back({file, overrides, {}});
    const Group& group = scenario->second.groups.front();
    ProtocolRow row{
        std::move(fact), at->second, {model.name, run.technique, group.names}, static_cast<int>(group.devices.size())};
    auto& cells = experiments_[at->second].cells;
    if (std::find(cells.begin(), cells.end(), row.cell) == cells.end()) cells.push_back(row.cell);
    rows_.push_back(std::move(row));
  }

  FitRequest request() {
    FitRequest out;
    out.shared = deepspeed_unknowns();
    out.experiments = experiments_;
    out.pilots.resize(experiments_.size());
    out.own.resize(experiments_.size());
    for (const ProtocolRow& row : rows_) {
      if (row.fact.use != "fit") continue;
      const auto& known = out.pilots[row.experiment];
      const double rate = row.fact.measured * kTera / row.gpus;
      // The study prints some figures twice.
      if (std::any_of(known.begin(), known.end(),
                      [&](const Pilot& pilot) { return pilot.cell == row.cell && pilot.value == rate; }))
        continue;
      out.pilots[row.experiment].push_back({row.cell, Measure::kRate, rate});
      ++out_.fitted;
    }
    return out;
  }

  void judge(const Posterior& posterior, std::vector<ThroughputComparison>& into) {
    const Draws draws = draws_of(posterior, kJudged);
    std::map<std::size_t, Ensemble> known;
    for (const ProtocolRow& row : rows_) {
      if (row.fact.use != "test" || !out_.complete) continue;
      auto at = known.find(row.experiment);
      if (at == known.end()) {
        tell(fmt::format("{} nodes, {:.4g} B parameters", row.fact.nodes, row.fact.size));
        at = known.emplace(row.experiment, ensemble_of(draws, *forecaster_, kJudged, options_.stop, row.experiment))
                 .first;
      }
      if (at->second.size() < kJudged && options_.stop && options_.stop()) out_.complete = false;
      if (at->second.size() == 0) continue;
      const std::size_t cell = at->second.position_of(row.cell);
      const double unit = row.gpus / kTera;
      const Interval interval = interval_of(at->second, cell, Measure::kRate, options_.level);
      into.push_back(
          {row.fact, median_of(at->second, cell, Measure::kRate) * unit, {interval.low * unit, interval.high * unit}});
    }
  }

  const ProtocolOptions& options_;
  std::vector<ProtocolRow> rows_;
  std::vector<Experiment> experiments_;
  std::map<std::tuple<int, std::string, double, bool>, std::size_t> places_;
  std::map<std::filesystem::path, Scenario> scenarios_;
  std::optional<Forecaster> forecaster_;
  DeepSpeedProtocol out_;
};

}  // namespace

std::vector<Unknown> deepspeed_unknowns() {
  const ValueType time = quantity_type(Dimension::kTime), rate = quantity_type(Dimension::kDataRate),
                  share = number_type(1e-4, 2);
  return {
      by_factors({"software.matrix_efficiency.Ampere"}, 0.35, 0.95, share, "of the data sheet's peak in fp16"),
      by_factors({"training.iteration_overhead"}, 5e-3, 0.2, time, "Python's part of an iteration"),
      by_factors({"software.kernel_launch"}, 3e-6, 10e-6, time, "CPU and driver"),
      by_factors({"software.framework.module_hook"}, 0.2e-3, 10e-3, time, "Python code around each module"),
      by_factors({"software.framework.cpu_adam_rate"}, 8e9, 120e9, rate, "a rank's part of a socket's DRAM"),
      by_factors({"software.framework.drive_share"}, 0.3, 1, share, "of a drive's data sheet"),
      by_factors({"software.framework.swap_rate"}, 0.2e9, 6e9, rate, "many small requests"),
  };
}

DeepSpeedProtocol validate_deepspeed_held_out(const std::filesystem::path& root, const std::filesystem::path& reference,
                                              const ProtocolOptions& options) {
  std::vector<DeepSpeedFact> facts = read_deepspeed_facts(reference);
  for (const char* use : {"fit", "test"}) {
    if (std::none_of(facts.begin(), facts.end(),
                     [&](const DeepSpeedFact& f) { return f.metric == "throughput" && f.use == use; }))
      throw InputError({}, fmt::format("{}: no throughput has \"{}\" in the column use; fit and test are expected",
                                       reference.string(), use));
  }
  return DeepSpeedRunner(root, std::move(facts), options).run();
}

}  // namespace slmsim
