// A YAML (or JSON) file as a tree of nodes with their places in it.
//
// The only users of yaml-cpp. yaml-cpp 0.7's own node tree silently keeps the first of two equal keys and expands
// aliases without bound. This tree is built from its events, so that duplicate keys are errors and depth, size and
// expansion are limited.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"

namespace slmsim {

struct Entry;

struct Node {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  Place place;
  Place named_at;  // of a whole file's node: where another file names it
  std::string scalar;
  std::vector<Node> items;     // of a sequence
  std::vector<Entry> entries;  // of a map, in the order of the file

  // The value under `key` of a map, or nullptr.
  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
};

struct Entry {
  std::string key;
  Place place;  // of the key
  Node value;
};

// "a map", "a list", "a single value", "nothing": for error messages.
std::string kind_name(Node::Kind kind);

// Limits against hostile input, far above the size of any hand-written file.
inline constexpr std::size_t kMaxFileBytes = 1 << 20;
inline constexpr std::size_t kMaxNodes = 100'000;
inline constexpr int kMaxDepth = 48;

// Throws InputError with all errors: missing, unreadable or oversized file, binary content, syntax, duplicate keys,
// nesting or alias expansion beyond the limits, more than one document. In a .json file a key may occur twice with the
// same value, as in iperf3's output.
Node read_yaml(const std::filesystem::path& path);
Node parse_yaml(std::string_view text, const std::string& name);

// Lays `over` upon `base`: maps are merged key by key, everything else is replaced. A map that states a value with its
// provenance is replaced too, so that it never keeps the source of another value. Places are those of the surviving
// nodes.
void merge(Node& base, const Node& over);

}  // namespace slmsim
