// Keys of the user's files as text: the reference in Markdown, and JSON Schemas for editors.
//
// Input: the key descriptions of the files' own readers (sim/base/describe.h). No key is listed here.
#pragma once

#include <string>
#include <vector>

#include "sim/base/describe.h"

namespace slmsim {

struct FileKeys {
  std::string name;   // "gpu", as in FileKind
  std::string title;  // "GPU"
  std::string about;  // one sentence
  KeyTree keys;
};

// A JSON Schema (draft 2020-12) of the file with this name. The other files are for maps that may replace names. A file that
// extends another one may lack any key; present keys are checked.
std::string to_json_schema(const std::vector<FileKeys>& files, const std::string& name);

// One chapter per file.
std::string to_markdown(const std::vector<FileKeys>& files);

// One file: its tables, one per map.
std::string to_markdown(const FileKeys& file);

// One word or two: "time", "whole number".
std::string kind_text(const ValueType& type);

// "1 ms to 10 s"; empty where every value is valid.
std::string range_text(const ValueType& type);

}  // namespace slmsim
