// The keys of the files that people write, as text: the reference in Markdown and JSON Schemas for editors.
//
// Enters: what the files' own readers tell of their keys (sim/base/describe.h). Nothing is known here of any key.
#pragma once

#include <string>
#include <vector>

#include "sim/base/describe.h"

namespace slmsim {

struct FileKeys {
  std::string name;   // "gpu", as FileKind has it
  std::string title;  // "GPU"
  std::string about;  // one sentence
  KeyTree keys;
};

// A JSON Schema (draft 2020-12) of the file with this name. The others are for the maps that may stand in place of names.
// A file that extends another one may lack any key; so is checked what it has.
std::string to_json_schema(const std::vector<FileKeys>& files, const std::string& name);

// One chapter per file.
std::string to_markdown(const std::vector<FileKeys>& files);

// Of one file: its tables, a map each.
std::string to_markdown(const FileKeys& file);

// One word or two: "time", "whole number".
std::string kind_text(const ValueType& type);

// "1 ms to 10 s"; empty where anything goes.
std::string range_text(const ValueType& type);

}  // namespace slmsim
