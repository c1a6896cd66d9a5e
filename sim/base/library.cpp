#include "sim/base/library.h"

#include <dlfcn.h>
#include <stdexcept>
#include <string>

namespace slmsim {

void* library_symbol(const char* library, const char* name) {
  void* loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void* symbol = loaded ? dlsym(loaded, name) : nullptr;
  if (!symbol) throw std::logic_error(std::string(library) + " cannot be loaded: " + dlerror());
  return symbol;
}

}  // namespace slmsim
