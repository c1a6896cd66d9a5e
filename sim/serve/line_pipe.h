// Lines of text through pipes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slmsim::web {

// False where the other end is closed.
bool write_all(int to, std::string_view text);

// Incoming text, line by line.
class Lines {
 public:
  // A whole line without its newline; nothing where there is none yet.
  std::optional<std::string> next();
  // Waits for more. False at the end, after an error, or after too much text without a newline.
  bool read_from(int from);

 private:
  std::string received_;
  std::size_t looked_at_ = 0;
};

}  // namespace slmsim::web
