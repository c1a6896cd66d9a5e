// Shared libraries that load slowly and that few commands use. Each is wrapped in a library of the program's own, which
// is loaded on first use.
#pragma once

namespace slmsim {

// A function of such a library, found by the run path of the program or of the library that holds this code; the
// library stays loaded. Throws std::logic_error where it is not installed with the program.
void* library_symbol(const char* library, const char* name);

template <class Function>
Function* library_function(const char* library, const char* name) {
  return reinterpret_cast<Function*>(library_symbol(library, name));
}

}  // namespace slmsim
