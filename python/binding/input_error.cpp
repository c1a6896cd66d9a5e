#include "python/binding/input_error.h"

#include "sim/base/error.h"

namespace py = pybind11;

namespace slmsim::python {
namespace {

py::object to_python(const Error& error) {
  const Place& place = error.place;
  const py::object none = py::none();
  const py::object file = place.source ? py::object(py::str(place.source->name)) : none;
  const auto number = [&](int of) { return of > 0 ? py::object(py::int_(of)) : none; };
  return py::make_tuple(file, number(place.line), number(letter_column(place)), error.text, to_string(error));
}

}  // namespace

void translate_input_errors() {
  py::register_local_exception_translator(
      [](std::exception_ptr thrown) {  // NOLINT(performance-unnecessary-value-param): pybind11's type
        try {
          if (thrown) std::rethrow_exception(thrown);
        } catch (const InputError& error) {
          py::list errors;
          for (const auto& one : error.errors()) errors.append(to_python(one));
          const py::object type = py::module_::import("slmsim._errors").attr("InputError");
          PyErr_SetObject(type.ptr(), type.attr("_of")(errors).ptr());
        }
      });
}

}  // namespace slmsim::python
