// A scenario's text as a tree that knows its places, so that the page draws what is written and edits it where it stands.
#pragma once

#include <filesystem>

#include "sim/serve/answer.h"

namespace slmsim::web {

// {"text", "message", "file", "line", "column", "own"}: `message` as the program prints it, columns in letters, `own` whether it
// is the question's own text, whose file this is.
Json error_json(const Error& error, const std::filesystem::path& file);

// Nodes are {"k": "map", "l": line, "c": column, "e": [[key, line, column, node], ...]}, {"k": "list", ..., "i": [node, ...]},
// {"k": "text", ..., "v": value} and {"k": "null", ...}.
Json tree_json(const Node& node);

// "tree": the question's text, where it is YAML. "whole": where that builds on other files, the scenario in one piece, without
// places; absent where it does not, or where they are not found.
void add_trees(const Question& question, Json& out);

}  // namespace slmsim::web
