#include "sim/job/hours.h"

#include <algorithm>
#include <set>

#include "sim/predict/iterations.h"
#include "sim/predict/lower_alike.h"
#include "sim/scenario/model_named.h"

namespace slmsim {
namespace {

// What holds at a time of the day.
WanLink at_hour(WanLink link, const LinkDay& day, Seconds time) {
  const LinkHours* now = nullptr;
  for (const LinkHours& hours : day.hours) {
    if (hours.from <= time) now = &hours;
  }
  const Seconds rtt = link.forward.delay + link.backward.delay;
  for (WanDirection* way : {&link.forward, &link.backward}) {
    if (now->bandwidth) way->bandwidth = *now->bandwidth;
    if (now->loss) way->loss = *now->loss;
    if (now->rtt) way->delay = rtt > Seconds{0} ? *now->rtt * (way->delay / rtt) : *now->rtt / 2;
  }
  return link;
}

Seconds time_of(const Scenario& scenario, const OperatorGraph& operators, const Plan& plan) {
  const Network network(scenario.platform);
  return simulate_iterations(lower_alike({plan, operators, scenario, network}).graph).steady();
}

}  // namespace

std::vector<Hour> speeds_of_day(const Scenario& scenario, const Prediction& prediction) {
  std::vector<Hour> out;
  if (!scenario.job || scenario.job->days.empty()) return out;
  std::set<int> sites;
  for (const int device : devices_of(*prediction.plan)) {
    const int vm = scenario.platform.devices[static_cast<std::size_t>(device)].vm;
    sites.insert(scenario.platform.vms[static_cast<std::size_t>(vm)].site);
  }
  if (sites.size() < 2) return out;
  std::set<double> changes;
  for (const LinkDay& day : scenario.job->days) {
    for (const LinkHours& hours : day.hours) changes.insert(hours.from.value);
  }
  const OperatorGraph operators = build_operator_graph(model_named(scenario, prediction.model));
  Scenario then = scenario;
  const Seconds usual = time_of(then, operators, *prediction.plan);
  std::vector<std::pair<std::vector<WanLink>, double>> known = {{scenario.platform.links, 1}};
  for (const double change : changes) {
    then.platform.links = scenario.platform.links;
    for (const LinkDay& day : scenario.job->days) {
      WanLink& link = then.platform.links[static_cast<std::size_t>(day.link)];
      link = at_hour(link, day, Seconds{change});
    }
    auto same = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.first == then.platform.links; });
    if (same == known.end())
      same = known.insert(known.end(), {then.platform.links, usual / time_of(then, operators, *prediction.plan)});
    out.push_back({Seconds{change}, same->second});
  }
  return out;
}

}  // namespace slmsim
