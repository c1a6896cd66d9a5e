// How far a verb is: one line on the terminal that is written over itself, and nothing where standard error is none.
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
