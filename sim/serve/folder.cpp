#include "sim/serve/folder.h"

#include <algorithm>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/file.h"
#include "sim/import/inventory/inventory.h"
#include "sim/scenario/data_root.h"

namespace slmsim::web {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestPath = 400;

bool is_yaml(const fs::path& path) { return path.extension() == ".yaml" || path.extension() == ".yml"; }

// Refuses parent folders, absolute paths, hidden files, and control characters.
std::string problem_of(const std::string& path) {
  if (path.empty() || path.size() > kLongestPath) return "a path of up to 400 characters is expected";
  if (printable(path) != path || path.find('\\') != std::string::npos)
    return "a path of printable characters is expected";
  if (fs::path(path).is_absolute()) return "a path from the folder that slmsim serve was started in is expected";
  for (const auto& part : fs::path(path)) {
    if (part.empty() || part.string().front() == '.') return "a path may not go up, nor to hidden files";
  }
  return is_yaml(path) ? "" : "a scenario's file ends in .yaml";
}

}  // namespace

Folder::Folder(const fs::path& root) {
  std::error_code failed;
  root_ = fs::canonical(root, failed);
  if (failed || !fs::is_directory(root_, failed))
    throw InputError({}, fmt::format("{} is not a folder; --folder needs one", printable(root.string())));
}

std::vector<std::string> Folder::list() const {
  std::vector<std::string> out;
  std::error_code failed;
  // Links are not followed, so the walk ends.
  fs::recursive_directory_iterator at(root_, fs::directory_options::skip_permission_denied, failed);
  for (const fs::recursive_directory_iterator end; !failed && at != end && out.size() < kMostListed;
       at.increment(failed)) {
    std::error_code ignored;
    if (at->path().filename().string().starts_with(".") || at.depth() >= kDeepestListed) {
      if (at->is_directory(ignored)) at.disable_recursion_pending();
      continue;
    }
    const std::string path = at->path().lexically_relative(root_).string();
    if (at->is_regular_file(ignored) && !at->is_symlink(ignored) && problem_of(path).empty()) out.push_back(path);
  }
  std::ranges::sort(out);
  return out;
}

fs::path Folder::place_of(const std::string& path) const {
  if (const std::string problem = problem_of(path); !problem.empty())
    throw InputError({}, fmt::format("\"{}\": {}", printable(path).substr(0, 100), problem));
  fs::path file = root_ / path;
  const Reach below{{root_}};
  std::error_code ignored;
  if (!below.holds(file) || fs::is_symlink(fs::symlink_status(file, ignored)))
    throw InputError({}, fmt::format("\"{}\" leads out of the folder", path));
  return file;
}

std::string Folder::read(const std::string& path) const { return read_text(place_of(path).string()); }

void Folder::write(const std::string& path, const std::string& text, bool replaced) const {
  const fs::path file = place_of(path);
  std::error_code ignored;
  if (!fs::is_directory(file.parent_path(), ignored))
    throw InputError({}, fmt::format("\"{}\": there is no such folder; choose an existing one", path));
  if (fs::exists(file, ignored)) {
    if (!fs::is_regular_file(file, ignored)) throw InputError({}, fmt::format("\"{}\" is not a regular file", path));
    if (!replaced) throw InputError({}, fmt::format("\"{}\" already exists", path));
  }
  PendingFile pending(file, fmt::format(".{}.partial", getpid()));
  pending.write(text);
  pending.complete();
  pending.commit();
}

Reach Folder::reach() const {
  Reach out{{root_}};
  for (const auto& data : data_roots(root_ / "x")) {
    for (const char* part : {"models", "platforms", "scenarios"}) out.folders.push_back(data / part);
  }
  return out;
}

}  // namespace slmsim::web
