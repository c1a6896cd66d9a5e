#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "sim/scenario/link.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

// The canonical form of the existing part of a path, without links; nothing where it cannot be determined.
fs::path resolved(const fs::path& path) {
  std::error_code failed;
  fs::path out = fs::weakly_canonical(fs::absolute(path, failed), failed);
  return failed ? fs::path() : out;
}

}  // namespace

bool Reach::holds(const fs::path& file) const {
  if (folders.empty()) return true;
  const fs::path real = resolved(file);
  return !real.empty() && std::ranges::any_of(folders, [&](const fs::path& folder) {
    const fs::path root = resolved(folder);
    return !root.empty() && is_below(real, root);
  });
}

void Reach::check(const fs::path& file, const Place& named_at) const {
  if (!holds(file))
    throw InputError(
        named_at, fmt::format("a path may lead only to files below {}; copy the file there", folders.front().string()));
}

}  // namespace slmsim
