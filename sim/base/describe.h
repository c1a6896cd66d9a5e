// Describes the keys of a file by running its reader over a document that has them all.
//
// Enters: a reader. Leaves: the keys of each map of such a file. Where keys depend on another key (a model's family),
// the reader declares it (Fields::forks_on, Fields::forking_choice) and runs once for each path through its forks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/fields.h"

namespace slmsim {

// Keys that a map may have together. A map whose keys depend on each other has several alternatives.
struct Alternative {
  std::string when;  // "family: llama"; empty where there is no other
  std::vector<KeyRecord> keys;
  bool closed = true;  // other keys are errors
};

class KeyTree {
 public:
  explicit KeyTree(std::vector<Description> runs) : runs_(std::move(runs)) {}

  // Alternatives of the map at this path; "" is the file's own map.
  std::vector<Alternative> alternatives(const std::string& map) const;

 private:
  std::vector<Description> runs_;
};

// The path of an element of a map or list under a key: "axes.0".
std::string inner_path(const KeyRecord& record, const ValueType& type);

using Reader = std::function<void(const Node&, Reading&)>;
KeyTree describe(const Reader& read);

}  // namespace slmsim
