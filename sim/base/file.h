// Files: regular ones are read, since a pipe or a device may never end; written ones appear whole or not at all.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace slmsim {

// Throws InputError where the file is missing (with the nearest name), is a folder, a pipe or a device, or is not
// readable.
std::ifstream open_regular_file(const std::filesystem::path& path);

// The whole file without a byte order mark. Throws InputError as above, and where it exceeds `most_bytes`.
std::string read_regular_file(const std::filesystem::path& path, std::uintmax_t most_bytes);

// Whether this process has read the file by one of the functions above.
bool was_read(const std::filesystem::path& path);

// A file that appears whole or not at all: it is written under a temporary name in the same folder and renamed when
// complete. Uncommitted files are removed. A symbolic link stays, and the file that it names is written.
class PendingFile {
 public:
  // The temporary name is the file's with `suffix`; programs that may write the same file at once need different
  // suffixes. Nothing is created yet.
  PendingFile(std::filesystem::path file, const std::string& suffix);
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();

  const std::filesystem::path& partial() const { return partial_; }
  // An existing file or link of the temporary name is replaced and not followed.
  void write(std::string_view text);
  // Call after the last write. Throws InputError where not everything was written.
  void complete();
  // Renames the file to its final name. Throws InputError where that fails.
  void commit();

 private:
  std::filesystem::path file_, partial_;
  std::FILE* out_ = nullptr;
  int failed_ = 0;  // errno of the first failure
};

// Shared libraries that load slowly and that few commands use. Each is wrapped in a library of the program's own, which
// is loaded on first use.

// A function of such a library, found by the run path of the program or of the library that holds this code; the
// library stays loaded. Throws std::logic_error where it is not installed with the program.
void* library_symbol(const char* library, const char* name);

template <class Function>
Function* library_function(const char* library, const char* name) {
  return reinterpret_cast<Function*>(library_symbol(library, name));
}

}  // namespace slmsim
