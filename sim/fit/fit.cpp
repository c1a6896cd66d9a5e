#include "sim/fit/fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace slmsim {
namespace {

constexpr std::size_t kDiscrepancies = 2;
constexpr std::size_t kLeastDesign = 100, kDesignPerUnknown = 20;  // points of the first emulator
constexpr int kRefinements = 3;

std::vector<double> column(const std::vector<Point>& points, std::size_t d) {
  std::vector<double> out;
  out.reserve(points.size());
  for (const auto& point : points) out.push_back(point[d]);
  return out;
}

// The least value that this share of the values does not exceed.
double quantile_of(std::vector<double> values, double probability) {
  std::ranges::sort(values);
  const double rank = std::ceil(probability * static_cast<double>(values.size()) * (1 - 1e-12));
  return values[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
}

// The likelihood of the measured figures, by emulators.
class Likelihood {
 public:
  Likelihood(const FitRequest& request, Forecaster& forecaster, const Sampling& sampling)
      : layout_(request), forecaster_(forecaster), sampling_(sampling) {
    for (std::size_t e = 0; e < request.pilots.size(); ++e) {
      if (request.pilots[e].empty()) continue;
      std::vector<Measure> measures;
      for (const auto& pilot : request.pilots[e]) {
        if (std::ranges::find(measures, pilot.measure) == measures.end()) measures.push_back(pilot.measure);
      }
      measured_.push_back({e, runs_of(request.pilots[e]), {}, Surrogate(layout_, e, measures, forecaster, sampling)});
      judge(measured_.back());
    }
    if (!sampling.stop || !sampling.stop()) check();
  }

  void refine(const std::vector<Point>& points) {
    for (auto& m : measured_) {
      m.surrogate.refine(some_of(points, kRefined), forecaster_, sampling_.stop);
      judge(m);
    }
  }

  Sample sample() const {
    Target target;
    target.dimensions = layout_.size();
    target.parts = measured_.size();
    std::vector<std::size_t> experiments;
    for (const auto& m : measured_) experiments.push_back(m.experiment);
    target.blocks = layout_.blocks(experiments);
    target.jumps.assign(layout_.size(), false);
    for (std::size_t i = 0; i < layout_.unknowns().size(); ++i) target.jumps[i] = layout_.unknowns()[i].jumps();
    target.log_likelihood = [this](const std::vector<Point>& points, std::size_t part) {
      return of(measured_[part], points);
    };
    return draw(target, sampling_);
  }

  double worst_error() const {
    double worst = 0;
    for (const auto& m : measured_) {
      for (const auto& run : m.runs) {
        for (const auto& pilot : run)
          worst = std::max(worst, m.surrogate.emulator().error(cell_of(m, run), pilot.measure));
      }
    }
    return worst;
  }
  const PointLayout& layout() const { return layout_; }

 private:
  struct ExperimentRuns {
    std::size_t experiment = 0;
    std::vector<std::vector<Pilot>> runs;
    std::vector<Discrepancy> off;  // the emulator's error at each
    Surrogate surrogate;
  };

  std::size_t cell_of(const ExperimentRuns& m, const std::vector<Pilot>& run) const {
    const auto& cells = forecaster_.experiments()[m.experiment].cells;
    return static_cast<std::size_t>(std::ranges::find(cells, run.front().cell) - cells.begin());
  }

  // Throws where a figure is impossible for every value of the unknowns.
  void check() const {
    std::vector<Error> errors;
    for (const auto& m : measured_) {
      if (!m.surrogate.is_any()) throw InputError({}, "the scenario is invalid at all tried values of its unknowns");
      for (const auto& run : m.runs) {
        for (const auto& pilot : run) {
          if (m.surrogate.has(cell_of(m, run), pilot.measure)) continue;
          const bool runs = m.surrogate.has(cell_of(m, run), Measure::kFits);
          errors.push_back({pilot.place, fmt::format("{} {} for any value of the unknowns; slmsim run shows why",
                                                     pilot.cell.text(), runs ? "is not timed" : "cannot run")});
        }
      }
    }
    if (!errors.empty()) throw InputError(std::move(errors));
  }

  void judge(ExperimentRuns& m) const {
    m.off.clear();
    for (const auto& run : m.runs) m.off.push_back(m.surrogate.emulator().error(cell_of(m, run)));
  }

  std::vector<double> of(const ExperimentRuns& m, const std::vector<Point>& points) const {
    const auto forecasts = m.surrogate.at(points);
    std::vector<double> out;
    out.reserve(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      double sum = forecasts[i].empty() ? kImpossible : 0;
      const Discrepancy discrepancy = layout_.discrepancy(points[i]);
      for (std::size_t r = 0; r < m.runs.size() && std::isfinite(sum); ++r)
        sum += log_likelihood(m.runs[r], forecasts[i][cell_of(m, m.runs[r])], together(discrepancy, m.off[r]));
      out.push_back(sum);
    }
    return out;
  }

  PointLayout layout_;
  Forecaster& forecaster_;
  const Sampling& sampling_;
  std::vector<ExperimentRuns> measured_;
};

}  // namespace

PointLayout::PointLayout(const FitRequest& request) : unknowns_(request.shared), shared_(request.shared.size()) {
  for (std::size_t e = 0; e < request.experiments.size(); ++e) {
    const std::size_t first = unknowns_.size();
    if (e < request.own.size()) unknowns_.insert(unknowns_.end(), request.own[e].begin(), request.own[e].end());
    own_.emplace_back(first, unknowns_.size());
    each_.push_back(request.experiments[e].each);
  }
  size_ = unknowns_.size() + kDiscrepancies;
}

Overrides PointLayout::overrides(std::size_t experiment, const Point& point) const {
  const auto [first, last] = own_[experiment];
  // A relative factor multiplies the shared value of its path.
  const auto word_of = [&, first = first, last = last](std::size_t i) {
    double factor = 1;
    bool changed = false;
    for (std::size_t k = first; k < last; ++k) {
      if (!unknowns_[k].relative || unknowns_[k].name() != unknowns_[i].name()) continue;
      factor *= unknowns_[k].figure(point[k]);
      changed = true;
    }
    if (!changed) return unknowns_[i].word(point[i]);
    Unknown scaled = unknowns_[i];
    scaled.prior = Unknown::Prior::kUniform;  // no longer a choice, but a number
    return scaled.text(unknowns_[i].figure(point[i]) * factor);
  };
  Overrides out;
  const auto add = [&](std::size_t i) {
    const std::string word = word_of(i);
    for (const auto& path : unknowns_[i].paths) {
      const std::size_t star = path.find('*');
      if (star == std::string::npos) {
        out.push_back(fmt::format("{}={}", path, word));
        continue;
      }
      for (const auto& name : each_[experiment])
        out.push_back(fmt::format("{}{}{}={}", path.substr(0, star), name, path.substr(star + 1), word));
    }
  };
  for (std::size_t i = 0; i < shared_; ++i) add(i);
  for (std::size_t i = first; i < last; ++i) {
    if (!unknowns_[i].relative) add(i);
  }
  return out;
}

Discrepancy PointLayout::discrepancy(const Point& point) const {
  return discrepancy_at(point[size_ - kDiscrepancies], point[size_ - kDiscrepancies + 1]);
}

std::vector<Unknown> PointLayout::seen(std::size_t experiment) const {
  const auto [first, last] = own_[experiment];
  std::vector<Unknown> out(unknowns_.begin(), unknowns_.begin() + static_cast<std::ptrdiff_t>(shared_));
  out.insert(out.end(), unknowns_.begin() + static_cast<std::ptrdiff_t>(first),
             unknowns_.begin() + static_cast<std::ptrdiff_t>(last));
  return out;
}

Point PointLayout::seen(std::size_t experiment, const Point& point) const {
  const auto [first, last] = own_[experiment];
  Point out(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(shared_));
  out.insert(out.end(), point.begin() + static_cast<std::ptrdiff_t>(first),
             point.begin() + static_cast<std::ptrdiff_t>(last));
  return out;
}

Point PointLayout::whole(std::size_t experiment, const Point& seen) const {
  Point out(size_, 0.0);
  const auto own = static_cast<std::ptrdiff_t>(shared_);
  std::copy(seen.begin(), seen.begin() + own, out.begin());
  std::copy(seen.begin() + own, seen.end(), out.begin() + static_cast<std::ptrdiff_t>(own_[experiment].first));
  return out;
}

std::vector<MoveBlock> PointLayout::blocks(const std::vector<std::size_t>& measured) const {
  std::vector<MoveBlock> out(1);
  for (std::size_t i = 0; i < shared_; ++i) out.front().coordinates.push_back(i);
  for (std::size_t i = size_ - kDiscrepancies; i < size_; ++i) out.front().coordinates.push_back(i);
  for (std::size_t part = 0; part < measured.size(); ++part) {
    out.front().parts.push_back(part);
    const auto [first, last] = own_[measured[part]];
    if (first == last) continue;
    MoveBlock& own = out.emplace_back();
    own.parts = {part};
    for (std::size_t i = first; i < last; ++i) own.coordinates.push_back(i);
  }
  return out;
}

PointLayout layout_of(const std::vector<Unknown>& unknowns) {
  FitRequest request;
  request.experiments.resize(1);
  request.shared = unknowns;
  return PointLayout(request);
}

std::vector<std::vector<Pilot>> runs_of(const std::vector<Pilot>& pilots) {
  std::vector<std::vector<Pilot>> out;
  for (const auto& pilot : pilots) {
    const auto run = std::ranges::find_if(out, [&](const auto& r) { return r.front().cell == pilot.cell; });
    if (run == out.end()) {
      out.push_back({pilot});
    } else {
      run->push_back(pilot);
    }
  }
  return out;
}

std::vector<Point> some_of(const std::vector<Point>& points, std::size_t count) {
  count = std::min(count, points.size());
  std::vector<Point> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(points[(2 * i + 1) * points.size() / (2 * count)]);
  return out;
}

Surrogate::Surrogate(const PointLayout& layout, std::size_t experiment, std::vector<Measure> measures,
                     Forecaster& forecaster, const Sampling& sampling)
    : layout_(layout), experiment_(experiment), measures_(std::move(measures)) {
  const std::size_t dimensions = layout.seen(experiment).size();
  Dice dice(sampling.seed);
  std::vector<Point> points;
  for (const auto& point : latin_hypercube(std::max(kLeastDesign, kDesignPerUnknown * dimensions), dimensions, dice))
    points.push_back(layout.whole(experiment, point));
  refine(points, forecaster, sampling.stop);
}

void Surrogate::refine(const std::vector<Point>& points, Forecaster& forecaster, const std::function<bool()>& stop) {
  std::vector<Question> questions;
  questions.reserve(points.size());
  for (const auto& point : points) questions.push_back({experiment_, layout_.overrides(experiment_, point)});
  const auto answers = forecaster.ask(questions, stop);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points_.push_back(layout_.seen(experiment_, points[i]));
    forecasts_.push_back(answers[i]);
  }
  emulator_.emplace(layout_.seen(experiment_), forecaster.experiments()[experiment_], measures_, points_, forecasts_,
                    points_.size() - points.size());
}

bool Surrogate::is_any() const {
  return std::ranges::any_of(forecasts_, [](const auto& all) { return !all.empty(); });
}

bool Surrogate::has(std::size_t cell, Measure measure) const {
  return std::ranges::any_of(forecasts_, [&](const auto& all) {
    if (all.empty()) return false;
    return measure == Measure::kFits ? all[cell].can_run() : figure_of(all[cell], measure) > 0;
  });
}

std::vector<std::vector<Forecast>> Surrogate::at(const std::vector<Point>& points) const {
  std::vector<Point> seen;
  seen.reserve(points.size());
  for (const auto& point : points) seen.push_back(layout_.seen(experiment_, point));
  return emulator_->at(seen);
}

Posterior fit(const FitRequest& request, Forecaster& forecaster, const Sampling& sampling) {
  Likelihood likelihood(request, forecaster, sampling);
  Sample sample = likelihood.sample();
  Posterior out;
  out.complete = sample.beta >= 1;
  for (int round = 0; round < kRefinements && out.complete; ++round) {
    likelihood.refine(sample.points);
    Sample refined = likelihood.sample();
    out.complete = refined.beta >= 1;
    if (out.complete) sample = std::move(refined);  // else the last one with full weight stays
  }
  out.unknowns = likelihood.layout().unknowns();
  out.points = std::move(sample.points);
  out.log_evidence = sample.log_evidence;
  out.simulated = forecaster.simulated();
  out.emulated_error = likelihood.worst_error();
  return out;
}

std::vector<Marginal> marginals_of(const Posterior& posterior) {
  std::vector<Marginal> out;
  const double prior_width = normal_quantile(0.9) - normal_quantile(0.1);
  for (std::size_t d = 0; d < posterior.unknowns.size(); ++d) {
    const Unknown& unknown = posterior.unknowns[d];
    const auto coordinates = column(posterior.points, d);
    Marginal n;
    if (unknown.is_choice()) {
      n.shares.assign(unknown.words.size(), 0);
      for (const double z : coordinates)
        n.shares[static_cast<std::size_t>(unknown.number(z))] += 1.0 / static_cast<double>(coordinates.size());
      const auto likeliest = std::ranges::max_element(n.shares);
      n.median = n.low = n.high = static_cast<double>(likeliest - n.shares.begin());
      // Entropy of the prior.
      double entropy = 0;
      for (const double share : n.shares) entropy -= share > 0 ? share * std::log(share) : 0;
      n.left = entropy / std::log(static_cast<double>(n.shares.size()));
    } else {
      // Beyond a spike, values do not rise with their coordinate.
      std::vector<double> values;
      values.reserve(coordinates.size());
      for (const double z : coordinates) values.push_back(unknown.number(z));
      n.median = quantile_of(values, 0.5);
      n.low = quantile_of(values, 0.1);
      n.high = quantile_of(values, 0.9);
      n.left = (quantile_of(coordinates, 0.9) - quantile_of(coordinates, 0.1)) / prior_width;
    }
    out.push_back(n);
  }
  return out;
}

std::vector<CorrelatedPair> correlated_pairs(const Posterior& posterior, double least) {
  std::vector<CorrelatedPair> out;
  const auto count = static_cast<double>(posterior.points.size());
  const auto deviations = [&](std::size_t d) {
    auto z = column(posterior.points, d);
    const double mean = std::accumulate(z.begin(), z.end(), 0.0) / count;
    for (double& value : z) value -= mean;
    return z;
  };
  for (std::size_t a = 0; a < posterior.unknowns.size(); ++a) {
    const auto x = deviations(a);
    for (std::size_t b = a + 1; b < posterior.unknowns.size(); ++b) {
      const auto y = deviations(b);
      const double xx = std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
      const double yy = std::inner_product(y.begin(), y.end(), y.begin(), 0.0);
      const double xy = std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
      if (xx <= 0 || yy <= 0) continue;
      const double correlation = xy / std::sqrt(xx * yy);
      if (std::abs(correlation) >= least) out.push_back({a, b, correlation});
    }
  }
  return out;
}

Posterior prior_of(std::vector<Unknown> unknowns, std::size_t points, std::uint64_t seed) {
  Dice dice(seed);
  Posterior out;
  out.points = latin_hypercube(points, unknowns.size() + kDiscrepancies, dice);
  out.unknowns = std::move(unknowns);
  return out;
}

}  // namespace slmsim
