// Computation beside kernels that hold multiprocessors, against sums by hand and by small time steps.
#include "sim/engine/slowdown.h"

#include <random>

#include <gtest/gtest.h>

#include "tests/engine/small_graph.h"

namespace slmsim::slowdown_test {
namespace {

constexpr TaskGraph::SmShare kFourOfTen{4, 10};

// From 2 s to 5 s four of ten multiprocessors are held, beside what takes 6 s alone.
double end_of_six_seconds(double bound, int others = 0) {
  SmallGraph graph({});
  const TaskId from = graph.wait(2), until = graph.wait(5);
  graph.hold(0, kFourOfTen, {from});
  graph.release(0, kFourOfTen, {until});
  if (others > 0) {
    graph.hold(0, {others, 10}, {from});
    graph.release(0, {others, 10}, {until});
  }
  const TaskId computed = graph.compute(0, 6, {}, bound);
  const Timeline timeline = graph.run();
  EXPECT_NEAR(graph.run({}, {.always_engine = true}).finish[computed], timeline.finish[computed], kClock);
  return timeline.finish[computed];
}

TEST(Slowdown, IsOfWhatMultiprocessorsBoundAlone) {
  EXPECT_DOUBLE_EQ(end_of_six_seconds(0), 6);
  // In 3 s at 6/10 of the rate 1.8 s of it are done, and 4.2 s in the others.
  EXPECT_DOUBLE_EQ(end_of_six_seconds(1), 7.2);
  // A half takes 10/6 as long: 4/3 in all, so that 3 s do what takes 2.25 s alone.
  EXPECT_DOUBLE_EQ(end_of_six_seconds(0.5), 6.75);
}

TEST(Slowdown, AddsUpOverKernelsAndLeavesAMultiprocessor) {
  // Eight of ten held: 3 s do 0.6 s. Ten and more: one is left, and they do 0.3 s.
  EXPECT_DOUBLE_EQ(end_of_six_seconds(1, 4), 8.4);
  EXPECT_DOUBLE_EQ(end_of_six_seconds(1, 6), 8.7);
  EXPECT_DOUBLE_EQ(end_of_six_seconds(1, 60), 8.7);
}

TEST(Slowdown, EndsWithWhatEndsAtTheSameTime) {
  // One kernel ends as the next begins, and one ends with the computation.
  SmallGraph graph({});
  const TaskId two = graph.wait(2), four = graph.wait(4);
  graph.hold(0, kFourOfTen);
  graph.release(0, kFourOfTen, {two});
  graph.hold(0, kFourOfTen, {two});
  graph.release(0, kFourOfTen, {four});
  const TaskId computed = graph.compute(0, 2.4, {}, 1);
  graph.compute(0, 1, {computed}, 1);
  const Timeline timeline = graph.run();
  EXPECT_DOUBLE_EQ(timeline.finish[computed], 4);
  EXPECT_DOUBLE_EQ(timeline.end.value, 5);
}

TEST(Slowdown, OfOneDeviceIsNoneOfAnother) {
  SmallGraph graph({});
  graph.hold(0, kFourOfTen);
  const TaskId other = graph.compute(1, 6, {}, 1), own = graph.compute(0, 6, {}, 1);
  const Timeline timeline = graph.run();
  EXPECT_DOUBLE_EQ(timeline.finish[other], 6);
  EXPECT_DOUBLE_EQ(timeline.finish[own], 10);
}

TEST(Slowdown, MayBeAddedAfterWhatItSlows) {
  SmallGraph graph({});
  const TaskId computed = graph.compute(0, 6, {}, 1);
  graph.hold(0, kFourOfTen, {graph.wait(3)});
  EXPECT_DOUBLE_EQ(graph.run().finish[computed], 8);  // 3 s, and 3 s at 6/10
}

// A device's computations one after the other, and kernels that begin and end at times of their own.
struct KernelOverlap {
  struct Kernel {
    double from, until;
    int held;
  };
  std::vector<Kernel> kernels;
  std::vector<std::pair<double, double>> computations;  // alone, bound

  explicit KernelOverlap(unsigned seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
    for (int i = 0; i < 6; ++i) {
      const double from = 0.5 * pick(0, 20);
      kernels.push_back({from, from + 0.5 * pick(1, 8), pick(1, 4)});
    }
    for (int i = 0; i < 8; ++i) computations.emplace_back(0.5 * pick(0, 5), 0.25 * pick(0, 4));
  }

  std::vector<double> ends(const SimulationOptions& options) const {
    SmallGraph graph({});
    for (const Kernel& kernel : kernels) {
      graph.hold(0, {kernel.held, 12}, {graph.wait(kernel.from)});
      graph.release(0, {kernel.held, 12}, {graph.wait(kernel.until)});
    }
    std::vector<TaskId> tasks;
    for (const auto& [alone, bound] : computations)
      tasks.push_back(graph.compute(0, alone, tasks.empty() ? tasks : std::vector{tasks.back()}, bound));
    const Timeline timeline = simulate(graph.graph(), {}, options);
    std::vector<double> out;
    for (const TaskId task : tasks) out.push_back(timeline.finish[task]);
    return out;
  }

  static constexpr double kStep = 1e-4;
  std::vector<double> ends_by_steps() const {
    std::vector<double> out;
    double now = 0;
    for (const auto& [alone, bound] : computations) {
      for (double done = 0; done < alone - kStep / 2; now += kStep) {
        double left = 12;
        for (const Kernel& kernel : kernels) left -= kernel.from <= now && now < kernel.until ? kernel.held : 0;
        left = std::max(left, 1.0);
        done += kStep / (bound * 12 / left + (1 - bound));
      }
      out.push_back(now);
    }
    return out;
  }
};

TEST(Slowdown, IsWhatSmallStepsOfTimeGive) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const KernelOverlap beside(seed);
    const auto usual = beside.ends({}), steps = beside.ends_by_steps();
    const auto engine = beside.ends({.always_engine = true});
    for (std::size_t i = 0; i < steps.size(); ++i) {
      EXPECT_NEAR(usual[i], steps[i], 30 * KernelOverlap::kStep) << seed;  // a step for each begin and end
      EXPECT_NEAR(usual[i], engine[i], kClock) << seed;
    }
  }
}

}  // namespace
}  // namespace slmsim::slowdown_test
