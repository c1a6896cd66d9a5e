#include "sim/engine/simgrid_engine.h"

#include <algorithm>

#include "sim/base/file.h"

namespace slmsim {
namespace {

// Links cannot be added once an engine has run, so a pool is made in advance; 1.3 us each.
std::size_t least_links = 1024;
bool made = false;

}  // namespace

SimgridEngine& SimgridEngine::instance(std::size_t links) {
  // Never destroyed: SimGrid's own statics may be gone first.
  static SimgridEngine* engine = library_function<SimgridEngine*(std::size_t)>(
      "libslmsim_simgrid.so", "slmsim_simgrid_engine")(std::max(links, least_links));
  made = true;
  return *engine;
}

void SimgridEngine::reserve(std::size_t links) { least_links = std::max(least_links, links); }

bool SimgridEngine::exists() { return made; }

}  // namespace slmsim
