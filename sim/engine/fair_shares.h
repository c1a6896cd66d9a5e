// Max-min fair rates of flows over shared links, kept up to date as flows come and go.
//
// Progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2): all rates rise together; a flow stops
// rising at its cap, or where a link of its own is full. Rates are max-min fair if and only if each flow has its cap or a
// bottleneck: a full link over which none is faster (ibid.). So of the flows over links on which one came or went, those are
// filled that have no bottleneck, and those that are faster over their full links, with all others as they are; then those that
// have none since; until all have one. What comes and goes at the same time is settled together. What SimGrid's CM02 computes,
// without a simulated communication per flow.
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

  // A flow that is not there comes, over these links (the same ones each time; a link named k times is one that it takes k
  // shares of) and with at most `cap` B/s; or goes. Rates hold again once settled.
  void come(std::size_t index, const std::vector<int>& links, double cap);
  void go(std::size_t index);

  // Returns the flows whose rate may be another since the last call; one that came is always among them.
  const std::vector<std::size_t>& settle();
  bool is_settled() const { return touched_.empty(); }

  double rate(std::size_t flow) const { return flows_[flow].rate; }

 private:
  // A link of a flow: how many shares of it the flow takes, and where among the link's the flow stands while it is there.
  struct Way {
    int link = 0;
    std::uint32_t shares = 0, place = 0;
  };
  struct Flow {
    std::uint32_t first = 0, end = 0;  // of ways_; none: it has not come yet
    double cap = 0, rate = 0;
    bool there = false;
  };
  struct Member {
    std::uint32_t flow = 0, way = 0, shares = 0;
    double rate = 0;  // the flow's
  };
  struct Link {
    double bandwidth = 0, room = 0, level = 0;  // while rates rise: what is left, and at which level nothing is
    double fastest = 0;                         // rate over it
    std::size_t rising = 0;
    std::vector<Member> flows;
    bool touched = false, reached = false, full = false;
    bool binds_less = false;  // it was full, and may have been the bottleneck of flows that it is none of now
  };

  enum class Side : char { kOutside, kInside, kFilling };  // of what is filled

  std::span<Way> ways(const Flow& flow) { return {ways_.data() + flow.first, ways_.data() + flow.end}; }
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
  std::vector<Side> sides_;  // of flows
  std::vector<Way> ways_;
  std::vector<Link> links_;
  std::vector<std::size_t> came_;
  std::vector<int> touched_;          // links of flows that came or went
  std::vector<std::size_t> changed_;  // inside
  std::vector<int> reached_;          // links of what has just been filled
  std::vector<std::size_t> rising_, stopping_;
  std::vector<int> open_;  // links over which rates rise
};

}  // namespace slmsim
