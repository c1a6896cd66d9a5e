// A timer whose kernel takes what a test says.
#pragma once

#include <functional>
#include <vector>

#include "calibrate/gpu/loop.h"

namespace slmsim::calibrate {

class FakeTimer final : public Timer {
 public:
  // Seconds of each launch, counted from 0.
  using Cost = std::function<double(int launch)>;
  explicit FakeTimer(Cost cost) : cost_(std::move(cost)) {}

  double run(int launches) override {
    double seconds = 0;
    for (int i = 0; i < launches; ++i) seconds += cost_(launched++);
    time_ += seconds;
    runs.push_back(launches);
    return seconds;
  }
  double now() override { return time_; }
  Clock clock() override { return clock_at ? clock_at(time_) : Clock{}; }

  std::function<Clock(double time)> clock_at;
  std::vector<int> runs;
  int launched = 0;

 private:
  Cost cost_;
  double time_ = 0;
};

}  // namespace slmsim::calibrate
