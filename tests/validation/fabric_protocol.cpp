#include "tests/validation/fabric_protocol.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/fit/intervals.h"

namespace slmsim {
namespace {

// A slice's own values are drawn from a Polya urn filled by the other slices, with the prior counting as this many more slices
// (Blackwell and MacQueen, Ferguson distributions via Polya urn schemes, Ann. Statist. 1, 1973).
constexpr double kPriorSlices = 1;
constexpr std::size_t kExplained = 64;  // points at which a fit to all slices is simulated

// Table II: minutes of gpt2m on both VMs.
bool is_of_table(const FabricRow& row) { return row.two_vms() && row.minutes && row.model == kPicked; }

// Timed where times or rates were published, or a pick is needed; else only memory is computed.
Experiment experiment_of(const FabricSlice& slice) {
  Experiment out{slice.file, {}, {}, 0, {}};
  for (const bool timed : {true, false}) {
    for (const auto& [row, candidate] : slice.rows) {
      if ((row.minutes || row.tflops_per_gpu || row.model == kPicked) != timed) continue;
      out.cells.push_back(candidate);
      out.untimed += timed ? 0 : 1;
    }
  }
  for (const auto& vm : slice.scenario.platform.vms) out.each.push_back(vm.name);
  return out;
}

// The figures of one run.
std::vector<Pilot> run_of(const FabricSlice& slice, const Candidate& candidate) {
  std::vector<Pilot> out;
  std::copy_if(slice.pilots.begin(), slice.pilots.end(), std::back_inserter(out),
               [&](const Pilot& p) { return p.cell == candidate && p.measure != Measure::kFits; });
  return out;
}

class Protocol {
 public:
  Protocol(std::vector<FabricSlice> slices, const ProtocolOptions& options)
      : slices_(std::move(slices)), options_(options) {
    std::vector<Experiment> experiments;
    for (const auto& slice : slices_) experiments.push_back(experiment_of(slice));
    forecaster_.emplace(std::move(experiments));
    out_.level = options.level;
  }

  FabricProtocol run() {
    for (std::size_t s = 0; s < slices_.size() && out_.complete; ++s) {
      const auto& wanted = options_.slices;
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), slices_[s].name) != wanted.end()) leave_out(s);
    }
    if (options_.slices.empty() && out_.complete) explain_all();
    out_.simulated = forecaster_->simulated();
    return std::move(out_);
  }

 private:
  Sampling sampling() const {
    Sampling out;
    out.particles = options_.points;
    out.seed = options_.seed;
    out.stop = options_.stop;
    return out;
  }

  std::vector<Unknown> own_of(const FabricSlice& slice) const {
    std::optional<double> work;
    if (options_.work_given)
      work = slice.scenario.training.blocks_per_epoch / slices_.front().scenario.training.blocks_per_epoch;
    return fabric_own(slice.scenario, work);
  }

  // The fit to the other slices. Experiments keep their indices: the one left out has no runs and no own unknowns.
  FitRequest request_without(std::size_t left_out) const {
    FitRequest request;
    request.shared = fabric_shared();
    for (std::size_t s = 0; s < slices_.size(); ++s) {
      request.experiments.push_back(forecaster_->experiments()[s]);
      request.pilots.push_back(s == left_out ? std::vector<Pilot>{} : slices_[s].pilots);
      request.own.push_back(s == left_out ? std::vector<Unknown>{} : own_of(slices_[s]));
    }
    return request;
  }

  Posterior fit_to(const FitRequest& request, const std::string& which) {
    Sampling asked = sampling();
    asked.progress = [&](double beta, std::size_t evaluated) {
      if (options_.progress)
        options_.progress(fmt::format("{}: weight of the runs {:.2g} %, {} points", which, 100 * beta, evaluated));
    };
    return fit(request, *forecaster_, asked);
  }

  // Fits all slices, each with its own values, and predicts them at points of the fit: the most that the model can explain.
  void explain_all() {
    const FitRequest request = request_without(slices_.size());
    const Posterior posterior = fit_to(request, "all slices");
    out_.complete = posterior.complete;
    if (!posterior.complete) return;
    const PointLayout layout(request);
    const auto points = some_of(posterior.points, kExplained);
    for (std::size_t s = 0; s < slices_.size(); ++s) {
      Draws draws;
      for (const auto& point : points) draws.points.push_back({layout.overrides(s, point), layout.discrepancy(point)});
      const Ensemble ensemble = ensemble_of(draws, *forecaster_, points.size(), options_.stop, s);
      for (const auto& [row, candidate] : slices_[s].rows) {
        const std::size_t cell = ensemble.position_of(candidate);
        out_.explained.fits.push_back({row, fits_of(ensemble, cell)});
        if (is_of_table(row))
          out_.explained.cells.push_back({*row.minutes, median_of(ensemble, cell, Measure::kJob) / 60});
      }
    }
  }

  void leave_out(std::size_t s) {
    const FabricSlice& slice = slices_[s];
    const Posterior posterior = fit_to(request_without(s), "without " + slice.name);
    out_.complete = posterior.complete;
    out_.emulated_error = std::max(out_.emulated_error, posterior.emulated_error);
    if (!posterior.complete) return;
    const auto marginals = marginals_of(posterior);
    const std::size_t shared = fabric_shared().size();
    for (std::size_t i = 0; i < shared; ++i) {
      if (posterior.unknowns[i].is_choice())
        out_.choices.push_back({slice.name, posterior.unknowns[i], marginals[i].shares});
    }
    const Ensemble ensemble = ensemble_without(s, posterior);
    if (ensemble.size() == 0) {
      out_.complete = false;
      return;
    }
    for (const auto& [row, candidate] : slice.rows)
      out_.fits.push_back({row, fits_of(ensemble, ensemble.position_of(candidate))});
    predict_cells(slice, ensemble);
    out_.picks.push_back(pick_by_pilots(slice.name, slice.scenario, slice.rows, ensemble));
  }

  // For each own unknown of a slice: the coordinates in a fitted point of the same unknown of the other slices.
  std::vector<std::vector<std::size_t>> fitted_alike(std::size_t s) const {
    std::vector<std::vector<std::size_t>> out;
    for (const auto& unknown : own_of(slices_[s])) {
      auto& positions = out.emplace_back();
      std::size_t at = fabric_shared().size();
      for (std::size_t other = 0; other < slices_.size(); ++other) {
        if (other == s) continue;
        for (const auto& fitted : own_of(slices_[other])) {
          if (fitted.name() == unknown.name() && fitted.relative == unknown.relative) positions.push_back(at);
          ++at;
        }
      }
    }
    return out;
  }

  // The slice left out at the points of the fit, each with several draws of its own values. Answers come from an emulator of
  // the slice, simulated over the prior and at the fit's points.
  Ensemble ensemble_without(std::size_t s, const Posterior& posterior) {
    FitRequest request;
    request.shared = fabric_shared();
    request.experiments = forecaster_->experiments();
    request.own.resize(slices_.size());
    request.own[s] = own_of(slices_[s]);
    const PointLayout layout(request);
    const std::size_t shared = request.shared.size(), own = request.own[s].size();
    Dice dice(options_.seed + s);
    std::vector<Point> points;
    const auto drawn = latin_hypercube(posterior.points.size() * options_.draws, own, dice);
    const auto known = fitted_alike(s);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const Point& fitted = posterior.points[i % posterior.points.size()];
      Point point(fitted.begin(), fitted.begin() + static_cast<std::ptrdiff_t>(shared));
      for (std::size_t d = 0; d < own; ++d) {
        const auto slices = static_cast<double>(known[d].size()) + kPriorSlices;
        const bool anew = dice.uniform() * slices < kPriorSlices || known[d].empty();
        point.push_back(anew ? drawn[i][d] : fitted[known[d][dice.below(known[d].size())]]);
      }
      point.insert(point.end(), fitted.end() - 2, fitted.end());
      points.push_back(std::move(point));
    }
    if (options_.progress) options_.progress(fmt::format("{} by the others", slices_[s].name));
    Surrogate surrogate(layout, s, {Measure::kJob, Measure::kRate, Measure::kIteration}, *forecaster_, sampling());
    surrogate.refine(some_of(points, 2 * kRefined), *forecaster_, options_.stop);
    Ensemble out;
    out.cells = request.experiments[s].cells;
    for (std::size_t c = 0; c < out.cells.size(); ++c) {
      out.off.push_back(surrogate.emulator().error(c));
      out_.emulated_error = std::max(out_.emulated_error, out.off.back().time);
    }
    auto answers = surrogate.at(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      auto& forecasts = answers[i];
      if (forecasts.empty()) continue;
      const Training& training = slices_[s].scenario.training;
      for (auto& f : forecasts)  // trials are a part of the job
        f.trial = std::max(0.0, f.job - f.startup) * slices_[s].scenario.selection.epsilon_epochs / training.epochs;
      out.forecasts.push_back(std::move(forecasts));
      out.discrepancies.push_back(layout.discrepancy(points[i]));
      out.weights.push_back(1);
    }
    return out;
  }

  // Table II's cells, with every choice of at most two of them as pilot runs.
  void predict_cells(const FabricSlice& slice, const Ensemble& prior) {
    std::vector<const std::pair<FabricRow, Candidate>*> table;
    for (const auto& row : slice.rows) {
      if (is_of_table(row.first)) table.push_back(&row);
    }
    for (std::size_t mask = 0; mask < (std::size_t{1} << table.size()); ++mask) {
      std::vector<std::string> pilots;
      Ensemble ensemble = prior;
      std::vector<double> logs(ensemble.size(), 0.0);
      for (std::size_t t = 0; t < table.size(); ++t) {
        if ((mask >> t & 1) == 0) continue;
        pilots.push_back(table[t]->first.technique);
        const auto run = run_of(slice, table[t]->second);
        const std::size_t cell = ensemble.position_of(table[t]->second);
        for (std::size_t i = 0; i < ensemble.size(); ++i)
          logs[i] += log_likelihood(run, ensemble.forecasts[i][cell], ensemble.discrepancy(i, cell));
      }
      if (pilots.size() > 2) continue;
      ensemble.weights = weights_of(logs);
      const double sum = std::accumulate(ensemble.weights.begin(), ensemble.weights.end(), 0.0);
      const double squares =
          std::inner_product(ensemble.weights.begin(), ensemble.weights.end(), ensemble.weights.begin(), 0.0);
      for (std::size_t t = 0; t < table.size(); ++t) {
        if ((mask >> t & 1) != 0) continue;
        const std::size_t cell = ensemble.position_of(table[t]->second);
        const Interval interval = interval_of(ensemble, cell, Measure::kJob, options_.level);
        out_.cells.push_back({slice.name,
                              table[t]->first.technique,
                              pilots,
                              *table[t]->first.minutes,
                              median_of(ensemble, cell, Measure::kJob) / 60,
                              {interval.low / 60, interval.high / 60},
                              sum * sum / squares});
      }
    }
  }

  std::vector<FabricSlice> slices_;
  const ProtocolOptions& options_;
  std::optional<Forecaster> forecaster_;
  FabricProtocol out_;
};

}  // namespace

FabricProtocol validate_held_out(const std::filesystem::path& root, const std::filesystem::path& reference,
                                 const ProtocolOptions& options) {
  std::vector<FabricSlice> slices = read_fabric_slices(root, reference);
  std::vector<std::string> names;
  names.reserve(slices.size());
  for (const auto& slice : slices) names.push_back(slice.name);
  for (const auto& wanted : options.slices) {
    if (std::find(names.begin(), names.end(), wanted) == names.end())
      throw InputError({}, fmt::format("{} has no slice \"{}\"; {}", reference.filename().string(), printable(wanted),
                                       did_you_mean(wanted, names)));
  }
  return Protocol(std::move(slices), options).run();
}

}  // namespace slmsim
