// Describes the keys of a file by running its reader over a document that has them all.
//
// Enters: a reader. Leaves: the keys of each map of such a file. Where other keys depend on one (a model's family), the
// reader says so (Fields::forks_on, Fields::forking_choice) and is run once for every way through its forks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/fields.h"

namespace slmsim {

// The keys that a map may have together. Of a map whose keys depend on each other there are several.
struct Alternative {
  std::string when;  // "family: llama"; empty where there is no other
  std::vector<KeyRecord> keys;
  bool closed = true;  // other keys are errors
};

class KeyTree {
 public:
  explicit KeyTree(std::vector<Description> runs) : runs_(std::move(runs)) {}

  // Of a map by its path, "" for the file's own.
  std::vector<Alternative> alternatives(const std::string& map) const;

 private:
  std::vector<Description> runs_;
};

// The path of what lies in a map or list under a key: "axes.0".
std::string inner_path(const KeyRecord& record, const ValueType& type);

using Reader = std::function<void(const Node&, Reading&)>;
KeyTree describe(const Reader& read);

}  // namespace slmsim
