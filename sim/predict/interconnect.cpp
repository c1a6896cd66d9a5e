#include "sim/predict/interconnect.h"

#include <algorithm>
#include <map>

namespace slmsim {

std::vector<InterconnectUse> interconnect_use(const TaskGraph& graph, const Timeline& timeline) {
  std::vector<InterconnectUse> out;
  std::vector<std::vector<std::pair<double, double>>> changes;
  std::map<std::pair<int, std::string>, std::size_t> known;
  for (const Link& link : graph.links()) {
    if (link.vm < 0) continue;
    const auto [at, is_new] = known.try_emplace({link.vm, link.interconnect}, out.size());
    if (is_new) {
      out.push_back({.vm = link.vm, .interconnect = link.interconnect});
      changes.emplace_back();
    }
    out[at->second].capacity += link.peak * static_cast<double>(link.counted);
  }
  for (const LinkRates& rates : link_rates(graph, timeline)) {
    const Link& link = graph.links()[static_cast<std::size_t>(rates.link)];
    if (link.vm < 0) continue;
    const std::size_t index = known.at({link.vm, link.interconnect});
    out[index].bytes += rates.bytes * static_cast<double>(link.counted);
    double before = 0;
    for (const RateStep& step : rates.steps) {
      changes[index].emplace_back(step.time, (step.rate - before) * link.counted);
      before = step.rate;
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].steps = rate_steps(std::move(changes[i]));
    const LinkUse use = use_of_steps(out[i].interconnect, out[i].bytes, out[i].steps, timeline.end);
    out[i].average = use.average;
    out[i].p90 = use.p90;
    out[i].peak = use.peak;
  }
  return out;
}

}  // namespace slmsim
