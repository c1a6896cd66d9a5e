// Where a verb's result goes.
#pragma once

#include <string>

namespace slmsim {

// To standard output, or to `file` if it is not empty: through a temporary file that is renamed when it is
// complete. Throws InputError if the file cannot be written.
void write_result(const std::string& text, const std::string& file);

}  // namespace slmsim
