#include "sim/serve/line_pipe.h"

#include <cerrno>
#include <unistd.h>

namespace slmsim::web {
namespace {

constexpr std::size_t kLongestLine = 64u << 20;

}  // namespace

bool write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(to, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::optional<std::string> Lines::next() {
  const std::size_t end = received_.find('\n', looked_at_);
  if (end == std::string::npos) {
    looked_at_ = received_.size();
    return std::nullopt;
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  looked_at_ = 0;
  return line;
}

bool Lines::read_from(int from) {
  char bytes[1 << 16];
  const ssize_t count = read(from, bytes, sizeof bytes);
  if (count < 0) return errno == EINTR;
  received_.append(bytes, static_cast<std::size_t>(count));
  return count > 0 && received_.size() <= kLongestLine;
}

}  // namespace slmsim::web
