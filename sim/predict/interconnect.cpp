#include "sim/predict/interconnect.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace slmsim {
namespace {

// Of these links together.
InterconnectUse summed(const std::vector<int>& links, const std::map<int, LinkRates>& rates, Seconds end) {
  InterconnectUse out;
  std::vector<std::pair<double, double>> changes;
  for (std::size_t i = 0; i < links.size();) {
    const auto next = std::upper_bound(links.begin() + static_cast<long>(i), links.end(), links[i]);
    const auto times = static_cast<double>(next - links.begin()) - static_cast<double>(i);
    const LinkRates& one = rates.at(links[i]);
    out.bytes += one.bytes * times;
    double before = 0;
    for (const RateStep& step : one.steps) {
      changes.emplace_back(step.time, (step.rate - before) * times);
      before = step.rate;
    }
    i = static_cast<std::size_t>(next - links.begin());
  }
  out.steps = rate_steps(std::move(changes));
  const LinkUse use = use_of_steps("", out.bytes, out.steps, end);
  out.average = use.average;
  out.p90 = use.p90;
  out.peak = use.peak;
  return out;
}

}  // namespace

std::vector<InterconnectUse> interconnect_use(const TaskGraph& graph, const Timeline& timeline) {
  std::map<int, LinkRates> rates;
  std::set<int> inside;  // taken for links of a machine
  for (std::size_t i = 0; i < graph.links().size(); ++i) {
    if (graph.links()[i].vm >= 0) inside.insert(graph.link_of(static_cast<int>(i)));
  }
  each_link_rates(
      graph, timeline, [&](int link) { return inside.contains(link); },
      [&](LinkRates link) { rates.emplace(link.link, std::move(link)); });
  std::vector<InterconnectUse> out;
  std::vector<std::vector<int>> ways;  // of each, what its links are taken for, as often as they are counted
  std::map<std::pair<int, std::string>, std::size_t> known;
  for (std::size_t i = 0; i < graph.links().size(); ++i) {
    const Link& link = graph.links()[i];
    if (link.vm < 0) continue;
    const auto [at, is_new] = known.try_emplace({link.vm, link.interconnect}, out.size());
    if (is_new) {
      out.push_back({.vm = link.vm, .interconnect = link.interconnect});
      ways.emplace_back();
    }
    out[at->second].capacity += link.peak * static_cast<double>(link.counted);
    if (const int taken_for = graph.link_of(static_cast<int>(i)); rates.contains(taken_for))
      ways[at->second].insert(ways[at->second].end(), static_cast<std::size_t>(link.counted), taken_for);
  }
  std::map<std::vector<int>, std::size_t> like;  // the first of those whose links are taken for the same
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::sort(ways[i].begin(), ways[i].end());
    const auto [first, is_new] = like.try_emplace(ways[i], i);
    InterconnectUse own = is_new ? summed(ways[i], rates, timeline.end) : out[first->second];
    own.vm = out[i].vm;
    own.interconnect = out[i].interconnect;
    own.capacity = out[i].capacity;
    out[i] = std::move(own);
  }
  return out;
}

}  // namespace slmsim
