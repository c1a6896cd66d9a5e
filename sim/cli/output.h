// Writing of a verb's result.
#pragma once

#include <string>
#include <vector>

namespace slmsim {

// To standard output, or to `file` if it is not empty: through a temporary file that is renamed when it is complete. A file
// that is not regular, such as a device, is written directly. Throws InputError if it cannot be written.
void write_result(const std::string& text, const std::string& file);

struct Result {
  std::string text, file;
};
// Several at once: either all files are written or none.
void write_results(const std::vector<Result>& results);

}  // namespace slmsim
