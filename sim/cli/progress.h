// Progress of a verb: on a terminal one line that is overwritten. Where standard error is a file or a pipe nothing, or, for
// work that may take minutes, a separate line every ten seconds.
#pragma once

#include <chrono>
#include <string>

namespace slmsim {

class ProgressLine {
 public:
  explicit ProgressLine(bool in_logs = false);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  void show(const std::string& text);
  // Before anything else; as a separate line where it is not a terminal.
  void announce(const std::string& text);
  // The same at most five times a second.
  void update(const std::string& text);
  void clear();

 private:
  bool terminal_, in_logs_, any_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace slmsim
