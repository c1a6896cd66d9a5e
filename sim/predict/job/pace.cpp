#include "sim/predict/job/pace.h"

#include <algorithm>
#include <cmath>

namespace slmsim {
namespace {

constexpr double kDay = 86400;

}  // namespace

Pace::Pace(const JobProcess& job) : interval_(job.interval.value), pause_(job.pause.value), day_(job.day) {
  double sum = 0;
  for (std::size_t i = 0; i < day_.size(); ++i) {
    sums_.push_back(sum);
    const double end = i + 1 < day_.size() ? day_[i + 1].from.value : kDay;
    sum += (end - day_[i].from.value) * day_[i].speed;
  }
  sums_.push_back(sum);
}

double Pace::checkpoints(double phase, double length) const {
  return std::isinf(interval_) ? 0 : std::floor((phase + length) / period());
}

double Pace::working(double phase, double length) const {
  if (std::isinf(interval_)) return length;
  const auto until = [&](double time) {
    const double whole = std::floor(time / period());
    return whole * interval_ + std::min(time - whole * period(), interval_);
  };
  return until(phase + length) - until(phase);
}

double Pace::sum_of_speed(double time) const {
  const double days = std::floor(time / kDay), rest = time - days * kDay;
  const auto later = std::upper_bound(day_.begin(), day_.end(), rest,
                                      [](double value, const Hour& hour) { return value < hour.from.value; });
  const auto i = static_cast<std::size_t>(later - day_.begin()) - 1;
  return days * sums_.back() + sums_[i] + (rest - day_[i].from.value) * day_[i].speed;
}

double Pace::work(double from, double phase, double length) const {
  const double at_work = working(phase, length);
  if (day_.empty() || length <= 0) return at_work;
  return at_work * ((sum_of_speed(from + length) - sum_of_speed(from)) / length);
}

double Pace::time_of(double from, double phase, double work_left) const {
  if (work_left <= 0) return 0;
  const auto undisturbed = [&](double work) {
    if (std::isinf(interval_)) return work;
    // The rest of the current interval, then whole intervals, each after a pause.
    const double left = std::max(0.0, interval_ - phase);
    if (work <= left) return work;
    const double to_next = period() - phase;
    const double more = std::ceil((work - left) / interval_) - 1;
    return to_next + more * period() + (work - left - more * interval_);
  };
  if (day_.empty()) return undisturbed(work_left);
  double low = 0, high = undisturbed(work_left);
  while (work(from, phase, high) < work_left) {
    low = high;
    high *= 2;
  }
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings && high - low > 1e-6; ++i) {
    const double middle = (low + high) / 2;
    (work(from, phase, middle) < work_left ? low : high) = middle;
  }
  return high;
}

}  // namespace slmsim
