#include "sim/predict/job/link_day.h"

#include <set>

namespace slmsim {
namespace {

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

}  // namespace

std::vector<LinkState> link_states(const Scenario& scenario) {
  if (!scenario.job || scenario.job->days.empty()) return {{Seconds{0}, scenario.platform.links}};
  std::set<double> changes;
  for (const LinkDay& day : scenario.job->days) {
    for (const LinkHours& hours : day.hours) changes.insert(hours.from.value);
  }
  std::vector<LinkState> out;
  for (const double change : changes) {
    LinkState state{Seconds{change}, scenario.platform.links};
    for (const LinkDay& day : scenario.job->days) {
      WanLink& link = state.links[day.link];
      link = at_hour(link, day, Seconds{change});
    }
    out.push_back(std::move(state));
  }
  return out;
}

}  // namespace slmsim
