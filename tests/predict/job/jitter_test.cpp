// Times that scatter: the slowest of n by order statistics, and who waits for it.
#include "sim/predict/job/jitter.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "sim/engine/simulate.h"

namespace slmsim::jitter_test {
namespace {

constexpr double kErrors = 4;  // standard errors: one in 16 000 tests would fail by chance, were the seed not fixed

JitterRules of_gpus(double sd, JitterShape shape) {
  JitterRules out;
  out.gpu = Scatter{sd, shape};
  return out;
}

// `steps` steps of 1 s on each of `gpus`; those that exchange at every step wait for each other after each.
TaskGraph steps_of(int gpus, int steps, bool exchange_each) {
  TaskGraph graph({}, gpus);
  const TagId tag = graph.tag({"step", TaskClass::kForward});
  std::vector<TaskId> last(static_cast<std::size_t>(gpus), kNoTask);
  for (int step = 0; step < steps; ++step) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      TaskId& own = last[gpu];
      own = graph.compute(gpu, Seconds{1}, tag, std::array{own});
    }
    if (!exchange_each) continue;
    const TaskId all = graph.delay(Seconds{0}, tag, last);
    last.assign(last.size(), all);
  }
  return graph;
}

struct Mean {
  double value = 0, error = 0;
};
Mean mean_end(const JitterRules& rules, int gpus, int steps, bool exchange_each, int count) {
  const TaskGraph graph = steps_of(gpus, steps, exchange_each);
  double sum = 0, squares = 0;
  for (int state = 0; state < count; ++state) {
    TaskGraph drawn = graph;
    JitterDraw(rules, 5, state).apply(drawn, steps);
    const double end = simulate(drawn).end.value;
    sum += end;
    squares += end * end;
  }
  const double mean = sum / count;
  return {mean, std::sqrt((squares / count - mean * mean) / count)};
}

// The slowest of n exponential times with mean 1 takes 1 + 1/2 + ... + 1/n.
TEST(Jitter, OfExponentialTimesMakesTheSlowestOfNTheHarmonicNumber) {
  double harmonic = 0;
  for (int n = 1; n <= 12; ++n) {
    harmonic += 1.0 / n;
    const Mean drawn = mean_end(of_gpus(1, JitterShape::kExponential), n, 1, true, 4000);
    EXPECT_NEAR(drawn.value, harmonic, kErrors * drawn.error) << n;
  }
}

// A least time of 0.8 and 0.2 on top: 0.8 + 0.2 H_4.
TEST(Jitter, OfExponentialTimesHasALeastTime) {
  const Mean drawn = mean_end(of_gpus(0.2, JitterShape::kExponential), 4, 1, true, 4000);
  EXPECT_NEAR(drawn.value, 0.8 + 0.2 * (1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0), kErrors * drawn.error);
}

// Expected largest of n standard normal deviates, David and Nagaraja, Order Statistics: 2: 1 / sqrt(pi), 3: 3 / (2 sqrt(pi)),
// 4: 1.0294, 8: 1.4236, 16: 1.7660.
TEST(Jitter, OfNormalTimesMakesTheSlowestOfNTheLargestNormalDeviate) {
  const double root = std::sqrt(std::acos(-1.0));
  for (const auto& [n, largest] :
       {std::pair{1, 0.0}, {2, 1 / root}, {3, 1.5 / root}, {4, 1.0294}, {8, 1.4236}, {16, 1.7660}}) {
    const Mean drawn = mean_end(of_gpus(0.1, JitterShape::kNormal), n, 1, true, 4000);
    EXPECT_NEAR(drawn.value, 1 + 0.1 * largest, kErrors * drawn.error) << n;
  }
}

// The mean of 32 values at random scatters by 0.2 / sqrt(32) = 0.035.
TEST(Jitter, OfAJobsStatesHasAMeanNearOne) {
  double squares = 0;
  constexpr int kSeeds = 50;
  const JitterRules rules = of_gpus(0.2, JitterShape::kNormal);
  for (int seed = 0; seed < kSeeds; ++seed) {
    double mean = 0;
    for (int state = 0; state < rules.states; ++state) mean += JitterDraw(rules, seed, state).gpu(0, 0) / rules.states;
    squares += (mean - 1) * (mean - 1) / kSeeds;
  }
  EXPECT_LT(std::sqrt(squares), 0.015);
}

// mean 1, and the square of the standard deviation.
TEST(Jitter, OfEachShapeHasTheMeanAndDeviationThatAreStated) {
  for (const auto shape : {JitterShape::kNormal, JitterShape::kLognormal, JitterShape::kExponential}) {
    const JitterRules rules = of_gpus(0.25, shape);
    double sum = 0, squares = 0;
    constexpr int kCount = 40'000;
    for (int state = 0; state < kCount; ++state) {
      const double factor = JitterDraw(rules, 1, state).gpu(3, 0);
      sum += factor;
      squares += factor * factor;
    }
    const double mean = sum / kCount, sd = std::sqrt(squares / kCount - mean * mean);
    EXPECT_NEAR(mean, 1, kErrors * 0.25 / std::sqrt(kCount));
    EXPECT_NEAR(sd, 0.25, 0.01);  // of an exponential one the deviation itself scatters by some 1 %
  }
}

// Local SGD's replicas wait for each other once in H steps: H + sqrt(H) s c_n in place of H (1 + s c_n).
TEST(Jitter, IsWaitedForAtRoundsEndsOnlyWhereStepsExchangeNothing) {
  const JitterRules rules = of_gpus(0.1, JitterShape::kNormal);
  const Mean lockstep = mean_end(rules, 8, 25, true, 1000), round = mean_end(rules, 8, 25, false, 1000);
  EXPECT_NEAR(lockstep.value, 25 * (1 + 0.1 * 1.4236), kErrors * lockstep.error);
  EXPECT_NEAR(round.value, 25 + 5 * 0.1 * 1.4236, kErrors * round.error);
}

// A machine that is slow for a whole job is slow in each step: 25 (1 + s c_8) either way.
TEST(Jitter, OfAWholeJobDoesNotAverageOut) {
  JitterRules rules = of_gpus(0.1, JitterShape::kNormal);
  rules.whole_job = true;
  const Mean lockstep = mean_end(rules, 8, 25, true, 1000), round = mean_end(rules, 8, 25, false, 1000);
  EXPECT_NEAR(lockstep.value, 25 * (1 + 0.1 * 1.4236), kErrors * lockstep.error);
  EXPECT_NEAR(round.value, lockstep.value, 1e-9 * lockstep.value);
}

TEST(Jitter, OfLinksDividesTheirRateAndMultipliesTheirRoundTrip) {
  JitterRules rules;
  rules.rate = Scatter{0.3, JitterShape::kLognormal};
  rules.rtt = Scatter{0.1, JitterShape::kNormal};
  const JitterDraw draw(rules, 2, 7);
  const WanDirection way{BytesPerSecond{1e9}, Seconds{0.05}, 1e-5};
  const auto links = draw.links({{"a", 0, 1, way, way, Bytes{1500}}, {"b", 1, 2, way, way, Bytes{1500}}});
  EXPECT_DOUBLE_EQ(links[0].forward.bandwidth.value, 1e9 / draw.rate(0));
  EXPECT_DOUBLE_EQ(links[1].backward.delay.value, 0.05 * draw.rtt(1));
  EXPECT_NE(draw.rate(0), draw.rate(1));
  EXPECT_EQ(links[0].forward.loss, 1e-5);
  EXPECT_EQ(draw.gpu(0, 0), 1);
}

TEST(Jitter, IsTheSameForTheSameSeedAndNeverBelowItsLeast) {
  for (const auto shape : {JitterShape::kNormal, JitterShape::kLognormal, JitterShape::kExponential}) {
    Scenario scenario;
    scenario.job.emplace().jitter = of_gpus(0.3, shape);
    const JitterRules& rules = *scenario.job->jitter;
    const double least = least_factor(scenario);
    EXPECT_GT(least, 0);
    for (int state = 0; state < 50'000; ++state) {
      const double factor = JitterDraw(rules, 9, state).gpu(0, 0);
      EXPECT_GE(factor, least * (1 - 1e-12));
      if (state < 10) {
        EXPECT_EQ(factor, JitterDraw(rules, 9, state).gpu(0, 0));
      }
    }
    EXPECT_NE(JitterDraw(rules, 9, 0).gpu(0, 0), JitterDraw(rules, 8, 0).gpu(0, 0));
  }
}

}  // namespace
}  // namespace slmsim::jitter_test
