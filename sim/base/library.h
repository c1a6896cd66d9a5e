// Libraries that take longer to load than many a prediction takes, and that few commands call: each is behind a library of the
// program's own, which is loaded when it is first asked for.
#pragma once

namespace slmsim {

// A function of such a library, found by the run path of the program, or of the library that this code is part of; it stays
// loaded. Throws std::logic_error where it is not installed with the program.
void* library_symbol(const char* library, const char* name);

template <class Function>
Function* library_function(const char* library, const char* name) {
  return reinterpret_cast<Function*>(library_symbol(library, name));
}

}  // namespace slmsim
