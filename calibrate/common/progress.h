// Progress of a long measurement.
#pragma once

#include <cstdio>
#include <string>
#include <unistd.h>

namespace slmsim::calibrate {

// One line that is overwritten, with the finished share; on a terminal only.
class ProgressLine {
 public:
  void show(const std::string& what, double share) const {
    if (terminal_) std::fprintf(stderr, "\r\033[K%3.0f %%  %s", 100 * share, what.c_str());
  }
  ~ProgressLine() {
    if (terminal_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) == 1;
};

}  // namespace slmsim::calibrate
