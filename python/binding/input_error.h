// InputError as Python's slmsim.InputError: with file, line and column, and all errors at once.
#pragma once

#include <pybind11/pybind11.h>

namespace slmsim::python {

// From here on an InputError that leaves the module is raised as the class that slmsim._errors defines.
void translate_input_errors();

}  // namespace slmsim::python
