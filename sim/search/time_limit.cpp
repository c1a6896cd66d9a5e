#include "sim/search/time_limit.h"

#include <chrono>

namespace slmsim {
namespace {

using std::chrono::steady_clock;

// Share of the time for searches; the rest is for the final predictions.
constexpr double kForSearching = 0.9;

}  // namespace

void limit_time(PlanJob& job, double seconds) {
  const auto passed = [start = steady_clock::now()] {
    return std::chrono::duration<double>(steady_clock::now() - start).count();
  };
  job.deadline = [passed, seconds](std::size_t index, std::size_t count) {
    return passed() >= kForSearching * seconds * static_cast<double>(index + 1) / static_cast<double>(count);
  };
  job.over = [passed, seconds] { return passed() >= seconds; };
}

}  // namespace slmsim
