#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "sim/predict/measure.h"

namespace slmsim {
namespace {

// Bytes and rates of links, by the flows of the connections that cross them. Links with the same connections are used alike.
class Carried {
 public:
  Carried(const TaskGraph& graph, const Timeline& timeline, const Repetition& again)
      : graph_(graph),
        timeline_(timeline),
        again_(again),
        flows_(graph.connections().size()),
        over_(graph.links().size()) {
    for (const Flow& flow : timeline.flows) flows_[flow.connection].push_back(&flow);
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      if (flows_[i].empty()) continue;
      for (const int link : graph.connections()[i].route.links) over_[link].push_back(i);
    }
  }

  // Whether it carried anything.
  bool uses(int link) const { return !over_[link].empty(); }

  LinkRates rates(int link) const {
    std::vector<std::pair<double, double>> changes;
    double bytes = 0;
    for (const std::size_t connection : over_[link]) {
      double most = std::numeric_limits<double>::infinity();
      for (const int crossed : graph_.connections()[connection].route.links)
        most = std::min(most, graph_.links()[crossed].bandwidth.value);
      for (const Flow* flow : flows_[connection]) {
        // For a short flow rounding gives more than the links carry.
        const double rate = std::min(most, flow->bytes / std::max(1e-12, flow->finish - flow->start));
        changes.emplace_back(flow->start, rate);
        changes.emplace_back(flow->finish, -rate);
        bytes += bytes_of(*flow, again_);
      }
    }
    return {link, Bytes{bytes}, rate_steps(std::move(changes))};
  }

  const LinkUse& use(int link) {
    const auto known = known_.find(over_[link]);
    return known != known_.end() ? known->second : use_at(rates(link));
  }

  // Use of these links together; a link counts once for each time it is listed. Each link's steps are freed before the next
  // link's are computed: an iteration with small windows may have many millions of steps.
  InterconnectUse together(const std::vector<int>& links) {
    InterconnectUse out;
    std::vector<std::pair<double, double>> changes;
    for (auto next = links.begin(); next != links.end();) {
      const auto first = std::exchange(next, std::upper_bound(next, links.end(), *next));
      const auto often = static_cast<double>(next - first);
      const LinkRates one = rates(*first);
      if (!known_.contains(over_[*first])) use_at(one);
      out.bytes += one.bytes * often;
      double before = 0;
      for (const RateStep& step : one.steps) {
        changes.emplace_back(step.time, (step.rate - before) * often);
        before = step.rate;
      }
    }
    out.steps = rate_steps(std::move(changes));
    const LinkUse use = use_of_steps("", out.bytes, out.steps, timeline_.end, again_);
    out.average = use.average;
    out.p90 = use.p90;
    out.peak = use.peak;
    return out;
  }

 private:
  const LinkUse& use_at(const LinkRates& one) {
    LinkUse use = use_of_steps("", one.bytes, one.steps, timeline_.end, again_);
    return known_.emplace(over_[one.link], std::move(use)).first->second;
  }

  const TaskGraph& graph_;
  const Timeline& timeline_;
  const Repetition again_;
  std::vector<std::vector<const Flow*>> flows_;  // per connection
  std::vector<std::vector<std::size_t>> over_;   // connections with flows, once for each time that they cross a link
  std::map<std::vector<std::size_t>, LinkUse> known_;  // by these connections
};

std::vector<InterconnectUse> interconnect_use(const TaskGraph& graph, Carried& carried, bool steps) {
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
    if (const int taken_for = graph.link_of(static_cast<int>(i)); carried.uses(taken_for))
      ways[at->second].insert(ways[at->second].end(), static_cast<std::size_t>(link.counted), taken_for);
  }
  std::map<std::vector<int>, std::size_t> like;  // index of the first one with the same classes
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::sort(ways[i].begin(), ways[i].end());
    const auto [first, is_new] = like.try_emplace(ways[i], i);
    InterconnectUse own = is_new ? carried.together(ways[i]) : out[first->second];
    if (!steps) own.steps = {};
    own.vm = out[i].vm;
    own.interconnect = out[i].interconnect;
    own.capacity = out[i].capacity;
    out[i] = std::move(own);
  }
  return out;
}

}  // namespace

std::vector<LinkRates> link_rates(const TaskGraph& graph, const Timeline& timeline) {
  const Carried carried(graph, timeline, {});
  std::vector<LinkRates> out;
  for (int link = 0; link < static_cast<int>(graph.links().size()); ++link) {
    if (carried.uses(link)) out.push_back(carried.rates(link));
  }
  return out;
}

TrafficUse traffic_use(const TaskGraph& graph, const Timeline& timeline, bool steps, const Repetition& again) {
  Carried carried(graph, timeline, again);
  TrafficUse out;
  out.interconnects = interconnect_use(graph, carried, steps);
  for (int link = 0; link < static_cast<int>(graph.links().size()); ++link) {
    if (!carried.uses(graph.link_of(link))) continue;
    out.links.push_back(carried.use(graph.link_of(link)));
    out.links.back().link = graph.links()[link].name;
  }
  return out;
}

}  // namespace slmsim
