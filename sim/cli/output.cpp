#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/file.h"
#include "sim/cli/common.h"

namespace slmsim {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& file) {
  throw InputError(Place{std::make_shared<Source>(Source{file, ""}), 0, 0},
                   "the result cannot be written there; check the path and its permissions");
}

// Writes to a device, a pipe or the like. A pipe may never get a reader: from here on signals end the process again.
void write_directly(const Result& result) {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  std::ofstream out(result.file, std::ios::binary);
  out << result.text;
  out.close();
  if (!out) fail(result.file);
}

// Writes to standard output; returns an error number, or 0.
int print(const std::string& text) {
  const auto usual = std::signal(SIGPIPE, SIG_IGN);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  const int error = written ? 0 : errno;
  std::signal(SIGPIPE, usual);
  return error;
}

// Two results in one file would overwrite each other.
void check_places(const std::vector<Result>& results) {
  const auto place = [](const Result& result) { return fs::absolute(result.file).lexically_normal(); };
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const std::string &a = results[k].file, &b = results[i].file;
      std::error_code ignored;
      if (a.empty() || b.empty() || (fs::exists(b, ignored) && !fs::is_regular_file(b, ignored))) continue;
      if (place(results[k]) == place(results[i]) || fs::equivalent(a, b, ignored))
        throw InputError(Place{std::make_shared<Source>(Source{b, ""}), 0, 0},
                         "two results would be written there; give each a file of its own");
    }
  }
}

}  // namespace

void write_results(const std::vector<Result>& results) {
  check_places(results);
  // Two processes may write the same file at once.
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
  for (const auto& result : results) {
    if (!result.file.empty()) continue;
    const int error = print(result.text);
    if (error == EPIPE) {  // as for a closed pipe, but incomplete files are removed
      pending.clear();
      std::raise(SIGPIPE);
    }
    if (error != 0) fail("standard output");
  }
  for (auto& one : pending) one->commit();
}

void write_result(const std::string& text, const std::string& file) { write_results({{text, file}}); }

}  // namespace slmsim
