// A file that appears whole or not at all: it is written beside its place under a temporary name, and renamed once it is
// complete. What was not committed is gone again.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace slmsim {

class PendingFile {
 public:
  // The temporary name is the file's with `suffix`; where several programs may write the same file at once, each needs
  // one of its own. Nothing is created yet.
  PendingFile(std::filesystem::path file, const std::string& suffix);
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();

  const std::filesystem::path& partial() const { return partial_; }
  // What stands under the temporary name, if only left by a program that was killed, is replaced and not followed.
  void write(std::string_view text);
  // After the last write. Throws InputError where not everything could be written.
  void complete();
  // To its place. Throws InputError where it cannot get there.
  void commit();

 private:
  std::filesystem::path file_, partial_;
  std::FILE* out_ = nullptr;
  int failed_ = 0;  // errno of the first thing that failed
};

}  // namespace slmsim
