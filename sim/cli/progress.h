// How far a verb is: on a terminal one line that is written over itself; where standard error is a file or a pipe, a line of its
// own every ten seconds, so that a log shows what a long search does and a short one says nothing.
#pragma once

#include <chrono>
#include <string>

namespace slmsim {

class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  void show(const std::string& text);
  // The same at most five times a second.
  void update(const std::string& text);
  void clear();

 private:
  bool terminal_, any_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace slmsim
