#include "sim/engine/fair_shares.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace slmsim {
namespace {

constexpr double kFull = 1e-12;    // of a bandwidth: rounding error of a full link after subtracting shares
constexpr double kBinds = 1e-10;   // relative: tolerance for a full link and for the fastest flow over it
constexpr int kMostWidenings = 3;  // a longer chain is filled as a whole

}  // namespace

FairShares::FairShares(const std::vector<double>& bandwidths, std::size_t flows)
    : flows_(flows), sides_(flows, Side::kOutside) {
  for (const double bandwidth : bandwidths) links_.push_back({.bandwidth = bandwidth, .flows = {}});
}

void FairShares::lay(Flow& flow, const std::vector<int>& links) {
  flow.first = static_cast<std::uint32_t>(usages_.size());
  for (const int link : links) {
    const auto known =
        std::find_if(usages_.begin() + flow.first, usages_.end(), [&](const Usage& w) { return w.link == link; });
    if (known != usages_.end()) {
      ++known->shares;
    } else {
      usages_.push_back({.link = link, .shares = 1});
    }
  }
  flow.end = static_cast<std::uint32_t>(usages_.size());
}

void FairShares::come(std::size_t index, const std::vector<int>& links, double cap) {
  Flow& flow = flows_[index];
  if (flow.first == flow.end) lay(flow, links);
  flow.cap = cap;
  flow.rate = 0;
  flow.there = true;
  came_.push_back(index);
  for (std::uint32_t i = flow.first; i < flow.end; ++i) {
    Usage& usage = usages_[i];
    Link& link = links_[usage.link];
    usage.place = static_cast<std::uint32_t>(link.flows.size());
    link.flows.push_back({static_cast<std::uint32_t>(index), i, usage.shares});
    touch(link, usage.link);
  }
}

void FairShares::go(std::size_t index) {
  flows_[index].there = false;
  for (const Usage& usage : usages(flows_[index])) {
    Link& link = links_[usage.link];
    link.flows[usage.place] = link.flows.back();
    usages_[link.flows[usage.place].usage].place = usage.place;
    link.flows.pop_back();
    touch(link, usage.link);
  }
}

void FairShares::touch(Link& link, int number) {
  if (link.touched) return;
  link.touched = true;
  touched_.push_back(number);
}

// Updates whether flows fill a link, and its fastest rate.
void FairShares::see(Link& link) {
  const bool was_full = link.full;
  const double was_fastest = link.fastest;
  double used = 0, fastest = 0;
  for (const Member& member : link.flows) {
    used += member.rate * member.shares;
    fastest = std::max(fastest, member.rate);
  }
  link.fastest = fastest;
  link.full = used >= link.bandwidth * (1 - kBinds);
  link.binds_less = was_full && !(link.full && fastest <= was_fastest);
}

bool FairShares::has_bottleneck(const Flow& flow) {
  if (flow.rate >= flow.cap) return true;
  const auto own = usages(flow);
  return std::any_of(own.begin(), own.end(), [&](const Usage& usage) {
    const Link& link = links_[usage.link];
    return link.full && flow.rate >= link.fastest * (1 - kBinds);
  });
}

bool FairShares::is_alone(const Flow& flow) {
  const auto own = usages(flow);
  return std::all_of(own.begin(), own.end(), [&](const Usage& usage) { return links_[usage.link].flows.size() == 1; });
}

// Result of fill() for a flow without others.
void FairShares::fill_alone(std::size_t index) {
  Flow& flow = flows_[index];
  double rate = flow.cap;
  for (const Usage& usage : usages(flow)) rate = std::min(rate, links_[usage.link].bandwidth / usage.shares);
  set_rate(flow, rate);
  for (const Usage& usage : usages(flow)) see(links_[usage.link]);
  include(index);
}

const std::vector<std::size_t>& FairShares::settle() {
  changed_.clear();
  for (const int number : touched_) {
    links_[number].touched = false;
    see(links_[number]);
  }
  for (const std::size_t index : came_) {
    if (flows_[index].there && is_alone(flows_[index])) fill_alone(index);
  }
  std::size_t filled = changed_.size();
  for (const std::size_t index : came_) {
    if (flows_[index].there) include(index);
  }
  reached_.swap(touched_);
  widen();
  for (int times = 0; filled < changed_.size(); ++times) {
    if (times > kMostWidenings) include_all();
    fill_from(std::exchange(filled, changed_.size()));
    for (const int index : reached_) see(links_[index]);
    widen();
  }
  for (const std::size_t flow : changed_) sides_[flow] = Side::kOutside;
  touched_.clear();
  came_.clear();
  return changed_;
}

void FairShares::include(std::size_t index) {
  if (sides_[index] != Side::kOutside) return;
  sides_[index] = Side::kInside;
  changed_.push_back(index);
}

// Includes flows that are faster than this one over its full links.
void FairShares::include_faster(const Flow& flow) {
  for (const Usage& usage : usages(flow)) {
    const Link& link = links_[usage.link];
    if (!link.full) continue;
    for (const Member& other : link.flows) {
      if (other.rate > flow.rate) include(other.flow);
    }
  }
}

// Includes flows that lost their bottleneck among the reached links, and flows that are faster over the full links of a
// flow without one.
void FairShares::widen() {
  rising_ = changed_;  // grows meanwhile
  for (const std::size_t index : rising_) {
    if (!has_bottleneck(flows_[index])) include_faster(flows_[index]);
  }
  for (const int index : reached_) {
    const Link& link = links_[index];
    if (!link.binds_less) continue;
    for (const Member& member : link.flows) {
      if (sides_[member.flow] != Side::kOutside || has_bottleneck(flows_[member.flow])) continue;
      include(member.flow);
      include_faster(flows_[member.flow]);
    }
  }
}

// Includes everything that a chain of shared links joins to the flows inside.
void FairShares::include_all() {
  std::size_t next = 0;
  while (next < changed_.size()) {
    for (const Usage& usage : usages(flows_[changed_[next++]])) {
      for (const Member& member : links_[usage.link].flows) include(member.flow);
    }
  }
}

// Fills the flows of changed_ from `first` on, with the flows inside that are joined to them; groups without a common
// link are filled separately.
void FairShares::fill_from(std::size_t first) {
  reached_.clear();
  std::size_t behind = 0;
  for (std::size_t i = first; i < changed_.size(); ++i) {
    if (sides_[changed_[i]] == Side::kFilling) continue;
    rising_.clear();
    gather(changed_[i]);
    open_.assign(reached_.begin() + static_cast<std::ptrdiff_t>(behind), reached_.end());
    behind = reached_.size();
    fill();
  }
  for (const int index : reached_) links_[index].reached = false;
  for (const std::size_t flow : changed_) sides_[flow] = Side::kInside;
}

// Collects all flows inside that are joined to this one in rising_, and their links, with the bandwidth left by others,
// in reached_.
void FairShares::gather(std::size_t index) {
  sides_[index] = Side::kFilling;
  rising_.push_back(index);
  for (std::size_t i = 0; i < rising_.size(); ++i) {
    for (const Usage& usage : usages(flows_[rising_[i]])) {
      Link& link = links_[usage.link];
      if (std::exchange(link.reached, true)) continue;
      reached_.push_back(usage.link);
      link.room = link.bandwidth;
      link.rising = 0;
      for (const Member& member : link.flows) {
        Side& side = sides_[member.flow];
        if (side == Side::kOutside) {
          link.room -= member.rate * member.shares;
          continue;
        }
        link.rising += member.shares;
        if (side == Side::kInside) rising_.push_back(member.flow);
        side = Side::kFilling;
      }
      link.room = std::max(0.0, link.room);
    }
  }
}

// Raises the rates of rising_ over open_.
void FairShares::fill() {
  while (!rising_.empty()) {
    // The level at which the next flow stops.
    double level = std::numeric_limits<double>::infinity();
    std::erase_if(open_, [&](int index) { return links_[index].rising == 0; });
    for (const int index : open_) {
      Link& link = links_[index];
      link.level = link.room / static_cast<double>(link.rising);
      level = std::min(level, link.level);
    }
    for (const std::size_t flow : rising_) level = std::min(level, flows_[flow].cap);
    // Decided for all before any stops, so that one flow's share does not affect the next at the same level.
    stopping_.clear();
    std::erase_if(rising_, [&](std::size_t index) {
      const auto own = usages(flows_[index]);
      const bool stops = flows_[index].cap <= level || std::any_of(own.begin(), own.end(), [&](const Usage& usage) {
                           const Link& link = links_[usage.link];
                           return link.level <= level + kFull * link.bandwidth;
                         });
      if (stops) stopping_.push_back(index);
      return stops;
    });
    for (const std::size_t index : stopping_) {
      Flow& flow = flows_[index];
      set_rate(flow, std::min(flow.cap, level));
      for (const Usage& usage : usages(flow)) {
        links_[usage.link].room -= flow.rate * usage.shares;
        links_[usage.link].rising -= usage.shares;
      }
    }
  }
}

void FairShares::set_rate(Flow& flow, double rate) {
  flow.rate = rate;
  for (const Usage& usage : usages(flow)) links_[usage.link].flows[usage.place].rate = rate;
}

}  // namespace slmsim
