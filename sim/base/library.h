// Libraries that take longer to load than many a prediction takes, and that few commands call: each is behind a library of the
// program's own, which is loaded when it is first asked for.
#pragma once

#include <dlfcn.h>
#include <stdexcept>
#include <string>

namespace slmsim {

// A function of such a library, found by the run path of the program, or of the library that this code is part of; it stays
// loaded. Throws std::logic_error where it is not installed with the program.
template <class Function>
Function* library_function(const std::string& library, const std::string& name) {
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* function = loaded ? dlsym(loaded, name.c_str()) : nullptr;
  if (!function) throw std::logic_error(library + " cannot be loaded: " + dlerror());
  return reinterpret_cast<Function*>(function);
}

}  // namespace slmsim
