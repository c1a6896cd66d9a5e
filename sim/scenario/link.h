// From a scenario file to one self-contained tree: bases that it extends are merged in, overrides are laid
// over it, and the names of platforms, VM types, GPUs, paths and models are replaced by the maps in their files;
// iperf3's JSON is made into a path.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/base/key_record.h"
#include "sim/base/yaml.h"
#include "sim/scenario/override.h"
#include "sim/scenario/reach.h"

namespace slmsim {

// The key that names a scenario's base.
extern const FileKey kExtends;

// A scenario as text, read as if `file` held it: its paths count from that file's folder, and lead no farther than `reach`.
struct ScenarioText {
  std::string text;
  std::filesystem::path file;
  Reach reach = {};
};

// A scenario's file that is read once and linked many times, each time with other overrides; so is every file that
// its names lead to.
class ScenarioFile {
 public:
  // Throws InputError, also for files that extend each other in a ring.
  explicit ScenarioFile(const std::filesystem::path& file);
  explicit ScenarioFile(const ScenarioText& text);
  // A scenario that no file holds, as if this one did.
  ScenarioFile(Node scenario, const std::filesystem::path& file);

  // Throws InputError with every reference that leads nowhere and overrides whose path does not exist.
  Node link(const std::vector<Override>& overrides);
  // The scenario in one piece: with what it extends, and with its platform's map in place of that file's name. Other names stay,
  // and paths are written as they count from `folder`. Throws InputError where the platform is not found.
  Node self_contained(const std::filesystem::path& folder);
  // What a scenario without a name of its own is called.
  std::string name() const;
  // The texts of all files read so far, in alphabetical order.
  std::set<std::string> texts() const;

 private:
  std::filesystem::path file_;
  Reach reach_;
  Node root_;
  std::set<std::string> texts_;  // of the file and its bases
  std::vector<std::filesystem::path> roots_;
  std::map<std::string, Node> files_;                    // by path
  std::map<std::string, std::filesystem::path> places_;  // of names, by folder and name
};

// A file of platforms/ with its VM types, GPUs and paths in place of their names. Throws InputError.
Node link_platform(const std::filesystem::path& file);

}  // namespace slmsim
