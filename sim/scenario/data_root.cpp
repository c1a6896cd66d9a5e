#include "sim/scenario/data_root.h"

#include <algorithm>
#include <dlfcn.h>
#include <link.h>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/fields.h"

#ifndef SLMSIM_DATA_FROM_PROGRAM
#define SLMSIM_DATA_FROM_PROGRAM ""
#endif
#ifndef SLMSIM_DATA_FROM_MODULE
#define SLMSIM_DATA_FROM_MODULE ""
#endif
#ifndef SLMSIM_INSTALLED_DATA
#define SLMSIM_INSTALLED_DATA ""
#endif
#ifndef SLMSIM_SOURCE_DATA
#define SLMSIM_SOURCE_DATA ""
#endif

namespace slmsim {
namespace {

namespace fs = std::filesystem;

// The shared library with this code where another program loaded it, such as Python's module; empty in a program of its
// own.
fs::path own_library() {
  static const char kSomewhere = 0;
  Dl_info place{};
  link_map* file = nullptr;
  if (dladdr1(&kSomewhere, &place, reinterpret_cast<void**>(&file), RTLD_DL_LINKMAP) == 0 || !file) return {};
  return file->l_name;
}

// Data folder relative to the program or, in another program, to the library with this code: bin/slmsim ->
// share/slmsim, lib/python3/dist-packages/slmsim/_core.so -> share/slmsim, and, for `pip install --target`,
// slmsim/_core.so -> share/slmsim. Empty where the program's path is unknown.
std::vector<fs::path> data_of_program() {
  std::error_code failed;
  const fs::path library = own_library();
  const fs::path code = library.empty() ? fs::read_symlink("/proc/self/exe", failed) : fs::absolute(library, failed);
  if (failed) return {};
  const fs::path folder = code.parent_path();
  if (library.empty()) return {(folder / SLMSIM_DATA_FROM_PROGRAM).lexically_normal()};
  return {(folder / SLMSIM_DATA_FROM_MODULE).lexically_normal(), folder.parent_path() / "share/slmsim"};
}

// The name that a file states; empty where it cannot be read.
std::string name_inside(const fs::path& file) {
  try {
    const Node node = read_yaml(file);
    const Node* name = node.find("name");
    return name ? name->scalar : "";
  } catch (const InputError&) {
    return "";  // reading the file itself reports its errors
  }
}

}  // namespace

std::vector<fs::path> data_roots(const fs::path& file) {
  std::vector<fs::path> roots;
  std::error_code ignored;
  const auto add = [&](const fs::path& folder) {
    const bool known = std::ranges::find(roots, folder) != roots.end();
    const bool holds_any =
        fs::is_directory(folder / "platforms", ignored) || fs::is_directory(folder / "models", ignored);
    if (!known && holds_any) roots.push_back(folder);
  };
  for (fs::path folder = fs::absolute(file, ignored).lexically_normal().parent_path();; folder = folder.parent_path()) {
    add(folder);
    if (folder == folder.parent_path()) break;
  }
  for (const fs::path& known : data_of_program()) add(known);
  for (const fs::path& known : {fs::path(SLMSIM_INSTALLED_DATA), fs::path(SLMSIM_SOURCE_DATA)}) {
    if (!known.empty()) add(known);
  }
  return roots;
}

fs::path find_named(const std::vector<fs::path>& roots, const FileKind& kind, const std::string& name) {
  std::error_code ignored;
  for (const auto& root : roots) {
    if (fs::path file = root / kind.folder / (name + ".yaml"); fs::exists(file, ignored)) return file;
    if (!kind.named_inside) continue;
    for (const auto& other : names_in(root / kind.folder)) {
      if (fs::path file = root / kind.folder / (other + ".yaml"); name_inside(file) == name) return file;
    }
  }
  return {};
}

std::vector<std::string> known_names(const std::vector<fs::path>& roots, const FileKind& kind) {
  std::vector<std::string> names;
  for (const auto& root : roots) {
    for (const auto& name : names_in(root / kind.folder)) {
      const std::string stated = kind.named_inside ? name_inside(root / kind.folder / (name + ".yaml")) : "";
      names.push_back(stated.empty() ? name : stated);
    }
  }
  return names;
}

std::vector<fs::path> files_below(const std::vector<fs::path>& roots, const std::string& folder) {
  std::vector<fs::path> out;
  std::set<std::string> known;
  for (const auto& root : roots) {
    for (const auto& name : names_in(root / folder)) {
      if (known.insert(name).second) out.push_back(root / folder / (name + ".yaml"));
    }
  }
  return out;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

bool is_hub_id(const std::string& word) {
  const auto slash = word.find('/');
  return slash != std::string::npos && is_name(word.substr(0, slash)) && is_name(word.substr(slash + 1));
}

std::string how_to_download(const std::string& hub_id) {
  return fmt::format("get its config.json: hf download {} config.json --local-dir {}", hub_id,
                     hub_id.substr(hub_id.find('/') + 1));
}

}  // namespace slmsim
