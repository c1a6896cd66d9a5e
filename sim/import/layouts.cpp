#include "sim/import/layouts.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/import/timed_kernels.h"

namespace slmsim {
namespace {

using Points = std::vector<KernelPoint>;

auto key_of(const KernelPoint& point) { return std::tie(point.batch, point.m, point.n, point.k); }

Points of_kind(const Points& points, bool batched) {
  Points some;
  std::copy_if(points.begin(), points.end(), std::back_inserter(some),
               [&](const auto& point) { return (point.batch > 1) == batched; });
  return some;
}

// Where several layouts were timed at one size, their mean.
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
  for (const auto& name : timed_kernels()) {
    if (is_product(name)) layouts.push_back(name);
  }
  const auto timed = profile.points.kernels;
  for (std::size_t p = 0; p < kPrecisions; ++p) {
    for (const bool batched : {false, true}) {
      std::map<std::string, Points> known;
      for (const auto& name : layouts) {
        const auto at = timed.find(name);
        if (Points some = at == timed.end() ? Points{} : of_kind(at->second[p], batched); !some.empty())
          known[name] = some;
      }
      if (known.empty() || known.size() == layouts.size()) continue;
      std::vector<Points> all;
      std::vector<std::string> names, lacking;
      for (auto& [name, points] : known) {
        names.push_back(name);
        all.push_back(std::move(points));
      }
      const Points shared = together(all);
      for (const auto& name : layouts) {
        if (known.contains(name)) continue;
        lacking.push_back(name);
        auto& points = profile.points.kernels[name][p];
        points.insert(points.end(), shared.begin(), shared.end());
        std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
      }
      profile.remarks.push_back(fmt::format("{} in {}{} was not timed: it has the times of {} at the same sizes",
                                            fmt::join(lacking, " and "), precision_names()[p],
                                            batched ? ", in batches," : "", fmt::join(names, " and ")));
    }
  }
}

void tell_what_lacks(ImportedProfile& profile) {
  bool products = false, others = false;
  std::vector<std::string> lacking;
  for (const auto& name : timed_kernels()) {
    const bool known = profile.points.kernels.contains(name);
    (is_product(name) ? products : others) |= known;
    if (!known) lacking.push_back(name);
  }
  if (!products && !others)
    profile.remarks.push_back("no kernel was timed: computation follows the shares of the scenario's software");
  else if (!products || !others)
    profile.remarks.push_back(fmt::format("no {} was timed: {} follow the shares of the scenario's software",
                                          products ? "kernel but products" : "product",
                                          products ? "the others" : "products"));
  else if (!lacking.empty())
    profile.remarks.push_back(
        fmt::format("not timed are {}: they are as much slower than the data sheet as the others of "
                    "their class on the median",
                    fmt::join(lacking, ", ")));
}

}  // namespace slmsim
