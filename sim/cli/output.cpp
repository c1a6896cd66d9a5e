#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/file.h"
#include "sim/cli/command.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& file) {
  throw InputError(whole_of(file), "the result cannot be written there; check the path and its permissions");
}

// A device, a pipe or the like, or what /dev/stdout and its kind stand for.
bool is_stream(const fs::path& file) {
  std::error_code ignored;
  const std::string path = fs::absolute(file, ignored).lexically_normal();
  return path.starts_with("/dev/") || path.starts_with("/proc/") ||
         (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored));
}

// Appends to a stream. A pipe may never get a reader: from here on signals end the process again.
void write_directly(const Result& result) {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  std::ofstream out(result.file, std::ios::binary | std::ios::app);
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

// Two results in one file would overwrite each other, and a result in a file that the command read would destroy it.
void check_places(const std::vector<Result>& results) {
  const auto place = [](const Result& result) { return fs::absolute(result.file).lexically_normal(); };
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].file.empty() && was_read(results[i].file))
      throw InputError(whole_of(results[i].file), "this is an input of the command; name another file for the result");
    for (std::size_t k = 0; k < i; ++k) {
      const std::string &a = results[k].file, &b = results[i].file;
      if (a.empty() || b.empty() || is_stream(b)) continue;
      std::error_code ignored;
      if (place(results[k]) == place(results[i]) || fs::equivalent(a, b, ignored))
        throw InputError(whole_of(b), "two results would be written there; give each a file of its own");
    }
  }
}

constexpr auto kPauseOfLines = std::chrono::seconds(10);
constexpr auto kPause = std::chrono::milliseconds(200);
constexpr const char* kOver = "\r\033[K";  // moves to the beginning of the line and clears it

}  // namespace

void write_results(const std::vector<Result>& results) {
  check_places(results);
  // Two processes may write the same file at once.
  const std::string suffix = fmt::format(".{}.tmp", getpid());
  std::vector<std::unique_ptr<PendingFile>> pending;
  for (const auto& result : results) {
    if (result.file.empty()) continue;
    std::error_code ignored;
    if (fs::is_directory(result.file, ignored))
      throw InputError(whole_of(result.file), "this is a folder; name a file in it");
    if (is_stream(result.file)) {
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

ProgressLine::ProgressLine(bool in_logs)
    : terminal_(isatty(STDERR_FILENO) == 1), in_logs_(in_logs), last_(std::chrono::steady_clock::now()) {}

void ProgressLine::show(const std::string& text) {
  if (!terminal_) {
    const auto now = std::chrono::steady_clock::now();
    if (!in_logs_ || now - last_ < kPauseOfLines) return;
    fmt::print(stderr, "slmsim: {}\n", text);
    std::fflush(stderr);
    last_ = now;
    return;
  }
  fmt::print(stderr, "{}{}", kOver, text);
  std::fflush(stderr);
  any_ = true;
  last_ = std::chrono::steady_clock::now();
}

void ProgressLine::announce(const std::string& text) {
  if (terminal_) return show(text);
  fmt::print(stderr, "slmsim: {}\n", text);
  std::fflush(stderr);
}

void ProgressLine::update(const std::string& text) {
  if (!any_ || std::chrono::steady_clock::now() - last_ >= kPause) show(text);
}

void ProgressLine::clear() {
  if (any_) fmt::print(stderr, "{}", kOver);
  any_ = false;
}

std::optional<std::string> output_of(const std::vector<std::string>& words, bool with_errors) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    if (!with_errors) dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    execvp(argv.front(), argv.data());
    _exit(127);
  }
  close(ends[1]);
  std::string out;
  char buffer[4096];
  for (ssize_t got = 0; child > 0 && (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return std::nullopt;
  return out;
}

std::string beside_this_program(const std::string& name) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return name;
  for (const auto& folder : {self.parent_path(), self.parent_path() / "calibrate"}) {
    if (std::filesystem::exists(folder / name, failed)) return (folder / name).string();
  }
  return name;
}

}  // namespace slmsim
