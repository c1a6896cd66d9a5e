#include "sim/cli/output.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace slmsim {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& file) {
  throw InputError(Place{std::make_shared<Source>(Source{file, ""}), 0, 0},
                   "the result cannot be written there; check the place and its permissions");
}

bool write(const std::string& text, const fs::path& file) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  return static_cast<bool>(out);
}

// A result that is on disk under a temporary name; gone again unless it is committed.
class Pending {
 public:
  explicit Pending(const Result& result)
      : file_(result.file), partial_(fmt::format("{}.{}.tmp", result.file, getpid())) {
    if (!write(result.text, partial_)) {
      remove();
      fail(result.file);
    }
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() { remove(); }

  void commit() {
    std::error_code failed;
    fs::rename(partial_, file_, failed);
    if (failed) fail(file_);
  }

 private:
  void remove() const {
    std::error_code ignored;
    fs::remove(partial_, ignored);
  }
  std::string file_;
  fs::path partial_;
};

}  // namespace

void write_results(const std::vector<Result>& results) {
  std::vector<std::unique_ptr<Pending>> pending;
  for (const auto& result : results) {
    std::error_code ignored;
    const bool special = fs::exists(result.file, ignored) && !fs::is_regular_file(result.file, ignored);
    if (!result.file.empty() && !special) pending.push_back(std::make_unique<Pending>(result));
    if (special && !write(result.text, result.file)) fail(result.file);
  }
  for (auto& one : pending) one->commit();
  for (const auto& result : results) {
    if (!result.file.empty()) continue;
    const bool written = std::fwrite(result.text.data(), 1, result.text.size(), stdout) == result.text.size();
    if (!written || std::fflush(stdout) != 0) fail("standard output");
  }
}

void write_result(const std::string& text, const std::string& file) { write_results({{text, file}}); }

}  // namespace slmsim
