// Max-min fair rates of flows over shared links, updated as flows start and end.
//
// Progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2): all rates rise together; a flow stops
// rising at its cap, or where one of its links is full. Rates are max-min fair if and only if each flow has its cap or
// a bottleneck: a full link over which no flow is faster (ibid.). After a flow starts or ends, only flows on its links
// without a bottleneck are filled again, together with those that are faster over their full links, while all others
// keep their rates; this repeats for flows that lost their bottleneck, until every flow has one. Changes at the same
// time are settled together. The result is that of SimGrid's CM02, without a simulated communication per flow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace slmsim {

class FairShares {
 public:
  // Bandwidths in B/s, indexed by link. Flows are numbered from 0 to `flows` - 1.
  FairShares(const std::vector<double>& bandwidths, std::size_t flows);

  // Starts a flow over these links (the same ones each time; a link named k times counts k shares) with at most `cap`
  // B/s; or ends it. Rates are valid again after settle().
  void come(std::size_t index, const std::vector<int>& links, double cap);
  void go(std::size_t index);

  // Returns the flows whose rate may have changed since the last call, including all that started.
  const std::vector<std::size_t>& settle();
  bool is_settled() const { return touched_.empty(); }

  double rate(std::size_t flow) const { return flows_[flow].rate; }

 private:
  // A link of a flow: the number of the flow's shares of it, and the flow's position in the link's list while active.
  struct Usage {
    int link = 0;
    std::uint32_t shares = 0, place = 0;
  };
  struct Flow {
    std::uint32_t first = 0, end = 0;  // range in usages_; empty before the first start
    double cap = 0, rate = 0;
    bool there = false;
  };
  struct Member {
    std::uint32_t flow = 0, usage = 0, shares = 0;
    double rate = 0;  // the flow's
  };
  struct Link {
    double bandwidth = 0, room = 0, level = 0;  // while rates rise: remaining bandwidth, and level at which it is used
    double fastest = 0;                         // highest rate over it
    std::size_t rising = 0;
    std::vector<Member> flows;
    bool touched = false, reached = false, full = false;
    bool binds_less = false;  // it was full, and may no longer be the bottleneck of its flows
  };

  enum class Side : char { kOutside, kInside, kFilling };  // relative to the part being filled

  std::span<Usage> usages(const Flow& flow) { return {usages_.data() + flow.first, usages_.data() + flow.end}; }
  void lay(Flow& flow, const std::vector<int>& links);
  void touch(Link& link, int number);
  static void see(Link& link);
  bool has_bottleneck(const Flow& flow);
  bool is_alone(const Flow& flow);
  void fill_alone(std::size_t index);
  void include(std::size_t index);
  void include_faster(const Flow& flow);
  void include_all();
  void fill_from(std::size_t first);
  void gather(std::size_t index);
  void fill();
  void set_rate(Flow& flow, double rate);
  void widen();

  std::vector<Flow> flows_;
  std::vector<Side> sides_;  // per flow
  std::vector<Usage> usages_;
  std::vector<Link> links_;
  std::vector<std::size_t> came_;
  std::vector<int> touched_;          // links of flows that started or ended
  std::vector<std::size_t> changed_;  // inside
  std::vector<int> reached_;          // links of the part just filled
  std::vector<std::size_t> rising_, stopping_;
  std::vector<int> open_;  // links over which rates still rise
};

}  // namespace slmsim
