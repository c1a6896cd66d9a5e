// The one SimGrid engine of the process: a pool of links and flows over them. Only sim/engine knows of it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/base/unit.h"
#include "sim/platform/network.h"

namespace slmsim {

class SimgridEngine {
 public:
  // Made at the first call; its pool then has room for at least `links` links, or what was reserved before, and twice as
  // many rate caps: a rate is that of a link or of a VM's sockets, and each VM has links of its own.
  static SimgridEngine& instance(std::size_t links);
  static void reserve(std::size_t links);
  static bool exists();
  ~SimgridEngine();

  // Gives the pool's links these bandwidths, and its caps these rates.
  void configure(const std::vector<Link>& links, const std::vector<double>& caps);

  double now() const;  // s; runs on through all simulations of the process
  // Calls `on_wake` once the clock has reached `date`. Only the last call before that counts.
  void wake_at(double date);
  // Starts a flow of `bytes` over links and, if cap >= 0, a rate cap. on_flow_end is called with `slot` at
  // its end; one flow per slot at a time.
  void start_flow(std::size_t slot, double bytes, const std::vector<int>& links, int cap);
  // Calls `on_wake` and runs until nothing is left to happen.
  void run(std::size_t slots, std::function<void()> on_wake, std::function<void(std::size_t)> on_flow_end);

 private:
  explicit SimgridEngine(std::size_t links);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slmsim
