// A YAML (or JSON) file as a tree of nodes that know their place in it.
//
// This is the only room that knows yaml-cpp. yaml-cpp 0.7's own node tree keeps the first of two equal keys
// without a word and expands aliases without bound; here the tree is built from its events, so that duplicate
// keys are errors and depth, size and expansion have limits.
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

// Limits that keep hostile input from taking the machine; far above anything a person writes.
inline constexpr std::size_t kMaxFileBytes = 1 << 20;
inline constexpr std::size_t kMaxNodes = 100'000;
inline constexpr int kMaxDepth = 48;

// Throws InputError with everything that is wrong: missing or unreadable or oversized file, binary content,
// syntax, duplicate keys, nesting or alias expansion beyond the limits, more than one document. In a .json file, which a
// program wrote, a key may stand twice with the same value, as in iperf3's.
Node read_yaml(const std::filesystem::path& path);
Node parse_yaml(std::string_view text, const std::string& name);

// Lays `over` upon `base`: maps are merged key by key, everything else is replaced, and so is a map that states a
// value with its provenance, which must not keep the source of another value. Places stay those of the winner.
void merge(Node& base, const Node& over);

}  // namespace slmsim
