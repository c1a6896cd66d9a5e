#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/predict/measure.h"

namespace slmsim {
namespace {

// Use of these links together; a link counts once for each time it is listed. Each link's steps are freed before the next
// link's are computed: an iteration with small windows may have many millions of steps.
InterconnectUse summed(const std::vector<int>& links, const TaskGraph& graph, const Timeline& timeline,
                       const Repetition& again) {
  std::map<int, double> times;
  for (const int link : links) ++times[link];
  InterconnectUse out;
  std::vector<std::pair<double, double>> changes;
  each_link_rates(
      graph, timeline, [&](int link) { return times.contains(link); },
      [&](const LinkRates& one) {
        const double often = times.at(one.link);
        out.bytes += one.bytes * often;
        double before = 0;
        for (const RateStep& step : one.steps) {
          changes.emplace_back(step.time, (step.rate - before) * often);
          before = step.rate;
        }
      },
      again);
  out.steps = rate_steps(std::move(changes));
  const LinkUse use = use_of_steps("", out.bytes, out.steps, timeline.end, again);
  out.average = use.average;
  out.p90 = use.p90;
  out.peak = use.peak;
  return out;
}

// Links that carried anything.
std::set<int> used_links(const TaskGraph& graph, const Timeline& timeline) {
  std::vector<bool> used(graph.connections().size());
  for (const Flow& flow : timeline.flows) used[flow.connection] = true;
  std::set<int> out;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto& links = graph.connections()[i].route.links;
    if (used[i]) out.insert(links.begin(), links.end());
  }
  return out;
}

}  // namespace

std::vector<InterconnectUse> interconnect_use(const TaskGraph& graph, const Timeline& timeline, bool steps,
                                              const Repetition& again) {
  const std::set<int> used = used_links(graph, timeline);
  std::vector<InterconnectUse> out;
  std::vector<std::vector<int>> ways;  // for each group, the classes of its links, with repetition
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
    if (const int taken_for = graph.link_of(static_cast<int>(i)); used.contains(taken_for))
      ways[at->second].insert(ways[at->second].end(), static_cast<std::size_t>(link.counted), taken_for);
  }
  std::map<std::vector<int>, std::size_t> like;  // index of the first one with the same classes
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::sort(ways[i].begin(), ways[i].end());
    const auto [first, is_new] = like.try_emplace(ways[i], i);
    InterconnectUse own = is_new ? summed(ways[i], graph, timeline, again) : out[first->second];
    if (!steps) own.steps = {};
    own.vm = out[i].vm;
    own.interconnect = out[i].interconnect;
    own.capacity = out[i].capacity;
    out[i] = std::move(own);
  }
  return out;
}

}  // namespace slmsim
