#include "sim/cli/output.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/pending_file.h"

namespace slmsim {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& file) {
  throw InputError(Place{std::make_shared<Source>(Source{file, ""}), 0, 0},
                   "the result cannot be written there; check the place and its permissions");
}

// To a device, a pipe and the like.
void write_directly(const Result& result) {
  std::ofstream out(result.file, std::ios::binary);
  out << result.text;
  out.close();
  if (!out) fail(result.file);
}

}  // namespace

void write_results(const std::vector<Result>& results) {
  // Two of these may write the same file at once.
  const std::string suffix = fmt::format(".{}.tmp", getpid());
  std::vector<std::unique_ptr<PendingFile>> pending;
  for (const auto& result : results) {
    if (result.file.empty()) continue;
    std::error_code ignored;
    if (fs::exists(result.file, ignored) && !fs::is_regular_file(result.file, ignored)) {
      write_directly(result);
      continue;
    }
    pending.push_back(std::make_unique<PendingFile>(result.file, suffix));
    pending.back()->write(result.text);
    pending.back()->complete();
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
