#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/compute/roofline.h"
#include "sim/import/measurement/imported_profile.h"

namespace slmsim {
namespace {

constexpr double kTolerances[] = {0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5};
constexpr std::size_t kMostChecked = 5000;  // left-out samples whose errors are computed
// Samples kept in one round are at least a factor of two apart, summed over the sizes: keeping one often corrects its
// neighbours.
const double kApart = std::log(2.0);
// The samples are summed in another order than the profile's reader uses.
constexpr double kRounding = 1e-6;

double distance(const KernelSizes& a, const KernelSizes& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
}

double error_of(const RatioFit& fit, const KernelSample& sample) {
  const auto ratio = fit.ratio();
  return ratio ? std::abs(std::exp(*ratio - sample.ratio) - 1) : std::numeric_limits<double>::infinity();
}

struct Series {
  std::vector<KernelPoint>* points = nullptr;
  std::vector<KernelSample> samples;
};

std::vector<Series> series_of(GpuProfile& profile, const Gpu& gpu) {
  std::vector<Series> all;
  for (auto& [name, by_precision] : profile.kernels) {
    for (std::size_t p = 0; p < kPrecisions; ++p) {
      if (by_precision[p].empty()) continue;
      // Products that are aligned alike are interpolated among each other.
      std::map<double, Series> alike;
      for (const auto& point : by_precision[p]) {
        const KernelShape shape{name, point.batch, point.m, point.n, point.k};
        const auto precision = static_cast<Precision>(p);
        const Seconds ideal = ideal_time(gpu, precision, shape, profile.launch);
        Series& series = alike[alignment_cost(gpu, precision, shape)];
        series.points = &by_precision[p];
        series.samples.push_back({point, sizes_of(shape), std::log(point.time / ideal)});
      }
      for (auto& [cost, series] : alike) all.push_back(std::move(series));
    }
  }
  return all;
}

using Kept = std::vector<std::vector<bool>>;

std::optional<Kept> keep(const std::vector<Series>& all, double tolerance, std::size_t most) {
  Kept kept;
  for (const auto& series : all) {
    auto one = samples_to_keep(series.samples, tolerance, most);
    if (!one) return std::nullopt;
    most -= static_cast<std::size_t>(std::ranges::count(*one, true));
    kept.push_back(std::move(*one));
  }
  return kept;
}

// Within the smallest tolerance for which `most` samples suffice; also returns that tolerance.
std::optional<std::pair<Kept, double>> keep_within_least(const std::vector<Series>& all, std::size_t most) {
  std::optional<std::pair<Kept, double>> best;
  // A wider tolerance needs fewer samples, so bisection finds the smallest.
  std::size_t low = 0, high = std::size(kTolerances);
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (auto kept = keep(all, kTolerances[middle], most)) {
      best = {std::move(*kept), kTolerances[middle]};
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return best;
}

Kept keep_apart(const std::vector<Series>& all, std::size_t most) {
  // From a wide spacing, which is quick to try, to the narrowest for which `most` samples suffice. Each series keeps at least
  // one.
  Kept best;
  for (double apart = 20; best.empty() || apart > 1e-3; apart /= 1.1) {
    Kept kept;
    std::size_t count = 0;
    for (const auto& series : all) {
      kept.push_back(samples_apart(series.samples, apart));
      count += static_cast<std::size_t>(std::ranges::count(kept.back(), true));
    }
    if (count > most && !best.empty()) break;
    best = std::move(kept);
  }
  return best;
}

// The interpolation errors of the samples that are not kept, sorted.
std::vector<double> errors_of(const std::vector<Series>& all, const Kept& kept) {
  std::vector<double> errors;
  std::size_t dropped = 0, seen = 0;
  for (const auto& one : kept) dropped += static_cast<std::size_t>(std::ranges::count(one, false));
  const std::size_t step = dropped / kMostChecked + 1;
  for (std::size_t s = 0; s < all.size(); ++s) {
    for (std::size_t i = 0; i < all[s].samples.size(); ++i) {
      if (kept[s][i] || seen++ % step != 0) continue;
      RatioFit fit(all[s].samples[i].sizes);
      for (std::size_t j = 0; j < all[s].samples.size(); ++j) {
        if (kept[s][j]) fit.add(all[s].samples[j]);
      }
      errors.push_back(error_of(fit, all[s].samples[i]));
    }
  }
  std::ranges::sort(errors);
  return errors;
}

void drop_others(std::vector<Series>& all, const Kept& kept) {
  for (auto& series : all) series.points->clear();
  for (std::size_t s = 0; s < all.size(); ++s) {
    for (std::size_t i = 0; i < kept[s].size(); ++i) {
      if (kept[s][i]) all[s].points->push_back(all[s].samples[i].point);
    }
  }
  const auto sizes = [](const KernelPoint& point) { return std::tie(point.batch, point.m, point.n, point.k); };
  for (auto& series : all)
    std::ranges::sort(*series.points, [&](const auto& a, const auto& b) { return sizes(a) < sizes(b); });
}

using Points = std::vector<KernelPoint>;

auto key_of(const KernelPoint& point) { return std::tie(point.batch, point.m, point.n, point.k); }

// Limit of the sum over the sizes of |log|: nearer than this, a layout's own time is a better guide than another layout's at
// the same sizes.
const double kNear = std::log(2.0);

bool is_near(const KernelSizes& a, const KernelSizes& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum < kNear;
}

KernelSizes sizes_of(const KernelPoint& point) {
  return slmsim::sizes_of(KernelShape{"", point.batch, point.m, point.n, point.k});
}

// Points of `others` that are far from every own point.
Points lacking_in(const Points& own, const Points& others) {
  std::vector<KernelSizes> sizes;
  for (const auto& point : own) sizes.push_back(sizes_of(point));
  Points lacking;
  for (const auto& point : others) {
    const KernelSizes at = sizes_of(point);
    if (std::ranges::none_of(sizes, [&](const auto& one) { return is_near(one, at); })) lacking.push_back(point);
  }
  return lacking;
}

// Where several layouts have a time at one size, their mean.
Points together(const std::vector<Points>& others) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, std::pair<double, int>> sums;
  for (const auto& points : others) {
    for (const auto& point : points) {
      auto& [sum, count] = sums[key_of(point)];
      sum += point.time.value;
      ++count;
    }
  }
  Points out;
  for (const auto& [key, sum] : sums) {
    const auto& [batch, m, n, k] = key;
    out.push_back({batch, m, n, k, Seconds{sum.first / sum.second}});
  }
  return out;
}

}  // namespace

std::optional<std::vector<bool>> samples_to_keep(const std::vector<KernelSample>& samples, double tolerance,
                                                 std::size_t most) {
  std::vector<bool> kept(samples.size());
  std::vector<RatioFit> fits;
  fits.reserve(samples.size());
  for (const auto& sample : samples) fits.emplace_back(sample.sizes);
  for (std::size_t count = 0;;) {
    std::vector<std::pair<double, std::size_t>> wrong;  // the worst first, then in the order of the samples
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (kept[i]) continue;
      if (const double error = error_of(fits[i], samples[i]); error > tolerance - kRounding)
        wrong.emplace_back(-error, i);
    }
    if (wrong.empty()) return kept;
    std::ranges::sort(wrong);
    std::vector<std::size_t> added;
    for (const auto& each : wrong) {
      const std::size_t i = each.second;
      const bool near = std::ranges::any_of(
          added, [&](std::size_t other) { return distance(samples[i].sizes, samples[other].sizes) < kApart; });
      if (!near) added.push_back(i);
    }
    count += added.size();
    if (count > most) return std::nullopt;
    for (const std::size_t i : added) kept[i] = true;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (kept[i]) continue;
      for (const std::size_t other : added) fits[i].add(samples[other]);
    }
  }
}

std::vector<bool> samples_apart(const std::vector<KernelSample>& samples, double apart) {
  std::vector<bool> kept(samples.size());
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const bool near = std::ranges::any_of(
        found, [&](std::size_t other) { return distance(samples[i].sizes, samples[other].sizes) <= apart; });
    if (near) continue;
    kept[i] = true;
    found.push_back(i);
  }
  return kept;
}

void thin_kernels(ImportedProfile& profile, const Gpu& gpu, std::size_t most) {
  const std::size_t before = points_of(profile.points);
  if (before <= most) return;
  auto all = series_of(profile.points, gpu);
  const auto within = keep_within_least(all, most);
  const Kept kept = within ? within->first : keep_apart(all, most);
  const auto errors = errors_of(all, kept);
  drop_others(all, kept);
  const auto percent = [&](double part) {
    return errors.empty() ? 0 : 100 * errors[static_cast<std::size_t>(part * static_cast<double>(errors.size() - 1))];
  };
  profile.remarks.push_back(
      fmt::format("{} of {} sizes are kept{}: the others are interpolated from them within {:.3g} % of the measured "
                  "times, half of them within {:.2g} %",
                  points_of(profile.points), before, !within ? ", evenly over the sizes, since the times scatter" : "",
                  within ? within->second * 100 : percent(0.9), percent(0.5)));
  if (!within) profile.remarks.back() += ", except for the worst tenth";
}

void thin_collectives(ImportedProfile& profile, std::size_t most) {
  if (profile.collectives.size() <= most) return;
  const auto group = [](const CollectiveTime& one) { return std::tie(one.name, one.ranks, one.hosts); };
  const auto rate = [](const CollectiveTime& one) { return one.size / one.time; };
  std::vector<CollectiveTime> kept;
  for (auto begin = profile.collectives.begin(); begin != profile.collectives.end();) {
    const auto end =
        std::find_if(begin, profile.collectives.end(), [&](const auto& one) { return group(one) != group(*begin); });
    const auto best = std::max_element(begin, end, [&](const auto& a, const auto& b) { return rate(a) < rate(b); });
    double next = 0;
    for (auto one = begin; one != end; ++one) {
      if (one != best && one->size.value < next) continue;
      if (one->size.value >= next) next = 2 * one->size.value;
      kept.push_back(*one);
    }
    begin = end;
  }
  profile.remarks.push_back(fmt::format(
      "{} of {} sizes of collectives are kept: the smallest, that of the highest rate, and one for each doubling",
      kept.size(), profile.collectives.size()));
  profile.collectives = std::move(kept);
}

void share_layouts(ImportedProfile& profile) {
  std::vector<std::string> layouts;
  for (const auto& name : kernel_names()) {
    if (is_product(name)) layouts.push_back(name);
  }
  const auto timed = profile.points.kernels;
  for (std::size_t p = 0; p < kPrecisions; ++p) {
    for (const auto& name : layouts) {
      Points own;
      std::vector<Points> others;
      std::vector<std::string> names;
      for (const auto& other : layouts) {
        const auto at = timed.find(other);
        if (at == timed.end() || at->second[p].empty()) continue;
        if (other == name) {
          own = at->second[p];
        } else {
          others.push_back(at->second[p]);
          names.push_back(other);
        }
      }
      const Points taken = lacking_in(own, together(others));
      if (taken.empty()) continue;
      auto& points = profile.points.kernels[name][p];
      points.insert(points.end(), taken.begin(), taken.end());
      std::ranges::sort(points, [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
      profile.remarks.push_back(fmt::format("{} in {} was not timed{}: {} sizes have the times of {}", name,
                                            precision_names()[p], own.empty() ? "" : " everywhere", taken.size(),
                                            fmt::join(names, " and ")));
    }
  }
}

void tell_what_lacks(ImportedProfile& profile) {
  bool products = false, others = false;
  std::vector<std::string> lacking;
  for (const auto& name : kernel_names()) {
    const bool known = profile.points.kernels.contains(name);
    (is_product(name) ? products : others) |= known;
    if (!known) lacking.push_back(name);
  }
  if (!products && !others)
    profile.remarks.emplace_back("no kernel was timed: computation follows the shares of the scenario's software");
  else if (!products || !others)
    profile.remarks.push_back(fmt::format("no {} was timed: {} follow the shares of the scenario's software",
                                          products ? "kernel but products" : "product",
                                          products ? "the others" : "products"));
  else if (!lacking.empty())
    profile.remarks.push_back(
        fmt::format("not timed: {}; they take the median ratio to the data sheet of the others of their class",
                    fmt::join(lacking, ", ")));
}

}  // namespace slmsim
