// Files of other programs where one of slmsim's is expected. One error states what the file is, instead of one per line that
// YAML or a scenario does not have.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sim/base/yaml.h"

namespace slmsim {

// Throws InputError where the name or the first 64 KiB show a file of another kind: binary, TOML, a script, CSV, HTML or XML, a
// notebook, a log. `text` may be only the beginning; `expected` is for the message.
void refuse_foreign_text(const std::string& name, std::string_view text, const std::string& expected = "scenario");

// Throws InputError where the keys are those of another program (DeepSpeed, Accelerate, ...), or none is a scenario's.
void refuse_foreign_keys(const Node& file);

// read_yaml, after refuse_foreign_text of the file's beginning.
Node read_own_yaml(const std::filesystem::path& file, const std::string& expected = "scenario");

}  // namespace slmsim
