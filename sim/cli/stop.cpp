#include "sim/cli/stop.h"

#include <chrono>
#include <csignal>

namespace slmsim {
namespace {

using std::chrono::steady_clock;

volatile std::sig_atomic_t asked_to_stop = 0;

}  // namespace

std::function<bool()> stop_at(double seconds) {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { asked_to_stop = 1; });
  const auto end =
      steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
  return [seconds, end] { return asked_to_stop != 0 || (seconds > 0 && steady_clock::now() >= end); };
}

}  // namespace slmsim
