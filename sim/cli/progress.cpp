#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/cli/common.h"

namespace slmsim {
namespace {

constexpr auto kPauseOfLines = std::chrono::seconds(10);
constexpr auto kPause = std::chrono::milliseconds(200);
constexpr const char* kOver = "\r\033[K";  // moves to the beginning of the line and clears it

}  // namespace

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

}  // namespace slmsim
