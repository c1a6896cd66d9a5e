#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/compute/roofline.h"
#include "sim/import/measurement/imported_profile.h"

namespace slmsim {
namespace {

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
