#include "sim/engine/fair_shares.h"

#include <algorithm>
#include <limits>

namespace slmsim {
namespace {

constexpr double kFull = 1e-12;  // of a bandwidth: what subtracting shares leaves of a full link

std::size_t at(int link) { return static_cast<std::size_t>(link); }

}  // namespace

FairShares::FairShares(std::vector<double> bandwidths, std::size_t flows) : flows_(flows) {
  for (const double bandwidth : bandwidths) links_.push_back({.bandwidth = bandwidth, .flows = {}});
}

const std::vector<std::size_t>& FairShares::come(std::size_t index, const std::vector<int>& links, double cap) {
  Flow& flow = flows_[index];
  flow.links = &links;
  flow.cap = cap;
  changed_.assign(1, index);
  bool alone = true;
  for (const int link : links) {
    alone = alone && links_[at(link)].flows.empty() && links_[at(link)].bandwidth >= cap;
    links_[at(link)].flows.push_back(index);
  }
  if (alone) {
    flow.rate = cap;
    return changed_;
  }
  changed_.clear();
  collect(links);
  fill();
  return changed_;
}

const std::vector<std::size_t>& FairShares::go(std::size_t index) {
  const auto& links = *flows_[index].links;
  bool alone = true;
  for (const int link : links) {
    std::erase(links_[at(link)].flows, index);
    alone = alone && links_[at(link)].flows.empty();
  }
  changed_.clear();
  if (alone) return changed_;
  collect(links);
  fill();
  return changed_;
}

// All flows that a chain of shared links joins to these links.
void FairShares::collect(const std::vector<int>& links) {
  reached_.clear();
  const auto reach = [&](int link) {
    if (links_[at(link)].seen) return;
    links_[at(link)].seen = true;
    reached_.push_back(link);
  };
  for (const int link : links) reach(link);
  for (std::size_t next = 0; next < reached_.size(); ++next) {
    for (const std::size_t flow : links_[at(reached_[next])].flows) {
      if (flows_[flow].seen) continue;
      flows_[flow].seen = true;
      changed_.push_back(flow);
      for (const int link : *flows_[flow].links) reach(link);
    }
  }
  for (const std::size_t flow : changed_) flows_[flow].seen = false;
  for (const int link : reached_) links_[at(link)].seen = false;
  std::sort(changed_.begin(), changed_.end());
}

void FairShares::fill() {
  for (const int link : reached_) {
    links_[at(link)].room = links_[at(link)].bandwidth;
    links_[at(link)].rising = links_[at(link)].flows.size();
  }
  for (const std::size_t flow : changed_) flows_[flow].rising = true;
  for (std::size_t left = changed_.size(); left > 0;) {
    // The level at which the next flow stops.
    double level = std::numeric_limits<double>::infinity();
    for (const int index : reached_) {
      const Link& link = links_[at(index)];
      if (link.rising > 0) level = std::min(level, link.room / static_cast<double>(link.rising));
    }
    for (const std::size_t flow : changed_) {
      if (flows_[flow].rising) level = std::min(level, flows_[flow].cap);
    }
    const auto stops = [&](const Flow& flow) {
      return flow.cap <= level || std::any_of(flow.links->begin(), flow.links->end(), [&](int index) {
               const Link& link = links_[at(index)];
               return link.room / static_cast<double>(link.rising) <= level + kFull * link.bandwidth;
             });
    };
    // Decided for all before any stops: what one takes must not decide over the next at the same level.
    std::size_t stopped = 0;
    for (const std::size_t index : changed_) {
      Flow& flow = flows_[index];
      if (flow.rising && stops(flow)) {
        flow.rate = std::min(flow.cap, level);
        flow.seen = true;
        ++stopped;
      }
    }
    for (const std::size_t index : changed_) {
      Flow& flow = flows_[index];
      if (!flow.seen) continue;
      flow.seen = flow.rising = false;
      for (const int link : *flow.links) {
        links_[at(link)].room -= flow.rate;
        --links_[at(link)].rising;
      }
    }
    left -= stopped;
  }
}

}  // namespace slmsim
