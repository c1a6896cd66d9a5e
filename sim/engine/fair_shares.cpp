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

void FairShares::come(std::size_t index, const std::vector<int>& links, double cap) {
  Flow& flow = flows_[index];
  flow.links = &links;
  flow.cap = cap;
  flow.rate = 0;
  for (const int link : links) links_[at(link)].flows.push_back(index);
  touch(links);
}

void FairShares::go(std::size_t index) {
  const auto& links = *flows_[index].links;
  for (const int link : links) {
    auto& flows = links_[at(link)].flows;
    *std::find(flows.begin(), flows.end(), index) = flows.back();
    flows.pop_back();
  }
  touch(links);
}

void FairShares::touch(const std::vector<int>& links) {
  for (const int link : links) {
    if (links_[at(link)].touched) continue;
    links_[at(link)].touched = true;
    touched_.push_back(link);
  }
}

const std::vector<std::size_t>& FairShares::settle() {
  changed_.clear();
  for (const int link : touched_) {
    if (!links_[at(link)].touched) continue;  // with one before it
    collect(link);
    fill();
    changed_.insert(changed_.end(), together_.begin(), together_.end());
  }
  touched_.clear();
  return changed_;
}

// All flows that a chain of shared links joins to this link.
void FairShares::collect(int first) {
  together_.clear();
  reached_.assign(1, first);
  links_[at(first)].seen = true;
  for (std::size_t next = 0; next < reached_.size(); ++next) {
    links_[at(reached_[next])].touched = false;
    for (const std::size_t index : links_[at(reached_[next])].flows) {
      Flow& flow = flows_[index];
      if (flow.seen) continue;
      flow.seen = true;
      together_.push_back(index);
      for (const int link : *flow.links) {
        if (links_[at(link)].seen) continue;
        links_[at(link)].seen = true;
        reached_.push_back(link);
      }
    }
  }
  for (const std::size_t flow : together_) flows_[flow].seen = false;
  for (const int link : reached_) links_[at(link)].seen = false;
}

void FairShares::fill() {
  for (const int link : reached_) {
    links_[at(link)].room = links_[at(link)].bandwidth;
    links_[at(link)].rising = links_[at(link)].flows.size();
  }
  for (const std::size_t flow : together_) flows_[flow].rising = true;
  for (std::size_t left = together_.size(); left > 0;) {
    // The level at which the next flow stops.
    double level = std::numeric_limits<double>::infinity();
    for (const int index : reached_) {
      const Link& link = links_[at(index)];
      if (link.rising > 0) level = std::min(level, link.room / static_cast<double>(link.rising));
    }
    for (const std::size_t flow : together_) {
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
    for (const std::size_t index : together_) {
      Flow& flow = flows_[index];
      if (flow.rising && stops(flow)) {
        flow.rate = std::min(flow.cap, level);
        flow.seen = true;
        ++stopped;
      }
    }
    for (const std::size_t index : together_) {
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
