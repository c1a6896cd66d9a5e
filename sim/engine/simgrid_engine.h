// The one SimGrid engine of the process: a pool of links and flows over them. Only sim/engine knows of it.
//
// SimGrid's library brings some twenty others, which take longer to load than many a prediction takes. So what calls it is a
// library of its own (simgrid_library.cpp), which is loaded when the engine is first asked for.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "sim/base/unit.h"
#include "sim/platform/network.h"

namespace slmsim {

class SimgridEngine {
 public:
  // Made at the first call; its pool then has room for at least `links` links, or what was reserved before, and twice as
  // many rate caps: a rate is that of a link or of a VM's sockets, and each VM has links of its own. Throws std::logic_error
  // where its library is not installed with the program.
  static SimgridEngine& instance(std::size_t links);
  static void reserve(std::size_t links);
  static bool exists();
  virtual ~SimgridEngine() = default;

  // Gives the pool's links these bandwidths, and its caps these rates.
  virtual void configure(const std::vector<Link>& links, const std::vector<double>& caps) = 0;

  virtual double now() const = 0;  // s; runs on through all simulations of the process
  // Calls `on_wake` once the clock has reached `date`. Only the last call before that counts.
  virtual void wake_at(double date) = 0;
  // Starts a flow of `bytes` over links and, if cap >= 0, a rate cap. on_flow_end is called with `slot` at
  // its end; one flow per slot at a time.
  virtual void start_flow(std::size_t slot, double bytes, const std::vector<int>& links, int cap) = 0;
  // Calls `on_wake` and runs until nothing is left to happen.
  virtual void run(std::size_t slots, std::function<void()> on_wake, std::function<void(std::size_t)> on_flow_end) = 0;
};

}  // namespace slmsim
