#include "sim/engine/fair_shares.h"

#include <algorithm>
#include <limits>

namespace slmsim {
namespace {

constexpr double kFull = 1e-12;  // of a bandwidth: what subtracting shares leaves of a full link

std::size_t at(int link) { return static_cast<std::size_t>(link); }

}  // namespace

FairShares::FairShares(const std::vector<double>& bandwidths, std::size_t flows) : flows_(flows) {
  for (const double bandwidth : bandwidths) links_.push_back({.bandwidth = bandwidth, .flows = {}});
}

void FairShares::lay(Flow& flow, const std::vector<int>& links) {
  flow.first = static_cast<std::uint32_t>(ways_.size());
  for (const int link : links) {
    const auto known =
        std::find_if(ways_.begin() + flow.first, ways_.end(), [&](const Way& w) { return w.link == link; });
    if (known != ways_.end()) {
      ++known->shares;
    } else {
      ways_.push_back({.link = link, .shares = 1});
    }
  }
  flow.end = static_cast<std::uint32_t>(ways_.size());
}

void FairShares::come(std::size_t index, const std::vector<int>& links, double cap) {
  Flow& flow = flows_[index];
  if (flow.first == flow.end) lay(flow, links);
  flow.cap = cap;
  flow.rate = 0;
  for (std::uint32_t i = flow.first; i < flow.end; ++i) {
    Way& way = ways_[i];
    Link& link = links_[at(way.link)];
    way.place = static_cast<std::uint32_t>(link.flows.size());
    link.flows.push_back({static_cast<std::uint32_t>(index), i});
    link.shares += way.shares;
    touch(link, way.link);
  }
}

void FairShares::go(std::size_t index) {
  for (const Way& way : ways(flows_[index])) {
    Link& link = links_[at(way.link)];
    link.flows[way.place] = link.flows.back();
    ways_[link.flows[way.place].way].place = way.place;
    link.flows.pop_back();
    link.shares -= way.shares;
    touch(link, way.link);
  }
}

void FairShares::touch(Link& link, int number) {
  if (link.touched) return;
  link.touched = true;
  touched_.push_back(number);
}

const std::vector<std::size_t>& FairShares::settle() {
  changed_.clear();
  for (const int number : touched_) {
    Link& link = links_[at(number)];
    if (!link.touched) continue;  // with one before it
    link.touched = false;
    if (link.flows.empty()) continue;
    if (link.flows.size() == 1 && settle_alone(link.flows.front().flow)) continue;
    collect(number);
    fill();
    changed_.insert(changed_.end(), together_.begin(), together_.end());
  }
  touched_.clear();
  return changed_;
}

// What fill() would give a flow that has all its links to itself; false where it has not.
bool FairShares::settle_alone(std::size_t index) {
  Flow& flow = flows_[index];
  double rate = flow.cap;
  for (const Way& way : ways(flow)) {
    const Link& link = links_[at(way.link)];
    if (link.flows.size() > 1) return false;
    rate = std::min(rate, link.bandwidth / way.shares);
  }
  for (const Way& way : ways(flow)) links_[at(way.link)].touched = false;
  flow.rate = rate;
  changed_.push_back(index);
  return true;
}

// All flows that a chain of shared links joins to this link.
void FairShares::collect(int first) {
  together_.clear();
  reached_.assign(1, first);
  links_[at(first)].seen = true;
  for (std::size_t next = 0; next < reached_.size(); ++next) {
    links_[at(reached_[next])].touched = false;
    for (const Member& member : links_[at(reached_[next])].flows) {
      Flow& flow = flows_[member.flow];
      if (flow.seen) continue;
      flow.seen = true;
      together_.push_back(member.flow);
      for (const Way& way : ways(flow)) {
        if (links_[at(way.link)].seen) continue;
        links_[at(way.link)].seen = true;
        reached_.push_back(way.link);
      }
    }
  }
  for (const std::size_t flow : together_) flows_[flow].seen = false;
  for (const int link : reached_) links_[at(link)].seen = false;
}

void FairShares::fill() {
  for (const int index : reached_) {
    Link& link = links_[at(index)];
    link.room = link.bandwidth;
    link.rising = link.shares;
  }
  rising_ = together_;
  while (!rising_.empty()) {
    // The level at which the next flow stops.
    double level = std::numeric_limits<double>::infinity();
    std::erase_if(reached_, [&](int index) { return links_[at(index)].rising == 0; });
    for (const int index : reached_) {
      Link& link = links_[at(index)];
      link.level = link.room / static_cast<double>(link.rising);
      level = std::min(level, link.level);
    }
    for (const std::size_t flow : rising_) level = std::min(level, flows_[flow].cap);
    for (const int index : reached_) {
      Link& link = links_[at(index)];
      link.full = link.level <= level + kFull * link.bandwidth;
    }
    // Decided for all before any stops: what one takes must not decide over the next at the same level.
    stopping_.clear();
    std::erase_if(rising_, [&](std::size_t index) {
      const auto own = ways(flows_[index]);
      const bool stops = flows_[index].cap <= level ||
                         std::any_of(own.begin(), own.end(), [&](const Way& way) { return links_[at(way.link)].full; });
      if (stops) stopping_.push_back(index);
      return stops;
    });
    for (const std::size_t index : stopping_) {
      Flow& flow = flows_[index];
      flow.rate = std::min(flow.cap, level);
      for (const Way& way : ways(flow)) {
        links_[at(way.link)].room -= flow.rate * way.shares;
        links_[at(way.link)].rising -= way.shares;
      }
    }
  }
}

}  // namespace slmsim
