// The process's single SimGrid engine: a pool of links, and flows over them. Private to sim/engine.
//
// SimGrid depends on some twenty libraries, which load more slowly than many predictions run. Its callers are therefore
// in a library of their own (simgrid_library.cpp), which is loaded on first use of the engine.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "sim/base/unit.h"
#include "sim/platform/network.h"

namespace slmsim {

class SimgridEngine {
 public:
  // Created on the first call. Its pool then has room for at least `links` links, or the reserved number, and twice as
  // many rate caps: a rate is that of a link or of a VM's sockets, and each VM has links of its own. Throws
  // std::logic_error where the library is not installed with the program.
  static SimgridEngine& instance(std::size_t links);
  static void reserve(std::size_t links);
  static bool exists();
  virtual ~SimgridEngine() = default;

  // Sets the bandwidths of the pool's links and the rates of its caps.
  virtual void configure(const std::vector<Link>& links, const std::vector<double>& caps) = 0;

  virtual double now() const = 0;  // s; continues through all simulations of the process
  // Calls `on_wake` when the clock reaches `date`. Only the last call before that is effective.
  virtual void wake_at(double date) = 0;
  // Starts a flow of `bytes` over links and, if cap >= 0, a rate cap. on_flow_end is called with `slot` at its end; one
  // flow per slot at a time.
  virtual void start_flow(std::size_t slot, double bytes, const std::vector<int>& links, int cap) = 0;
  // Calls `on_wake` and runs until no event is left.
  virtual void run(std::size_t slots, std::function<void()> on_wake, std::function<void(std::size_t)> on_flow_end) = 0;
};

}  // namespace slmsim
