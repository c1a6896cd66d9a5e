#include "sim/fit/emulator.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Cholesky>

namespace slmsim {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRidge = 1e-3;     // of the quadratic, per point: also keeps directions in which no points differ
constexpr double kNugget = 0.01;    // share of the remainder's variance that is not smooth
constexpr double kOutside = 1;      // how far below its range a spike at 0 is placed, in logarithms
constexpr double kLeastPoints = 2;  // per coordinate, for terms of second order
constexpr std::size_t kPointsAtOnce = 256;

// The feature of an unknown that the quadratic and the kernel use.
double feature_of(const Unknown& u, double coordinate) {
  const double figure = u.is_choice() ? u.figure(coordinate) : 0;
  if (figure > 0) return std::log(figure);  // a choice between numbers
  const double number = u.number(coordinate);
  if (u.is_choice() || u.prior == Unknown::Prior::kUniform) return number;
  return number > 0 ? std::log(number) : std::log(u.low) - kOutside;
}

// Whether a candidate can be timed at all; the logarithms are 0 and -1.
constexpr double kThere = 1, kNotThere = 1 / std::numbers::e;
// Halfway between them.
constexpr double kPerhaps = -0.5;

}  // namespace

// A job is emulated as its start-up and the rest: each is closer to a product of the unknowns than their sum is.
struct EmulatedFigure {
  enum class Kind { kMemoryShare, kStartupTime, kMeasure, kIsTimed };
  std::size_t cell = 0;
  Kind kind = Kind::kMeasure;
  Measure measure = Measure::kJob;
};

namespace {

double value_of(const Forecast& f, const EmulatedFigure& figure) {
  if (figure.kind == EmulatedFigure::Kind::kMemoryShare) return f.memory_share;
  if (figure.kind == EmulatedFigure::Kind::kStartupTime) return f.startup;
  if (figure.kind == EmulatedFigure::Kind::kIsTimed) return f.is_timed() ? kThere : kNotThere;
  return figure_of(f, figure.measure) - (figure.measure == Measure::kJob ? f.startup : 0);
}

// Eigen compiles its kernels anew for each kind of operands: all products and solutions are those of whole matrices.
MatrixXd product(const MatrixXd& a, const MatrixXd& b) { return a * b; }
// The x of a x = b, where a is symmetric and positive definite.
MatrixXd solution(const MatrixXd& a, const MatrixXd& b) { return a.llt().solve(b); }

// Where some points lack a figure, values of the plane through the others replace it.
void stand_in(const MatrixXd& design, const VectorXd& there, Eigen::Ref<VectorXd> logs) {
  if (there.sum() == 0 || there.sum() == static_cast<double>(there.size())) return;
  MatrixXd plane(design.rows(), design.cols() + 1);
  plane << VectorXd::Ones(design.rows()), design;
  const MatrixXd seen = there.asDiagonal() * plane;
  MatrixXd normal = product(seen.transpose(), seen);
  normal.diagonal().tail(design.cols()).array() += kRidge * static_cast<double>(design.rows());
  const VectorXd drawn = product(plane, solution(normal, product(seen.transpose(), logs)));
  logs = (there.array() > 0).select(logs, drawn);
}

}  // namespace

struct Emulator::Parts {
  std::vector<Unknown> unknowns;
  std::vector<EmulatedFigure> figures;
  std::size_t cells = 0;
  VectorXd middle, spread, lengths;  // for each feature
  MatrixXd design, in_lengths;       // points by scaled features; and those divided by the lengths
  VectorXd squares;                  // squared norms of its rows
  MatrixXd quadratic, remainder;     // coefficients by figures; kernel weights of points by figures
  MatrixXd there;                    // 1 where a point has the figure
  VectorXd errors;
  std::vector<bool> never;  // figures that no point of the design has

  VectorXd scaled(const Point& point) const {
    VectorXd out(static_cast<Eigen::Index>(unknowns.size()));
    for (std::size_t d = 0; d < unknowns.size(); ++d) {
      const auto i = static_cast<Eigen::Index>(d);
      out[i] = (feature_of(unknowns[d], point[d]) - middle[i]) / spread[i];
    }
    return out;
  }

  // 1, each feature, and products of two where the design has enough points for them.
  VectorXd terms(const VectorXd& x) const {
    const Eigen::Index d = x.size();
    const bool products =
        static_cast<double>(design.rows()) > kLeastPoints * 0.5 * static_cast<double>((d + 1) * (d + 2));
    VectorXd out(products ? (d + 1) * (d + 2) / 2 : 1 + 2 * d);
    Eigen::Index at = 0;
    out[at++] = 1;
    for (Eigen::Index i = 0; i < d; ++i) out[at++] = x[i];
    for (Eigen::Index i = 0; i < d; ++i) {
      for (Eigen::Index j = i; j < (products ? d : i + 1); ++j) out[at++] = x[i] * x[j];
    }
    return out;
  }

  // Kernel for points as columns. By |a - b|^2 = |a|^2 + |b|^2 - 2 a b, in units of the lengths: a matrix product instead of
  // loops.
  MatrixXd kernel(const MatrixXd& x) const {
    const MatrixXd at = x.array().colwise() / lengths.array();
    MatrixXd out = product(in_lengths, at);
    out.colwise() -= squares / 2;
    out.rowwise() -= at.colwise().squaredNorm() / 2;
    return out.array().min(0).exp();
  }

  void set_lengths(const VectorXd& by) {
    lengths = by;
    in_lengths = design.array().rowwise() / by.transpose().array();
    squares = in_lengths.rowwise().squaredNorm();
  }

  // Errors are those at the last `judged` points.
  void train(const MatrixXd& logs, Eigen::Index judged);
};

void Emulator::Parts::train(const MatrixXd& logs, Eigen::Index judged) {
  const Eigen::Index n = design.rows(), d = design.cols();
  MatrixXd basis(n, terms(design.row(0).transpose()).size());
  for (Eigen::Index i = 0; i < n; ++i) basis.row(i) = terms(design.row(i).transpose()).transpose();
  MatrixXd normal = product(basis.transpose(), basis);
  normal.diagonal().tail(normal.rows() - 1).array() += kRidge * static_cast<double>(n);
  quadratic = solution(normal, product(basis.transpose(), logs));
  const MatrixXd rest = logs - product(basis, quadratic);
  // The change of the figures with each feature, by the linear terms.
  VectorXd moves = VectorXd::Zero(d);
  for (Eigen::Index i = 0; i < d; ++i) moves[i] = quadratic.row(1 + i).norm();
  const double most = std::max(1e-12, moves.maxCoeff());
  MatrixXd best_inverse;
  VectorXd best_lengths;
  double least = -1;
  for (const double factor : {1.0, 2.0, 4.0}) {
    VectorXd tried(d);
    for (Eigen::Index i = 0; i < d; ++i) tried[i] = factor / std::sqrt(0.05 + moves[i] / most);
    set_lengths(tried);
    MatrixXd covariance = kernel(design.transpose());
    covariance.diagonal().array() += kNugget;
    const MatrixXd inverse = solution(covariance, MatrixXd::Identity(n, n));
    // Leaving out one point changes its prediction by alpha_i / inverse_ii (Rasmussen and Williams 2006, equation 5.12).
    const MatrixXd left_out = product(inverse, rest).array().colwise() / inverse.diagonal().array();
    const double error = left_out.bottomRows(judged).cwiseProduct(there.bottomRows(judged)).squaredNorm();
    if (least < 0 || error < least) {
      least = error;
      best_lengths = tried;
      best_inverse = inverse;
      errors.resize(left_out.cols());
      for (Eigen::Index f = 0; f < left_out.cols(); ++f) {
        // Where no judged point has the figure, the error at the other points.
        const Eigen::Index rows = there.col(f).tail(judged).sum() > 0 ? judged : n;
        const double counted = std::max(1.0, there.col(f).tail(rows).sum());
        errors[f] = left_out.col(f).tail(rows).cwiseProduct(there.col(f).tail(rows)).norm() / std::sqrt(counted);
      }
    }
  }
  set_lengths(best_lengths);
  remainder = product(best_inverse, rest);
}

Emulator::Emulator(std::vector<Unknown> unknowns, const Experiment& experiment, const std::vector<Measure>& measures,
                   const std::vector<Point>& points, const std::vector<std::vector<Forecast>>& forecasts,
                   std::size_t judged)
    : parts_(std::make_unique<Parts>()) {
  Parts& p = *parts_;
  p.unknowns = std::move(unknowns);
  p.cells = experiment.cells.size();
  for (std::size_t c = 0; c < p.cells; ++c) {
    p.figures.push_back({c, EmulatedFigure::Kind::kMemoryShare, {}});
    if (c + experiment.untimed >= p.cells) continue;
    p.figures.push_back({c, EmulatedFigure::Kind::kIsTimed, {}});
    for (const Measure measure : measures) {
      if (measure == Measure::kJob) p.figures.push_back({c, EmulatedFigure::Kind::kStartupTime, {}});
      if (measure != Measure::kFits) p.figures.push_back({c, EmulatedFigure::Kind::kMeasure, measure});
    }
  }
  if (std::ranges::all_of(forecasts, [](const auto& f) { return f.empty(); })) return;
  const std::vector<Forecast> nothing(p.cells);  // for invalid combinations of values
  const auto n = static_cast<Eigen::Index>(points.size()), d = static_cast<Eigen::Index>(p.unknowns.size());
  MatrixXd features(n, d);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index k = 0; k < d; ++k) features(i, k) = feature_of(p.unknowns[k], points[i][k]);
  }
  p.middle = features.colwise().mean().transpose();
  p.spread = ((features.rowwise() - p.middle.transpose()).colwise().squaredNorm() / static_cast<double>(n))
                 .array()
                 .sqrt()
                 .transpose();
  p.spread = (p.spread.array() > 1e-12).select(p.spread, 1.0);
  p.design = (features.rowwise() - p.middle.transpose()).array().rowwise() / p.spread.transpose().array();
  MatrixXd logs(n, static_cast<Eigen::Index>(p.figures.size()));
  p.there.resize(n, logs.cols());
  for (std::size_t f = 0; f < p.figures.size(); ++f) {
    const auto column = static_cast<Eigen::Index>(f);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto& forecast = forecasts[i];
      const double value = value_of((forecast.empty() ? nothing : forecast)[p.figures[f].cell], p.figures[f]);
      p.there(i, column) = value > 0 ? 1 : 0;
      logs(i, column) = value > 0 ? std::log(value) : 0;
    }
    p.never.push_back(p.there.col(column).sum() == 0);
    stand_in(p.design, p.there.col(column), logs.col(column));
  }
  p.train(logs, judged < points.size() ? n - static_cast<Eigen::Index>(judged) : n);
}

Emulator::~Emulator() = default;
Emulator::Emulator(Emulator&&) noexcept = default;
Emulator& Emulator::operator=(Emulator&&) noexcept = default;

std::vector<std::vector<Forecast>> Emulator::at(const std::vector<Point>& points) const {
  const Parts& p = *parts_;
  std::vector<std::vector<Forecast>> out;
  out.reserve(points.size());
  if (p.design.rows() == 0) {
    out.resize(points.size());
    return out;
  }
  for (std::size_t first = 0; first < points.size(); first += kPointsAtOnce) {
    const std::size_t count = std::min(kPointsAtOnce, points.size() - first);
    MatrixXd x(p.design.cols(), static_cast<Eigen::Index>(count));
    MatrixXd terms(p.quadratic.rows(), static_cast<Eigen::Index>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      x.col(column) = p.scaled(points[first + i]);
      terms.col(column) = p.terms(x.col(column));
    }
    const MatrixXd logs = product(p.quadratic.transpose(), terms) + product(p.remainder.transpose(), p.kernel(x));
    for (std::size_t i = 0; i < count; ++i) out.push_back(forecasts_of(logs.col(static_cast<Eigen::Index>(i)).data()));
  }
  return out;
}

std::vector<Forecast> Emulator::forecasts_of(const double* logs) const {
  const Parts& p = *parts_;
  std::vector<Forecast> out(p.cells);
  bool timed = true;  // for the current cell
  for (std::size_t f = 0; f < p.figures.size(); ++f) {
    if (p.never[f]) continue;
    const double value = std::exp(logs[f]);
    Forecast& forecast = out[p.figures[f].cell];
    if (p.figures[f].kind == EmulatedFigure::Kind::kMemoryShare) {
      forecast.memory_share = value;
      forecast.memory = std::max(forecast.memory, 1.0);
      forecast.status = value <= 1 ? Status::kOk : Status::kOutOfMemory;
      continue;
    }
    if (p.figures[f].kind == EmulatedFigure::Kind::kStartupTime) {
      forecast.startup = value;
      continue;
    }
    if (p.figures[f].kind == EmulatedFigure::Kind::kIsTimed) {
      timed = logs[f] > kPerhaps;
      continue;
    }
    if (!timed) continue;
    const Measure measure = p.figures[f].measure;
    if (measure != Measure::kFits) forecast.*kForecastFigures[static_cast<std::size_t>(measure)] = value;
    if (measure == Measure::kJob) forecast.job += forecast.startup;
  }
  return out;
}

Discrepancy Emulator::error(std::size_t cell) const {
  Discrepancy out{0, 0};
  if (parts_->design.rows() == 0) return out;
  for (std::size_t f = 0; f < parts_->figures.size(); ++f) {
    const EmulatedFigure& figure = parts_->figures[f];
    if (figure.cell != cell || figure.kind == EmulatedFigure::Kind::kIsTimed) continue;
    double& worst = figure.kind == EmulatedFigure::Kind::kMemoryShare ? out.memory : out.time;
    worst = std::max(worst, parts_->errors[static_cast<Eigen::Index>(f)]);
  }
  return out;
}

double Emulator::error(std::size_t cell, Measure measure) const {
  if (parts_->design.rows() == 0) return 0;  // no points: returns zeros
  for (std::size_t f = 0; f < parts_->figures.size(); ++f) {
    const EmulatedFigure& figure = parts_->figures[f];
    if (figure.cell == cell && figure.kind == EmulatedFigure::Kind::kMeasure && figure.measure == measure)
      return parts_->errors[static_cast<Eigen::Index>(f)];
  }
  return 0;
}

double Emulator::worst_error() const { return parts_->errors.size() > 0 ? parts_->errors.maxCoeff() : 0; }

}  // namespace slmsim
