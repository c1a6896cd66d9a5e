#include "calibrate/gpu/loop.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace slmsim::calibrate {
namespace {

constexpr int kMostLaunches = 1000;
constexpr double kSlack = 1e-6;          // so that a hundred times 2 us are 200 us
constexpr double kClockInterval = 0.05;  // s; reading the clock takes longer than many kernels
constexpr double kMostWarmUp = 0.25;     // share of the time limit

// Grows by a tenth, so that evaluating does not take longer than measuring.
int next_judgement(int count) { return count + std::max(1, count / 10); }

}  // namespace

Measurement measure(Timer& timer, const Rules& rules) {
  Measurement result;
  const double start = timer.now();
  const auto elapsed = [&] { return timer.now() - start; };
  const auto watch_clock = [&] {
    const Clock clock = timer.clock();
    result.throttle |= clock.throttle;
    if (clock.megahertz <= 0) return;
    result.clock_least = result.clock_least > 0 ? std::min(result.clock_least, clock.megahertz) : clock.megahertz;
    result.clock_most = std::max(result.clock_most, clock.megahertz);
  };

  timer.run(1);  // loads the kernel and chooses the algorithm
  const double warm_until = elapsed() + std::min(rules.warm_up, kMostWarmUp * rules.time_limit);
  // A single launch takes longer than one in a row, so the number is computed again from many.
  const auto launches_for = [&](double seconds) {
    return std::clamp(static_cast<int>(std::ceil(rules.sample / std::max(seconds, 1e-9) - kSlack)), 1, kMostLaunches);
  };
  result.launches = launches_for(timer.run(1));
  if (result.launches > 1) result.launches = launches_for(timer.run(result.launches) / result.launches);
  while (elapsed() < warm_until) timer.run(result.launches);

  std::vector<double> samples;
  double clock_read = elapsed();
  int judge_at = rules.least_samples;
  do {
    samples.push_back(timer.run(result.launches) / result.launches);
    if (const double now = elapsed(); now - clock_read > kClockInterval) {
      watch_clock();
      clock_read = now;
    }
    if (static_cast<int>(samples.size()) < judge_at) continue;
    judge_at = next_judgement(judge_at);
    if (within(summary_of(samples), rules.precision)) break;
  } while (elapsed() < rules.time_limit && static_cast<int>(samples.size()) < rules.most_samples);
  watch_clock();
  result.seconds = summary_of(samples);
  result.precise = static_cast<int>(samples.size()) >= rules.least_samples && within(result.seconds, rules.precision);
  return result;
}

std::string throttle_text(std::uint64_t reasons) {
  // The reason "idle" (0x1) slows no running kernel.
  static constexpr struct {
    std::uint64_t mask;
    const char* name;
  } kReasons[] = {{0x2, "application clocks"}, {0x4, "power cap"}, {0x8, "hardware slowdown"},
                  {0x10, "sync boost"},        {0x20, "heat"},     {0x40, "heat (hardware)"},
                  {0x80, "power brake"},       {0x100, "display"}};
  std::string text;
  for (const auto& reason : kReasons) {
    if (reasons & reason.mask) text += (text.empty() ? "" : ", ") + std::string(reason.name);
  }
  return text.empty() ? "none" : text;
}

}  // namespace slmsim::calibrate
