// Writing of a result to its file.
#pragma once

#include <string>

namespace slmsim::calibrate {

// Throws UsageError where `file` cannot be written; writes nothing.
void check_writable(const std::string& file);
// Whole or not at all; to standard output where `file` is empty. Throws UsageError.
void write_file(const std::string& file, const std::string& text);

}  // namespace slmsim::calibrate
