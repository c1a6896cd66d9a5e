#include "sim/cli/stop.h"

#include <chrono>
#include <csignal>

namespace slmsim {
namespace {

using std::chrono::steady_clock;

volatile std::sig_atomic_t signal_that_came = 0;

}  // namespace

std::function<bool()> stop_at(double seconds) {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, [](int came) {
      signal_that_came = came;
      std::signal(came, SIG_DFL);
    });
  }
  const auto end =
      steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
  return [seconds, end] { return signal_that_came != 0 || (seconds > 0 && steady_clock::now() >= end); };
}

void end_as_asked() {
  if (signal_that_came == 0) return;
  std::signal(signal_that_came, SIG_DFL);
  std::raise(signal_that_came);
}

}  // namespace slmsim
