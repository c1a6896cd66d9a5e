// A scenario's text as a tree with positions, from which the page draws it and edits it in place.
#pragma once

#include <filesystem>

#include "sim/serve/answer.h"

namespace slmsim::web {

// {"text", "message", "file", "line", "column", "own"}: `message` as the program prints it, columns in characters, `own`
// whether it is in the question's own text, which is `file`.
Json error_json(const Error& error, const std::filesystem::path& file);

// Nodes are {"k": "map", "l": line, "c": column, "e": [[key, line, column, node], ...]}, {"k": "list", ..., "i": [node, ...]},
// {"k": "text", ..., "v": value} and {"k": "null", ...}.
Json tree_json(const Node& node);

// "tree": the question's text, if it is valid YAML. "whole": if it builds on other files, the scenario in one piece, without
// positions; absent where it does not, or where files are missing.
void add_trees(const Question& question, Json& out);

}  // namespace slmsim::web
