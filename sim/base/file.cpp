#include "sim/base/file.h"

#include <cerrno>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/hash.h"
#include "sim/base/text.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& text) {
  throw InputError(whole_of(path.string()), text);
}

// "; did you mean ...?" where the folder has a file of a similar name, or of the same name with another ending.
std::string beside(const fs::path& path) {
  constexpr std::size_t kMostRead = 4096;
  const fs::path folder = path.parent_path();
  std::map<std::string, fs::path> stems;
  std::error_code failed;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (stems.size() >= kMostRead) return "";
    if (std::error_code unknown; at->is_regular_file(unknown))
      stems[at->path().stem().string()] = at->path().filename();
  }
  std::vector<std::string> names;
  names.reserve(stems.size());
  for (const auto& [stem, file] : stems) names.push_back(stem);
  const std::string near = nearest(path.stem().string(), names);
  return near.empty() ? "" : fmt::format("; did you mean \"{}\"?", (folder / stems[near]).string());
}

// Canonical paths.
struct FilesRead {
  std::mutex mutex;
  std::set<fs::path> paths;
};
FilesRead& files_read() {
  static FilesRead all;
  return all;
}

// The file at the end of a chain of symbolic links, which need not exist.
fs::path behind_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as Linux
  std::error_code failed;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, failed); ++i)
    path = path.parent_path() / fs::read_symlink(path, failed);
  return path;
}

[[noreturn]] void fail(const fs::path& file, const std::string& reason) {
  throw InputError(whole_of(file.string()),
                   "the result cannot be written there: " + reason + "; check the place, its permissions and the disk");
}

}  // namespace

std::ifstream open_regular_file(const fs::path& path) {
  std::error_code failed;
  const auto status = fs::status(path, failed);
  if (failed || status.type() == fs::file_type::not_found) refuse(path, "no such file" + beside(path));
  if (status.type() == fs::file_type::directory) refuse(path, "this is a folder; name a file in it");
  if (status.type() != fs::file_type::regular) refuse(path, "not a regular file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) refuse(path, "the file cannot be read; check its permissions");
  const std::scoped_lock lock(files_read().mutex);
  files_read().paths.insert(fs::canonical(path, failed));
  return stream;
}

bool was_read(const fs::path& path) {
  std::error_code failed;
  const fs::path place = fs::canonical(path, failed);
  const std::scoped_lock lock(files_read().mutex);
  return !failed && files_read().paths.contains(place);
}

std::string read_regular_file(const fs::path& path, std::uintmax_t most_bytes) {
  std::ifstream stream = open_regular_file(path);
  std::error_code failed;
  if (const auto size = fs::file_size(path, failed); failed || size > most_bytes)
    refuse(path, fmt::format("the file has {} bytes; at most {} are read", size, most_bytes));
  std::ostringstream text;
  text << stream.rdbuf();
  if (stream.bad()) refuse(path, "the file cannot be read; check its permissions");
  return std::string(without_byte_order_mark(text.view()));
}

PendingFile::PendingFile(fs::path file, const std::string& suffix)
    : file_(behind_links(std::move(file))), partial_(file_.string() + suffix) {}

PendingFile::~PendingFile() {
  if (out_) std::fclose(out_);
  std::error_code ignored;
  fs::remove(partial_, ignored);
}

void PendingFile::write(std::string_view text) {
  if (failed_) return;
  if (!out_) {
    std::error_code ignored;
    fs::remove(partial_, ignored);
    out_ = std::fopen(partial_.c_str(), "wbx");
  }
  if (!out_ || std::fwrite(text.data(), 1, text.size(), out_) != text.size()) failed_ = errno;
}

void PendingFile::complete() {
  write("");  // creates an empty one too
  if (out_ && std::fclose(std::exchange(out_, nullptr)) != 0 && !failed_) failed_ = errno;
  if (failed_) fail(file_, std::generic_category().message(failed_));
}

void PendingFile::commit() {
  std::error_code failed;
  fs::rename(partial_, file_, failed);
  if (failed) fail(file_, failed.message());
}

std::string identity_of(std::string_view version, const std::vector<std::string>& texts) {
  std::uint64_t hash = fnv1a(version);
  // Each text is preceded by its length, so that different lists never hash the same bytes.
  for (const auto& text : texts) hash = fnv1a(text, fnv1a(fmt::format("\n{}\n", text.size()), hash));
  return fmt::format("{:016x}", hash);
}

void* library_symbol(const char* library, const char* name) {
  void* loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void* symbol = loaded ? dlsym(loaded, name) : nullptr;
  if (!symbol) throw std::logic_error(std::string(library) + " cannot be loaded: " + dlerror());
  return symbol;
}

}  // namespace slmsim
