#include "sim/cli/stop.h"

#include <csignal>

#include "sim/base/deadline.h"

namespace slmsim {
namespace {

volatile std::sig_atomic_t signal_that_came = 0;

}  // namespace

std::function<bool()> stop_at(double seconds) {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, [](int came) {
      signal_that_came = came;
      std::signal(came, SIG_DFL);
    });
  }
  return [deadline = Deadline::of_limit(seconds)] { return signal_that_came != 0 || deadline.is_over(); };
}

void end_as_asked() {
  if (signal_that_came == 0) return;
  std::signal(signal_that_came, SIG_DFL);
  std::raise(signal_that_came);
}

}  // namespace slmsim
