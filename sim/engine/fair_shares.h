// Max-min fair rates of a few flows over shared links, kept up to date as flows come and go.
//
// Progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2): all rates rise together; a flow stops
// rising at its cap, or where a link of its own is full. Only flows that are joined to the one that came or went by a
// chain of links that flows share can change. What SimGrid's CM02 computes, but to the last digit where that stops at
// 1e-5, and without a simulated communication per flow.
#pragma once

#include <cstddef>
#include <vector>

namespace slmsim {

class FairShares {
 public:
  // Bandwidths in B/s, indexed by link. Flows are numbered from 0 to `flows` - 1.
  FairShares(std::vector<double> bandwidths, std::size_t flows);

  // A flow that is not there comes, over these links and with at most `cap` B/s; or goes. Returns the flows whose rate
  // may be another now, in ascending order; one that came is always among them.
  const std::vector<std::size_t>& come(std::size_t flow, const std::vector<int>& links, double cap);
  const std::vector<std::size_t>& go(std::size_t flow);

  double rate(std::size_t flow) const { return flows_[flow].rate; }

 private:
  struct Flow {
    const std::vector<int>* links = nullptr;
    double cap = 0, rate = 0;
    bool rising = false, seen = false;
  };
  struct Link {
    double bandwidth = 0, room = 0;
    std::size_t rising = 0;
    std::vector<std::size_t> flows;
    bool seen = false;
  };

  void collect(const std::vector<int>& links);
  void fill();

  std::vector<Flow> flows_;
  std::vector<Link> links_;
  std::vector<std::size_t> changed_;
  std::vector<int> reached_;  // links of the flows in changed_
};

}  // namespace slmsim
