#include "sim/engine/simgrid_engine.h"

#include <algorithm>
#include <dlfcn.h>
#include <stdexcept>

#include <fmt/format.h>

namespace slmsim {
namespace {

// Links cannot be added once an engine has run, so a pool is made beforehand; 1.3 us each.
std::size_t least_links = 1024;
bool made = false;

// Found by the run path of the program, or of the library that this code is part of.
SimgridEngine* make_engine(std::size_t links) {
  constexpr const char* kLibrary = "libslmsim_simgrid.so";
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  using Make = SimgridEngine* (*)(std::size_t);
  const auto make = library ? reinterpret_cast<Make>(dlsym(library, "slmsim_simgrid_engine")) : nullptr;
  if (!make) throw std::logic_error(fmt::format("{} cannot be loaded: {}", kLibrary, dlerror()));
  return make(links);
}

}  // namespace

SimgridEngine& SimgridEngine::instance(std::size_t links) {
  // Never destroyed: SimGrid's own statics may be gone first.
  static SimgridEngine* engine = make_engine(std::max(links, least_links));
  made = true;
  return *engine;
}

void SimgridEngine::reserve(std::size_t links) { least_links = std::max(least_links, links); }

bool SimgridEngine::exists() { return made; }

}  // namespace slmsim
