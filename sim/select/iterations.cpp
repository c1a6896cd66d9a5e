#include "sim/select/iterations.h"

#include <algorithm>
#include <cmath>

namespace slmsim {
namespace {

constexpr std::size_t kMostIterations = 12;  // by then windows are steady; the last one stands for the rest
constexpr double kSame = 1e-9;               // relative; the engine's clock is a double

using State = std::vector<ConnectionState>;

bool near(double a, double b) { return std::abs(a - b) <= kSame * std::max({1.0, std::abs(a), std::abs(b)}); }

bool same(const OnTheWay& a, const OnTheWay& b) { return near(a.due.value, b.due.value) && near(a.bytes, b.bytes); }

bool same(const ConnectionState& a, const ConnectionState& b) {
  const auto& x = a.on_the_way;
  const auto& y = b.on_the_way;
  return near(a.window, b.window) && near(a.idle.value, b.idle.value) &&
         std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& p, const auto& q) { return same(p, q); });
}

bool same(const State& a, const State& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return same(x, y); });
}

}  // namespace

Seconds IterationTimes::steady() const {
  Seconds sum{0};
  for (std::size_t i = cycle_start; i < times.size(); ++i) sum += times[i];
  return sum / static_cast<double>(times.size() - cycle_start);
}

Seconds IterationTimes::total(double count) const {
  Seconds sum{0};
  for (std::size_t i = 0; i < times.size() && static_cast<double>(i) < count; ++i) sum += times[i];
  double left = count - static_cast<double>(times.size());
  if (left <= 0) return sum;
  const auto length = static_cast<double>(times.size() - cycle_start);
  sum += steady() * (length * std::floor(left / length));
  left = std::fmod(left, length);
  for (std::size_t i = 0; static_cast<double>(i) < left; ++i) sum += times[cycle_start + i];
  return sum;
}

IterationTimes simulate_iterations(const TaskGraph& graph, const SimulationOptions& options) {
  IterationTimes result;
  std::vector<State> states = {State(graph.connections().size())};  // states[i]: before iteration i
  while (result.times.size() < kMostIterations) {
    result.last = simulate(graph, states.back(), options);
    result.times.push_back(result.last.end);
    const State& after = result.last.connections;
    const auto seen = std::find_if(states.begin(), states.end(), [&](const State& s) { return same(s, after); });
    if (seen != states.end()) {
      result.cycle_start = static_cast<std::size_t>(seen - states.begin());
      result.repeats = true;
      return result;
    }
    states.push_back(after);
  }
  result.cycle_start = result.times.size() - 1;
  return result;
}

}  // namespace slmsim
