// Converts a scenario file to one self-contained tree: its bases are merged in, overrides are applied, and the names of
// platforms, VM types, GPUs, paths and models are replaced by the maps in their files; iperf3's JSON becomes a path.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/key_record.h"
#include "sim/base/yaml.h"

namespace slmsim {

// "--set KEY=VALUE": replaces the value at a path through a scenario's maps and lists.
//
// Enters: the text, then the scenario's tree. Leaves: the tree with the value in its place.
inline constexpr const char* kOverrideSource = "--set";  // prefix of an override's source name

// One "--set KEY=VALUE"; KEY is a path such as "platform.links.wan.rtt", VALUE is YAML.
using Overrides = std::vector<std::string>;

// A parsed override. Errors in the path are reported at `place`, errors in the value at the value's own place.
struct Override {
  std::string path;
  Node value;
  Place place;
};
// Throws InputError if the text is not KEY=VALUE.
Override parse_override(const std::string& text);

// Returns false where the path enters a name that is not yet replaced by its file. Throws InputError where the path
// does not exist.
bool apply(Node& root, const Override& override);

// Limits of the paths in a scenario. A scenario typed by its user may name any file that the user may read; one from
// elsewhere may not.
// Files below these folders, after resolving symbolic links; without folders, every file.
struct Reach {
  std::vector<std::filesystem::path> folders;

  bool holds(const std::filesystem::path& file) const;
  // Throws InputError, at the place that names the file, where it lies elsewhere; the error does not reveal whether the
  // file exists.
  void check(const std::filesystem::path& file, const Place& named_at) const;
};

// The key that names a scenario's base.
extern const FileKey kExtends;

// A scenario as text, read as if `file` held it: its paths are relative to that file's folder and are limited by
// `reach`.
struct ScenarioText {
  std::string text;
  std::filesystem::path file;
  Reach reach = {};
};

// A scenario's file, read once and linked many times with different overrides; each file that it names is read once
// too.
class ScenarioFile {
 public:
  // Throws InputError, also for files that extend each other in a cycle.
  explicit ScenarioFile(const std::filesystem::path& file);
  explicit ScenarioFile(const ScenarioText& text);
  // A scenario that is not stored in a file, as if `file` held it.
  ScenarioFile(Node scenario, const std::filesystem::path& file);

  // Another scenario in its place: files that both name are not read again.
  void replace(Node scenario) { root_ = std::move(scenario); }

  // Throws InputError with all unresolved references and all overrides whose path does not exist.
  Node link(const std::vector<Override>& overrides);
  // The scenario in one piece: merged with its bases, and with its platform's map in place of the file's name. Other
  // names remain, and paths are rewritten relative to `folder`. Throws InputError where the platform is not found.
  Node self_contained(const std::filesystem::path& folder);
  // Default name of a scenario without one.
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

// Files of other programs where one of slmsim's is expected. One error states what the file is, instead of one per line that
// YAML or a scenario does not have.

// Throws InputError where the name or the first 64 KiB show a file of another kind: binary, TOML, a script, CSV, HTML or XML, a
// notebook, a log. `text` may be only the beginning; `expected` is for the message.
void refuse_foreign_text(const std::string& name, std::string_view text, const std::string& expected = "scenario");

// Throws InputError where the keys are those of another program (DeepSpeed, Accelerate, ...), or none is a scenario's.
void refuse_foreign_keys(const Node& file);

// read_yaml, after refuse_foreign_text of the file's beginning.
Node read_own_yaml(const std::filesystem::path& file, const std::string& expected = "scenario");

}  // namespace slmsim
