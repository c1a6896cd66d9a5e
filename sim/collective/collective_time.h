// Time of a collective on a mesh, without simulating it: for planners.
//
// A ring is followed transfer by transfer through NCCL's loops (sim/collective/ring.h), or through the first
// ones if there are very many; a call that NCCL would run over its trees counts as a ring. An edge of the ring sends at
// the least of its links' bandwidths (divided by the edges of the same call that share the link) and its sockets' copy
// rate, with at most TCP's mean window in flight. Connections are warm, and there is no other traffic.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/collective/call.h"
#include "sim/collective/nccl_rules.h"
#include "sim/platform/network.h"

namespace slmsim {

class CollectiveTimes {
 public:
  // `mesh`: devices, row by row. The network and the settings must outlive this object.
  CollectiveTimes(const Network& network, const NcclSetup& nccl, std::vector<int> mesh, MeshShape shape);

  Seconds of(const CollectiveCall& call) const;

 private:
  struct Edge {
    Seconds latency;
    BytesPerSecond rate;
    Bytes window;  // of all sockets; infinite where it never binds
    Seconds rtt;
    BytesPerSecond last_copy;  // of the receiver (ring.h)
  };
  // The groups along some axes: the ring of each, and NCCL's choices for them.
  struct Rings {
    std::vector<std::vector<Edge>> edges;
    NcclView view;
  };
  Seconds ring(const std::vector<Edge>& edges, Collective collective, Bytes size, const RingRules& rules) const;
  Seconds all_to_all(Bytes size, Axes axes) const;
  Rings rings(Axes axes) const;
  std::vector<std::vector<int>> groups(Axes axes) const;
  Edge edge(const Route& route, double sockets, const std::map<int, int>& uses) const;

  const Network& network_;
  NcclSetup nccl_;
  std::vector<int> mesh_;
  MeshShape shape_;
  mutable std::map<Axes, Rings> rings_;  // caches
  mutable std::map<std::tuple<bool, int, Axes, double>, Seconds> known_;
};

// From the first byte sent to the last one's arrival, and from one transfer to the next, which follows while the last bytes of
// the one before are on the way.
struct TransferTime {
  Seconds whole, each;
};
// From one mesh to the next: each pair of GPUs carries its part of `size` bytes, one way, once in every `period`. In the pause
// in between TCP's windows are halved for each time-out, and double again with each round trip (sim/engine/tcp_sender.h).
TransferTime transfer_time(const Network& network, const NcclSetup& nccl, const std::vector<int>& from,
                           const std::vector<int>& to, Bytes size, Seconds period = {});

}  // namespace slmsim
