#include "sim/predict/job/renewal.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace slmsim::renewal_test {
namespace {

JobProcess process(double work, double mtbf) {
  JobProcess out;
  out.work = out.plain = Seconds{work};
  if (mtbf > 0) out.stops = {{1 / mtbf, Seconds{0}, Seconds{0}}};
  return out;
}

void checkpoints(JobProcess& out, double interval, double pause) {
  out.interval = Seconds{interval};
  out.pause = out.write = Seconds{pause};
}

// Daly, FGCS 22 (2006), equation 37: higher order in C / 2M, without C itself.
double daly(double pause, double mtbf) {
  const double x = pause / (2 * mtbf);
  return std::sqrt(2 * pause * mtbf) * (1 + std::sqrt(x) / 3 + x / 9) - pause;
}
double young(double pause, double mtbf) { return std::sqrt(2 * pause * mtbf); }

struct Mean {
  double value = 0, error = 0;  // standard error of the mean
};
Mean drawn_mean(const JobProcess& process, int count) {
  const auto jobs = draw_jobs(process, count, 7);
  double sum = 0, squares = 0;
  for (const auto& job : jobs) {
    EXPECT_TRUE(job.ended);
    sum += job.length.value;
    squares += job.length.value * job.length.value;
  }
  const double mean = sum / count;
  return {mean, std::sqrt((squares / count - mean * mean) / count)};
}
constexpr double kErrors = 4;  // one in 16 000 tests would fail by chance, were the seed not fixed

TEST(BestInterval, IsDalysWithinTwoPercent) {
  for (const double mtbf : {600.0, 3600.0, 86400.0, 3e6}) {
    for (const double share : {1e-5, 1e-3, 1e-2, 0.05, 0.2}) {
      JobProcess c = process(1e9, mtbf);
      checkpoints(c, 1, share * mtbf);
      const double best = best_interval(c, Seconds{mtbf * 1e-6}).value;
      EXPECT_NEAR(best / daly(share * mtbf, mtbf), 1, 0.02) << mtbf << " s, " << share;
    }
  }
}

TEST(BestInterval, IsYoungsWhereCheckpointsAreShort) {
  JobProcess c = process(1e9, 86400);
  checkpoints(c, 1, 1);
  EXPECT_NEAR(best_interval(c, Seconds{0.01}).value / young(1, 86400), 1, 0.01);
}

// The derivative of (e^{(tau + C) / M} - 1) / tau is 0 where e^{-(tau + C) / M} = 1 - tau / M.
TEST(BestInterval, IsTheRootOfTheDerivative) {
  JobProcess c = process(1e9, 1000);
  checkpoints(c, 1, 50);
  const double tau = best_interval(c, Seconds{1e-3}).value;
  EXPECT_NEAR(std::exp(-(tau + 50) / 1000), 1 - tau / 1000, 1e-5);
}

TEST(BestInterval, DoesNotDependOnRecovery) {
  JobProcess a = process(1e9, 1000);
  checkpoints(a, 1, 50);
  JobProcess b = a;
  b.restart = Seconds{200};
  b.stops.front().repair = Seconds{300};
  EXPECT_EQ(best_interval(a, Seconds{1}), best_interval(b, Seconds{1}));
}

TEST(BestInterval, IsTheBestOfTheJobsDrawn) {
  JobProcess c = process(2e5, 2000);
  checkpoints(c, 1, 40);
  c.restart = Seconds{30};
  const Seconds best = best_interval(c, Seconds{10});
  EXPECT_EQ(std::fmod(best.value, 10), 0);
  const auto mean = [&](double factor) {
    c.interval = best * factor;
    return drawn_mean(c, 2000).value;
  };
  EXPECT_LT(mean(1), mean(0.5));
  EXPECT_LT(mean(1), mean(2));
}

TEST(BestInterval, IsAWholeNumberOfIterationsAndNoneWhereNothingFails) {
  JobProcess c = process(1e6, 1000);
  checkpoints(c, 1, 0.001);  // Young: 1.4 s
  EXPECT_EQ(best_interval(c, Seconds{60}), Seconds{60});
  c.stops.clear();
  EXPECT_EQ(best_interval(c, Seconds{60}), kForever);
}

TEST(BestInterval, InTheBackgroundIsAsShortAsWritingTakes) {
  JobProcess c = process(1e6, 10'000);
  c.write = Seconds{100};
  c.pause = Seconds{0};
  EXPECT_EQ(best_interval(c, Seconds{1}), Seconds{100});
}

TEST(BestInterval, OfPreemptionsThatAreAnnouncedIsNever) {
  JobProcess c = process(1e5, 0);
  checkpoints(c, 1, 10);
  c.stops = {{1e-3, Seconds{60}, Seconds{120}}};
  // Beyond some thirty times the mean time between stops none ends, and all intervals are alike.
  EXPECT_GT(best_interval(c, Seconds{1}), Seconds{1.5e4});
}

// A job of n equal parts writes n - 1 checkpoints and takes (n - 1) (e^{L (W / n + C)} - 1) / L + (e^{L W / n} - 1) / L. The best n
// is found by trial.
TEST(BestInterval, OfAJobThatEndsLeavesEqualParts) {
  constexpr double kMtbf = 1000;
  for (const double work : {200.0, 1000.0, 3000.0, 8000.0}) {
    for (const double write : {10.0, 50.0, 200.0, 700.0}) {
      const auto mean = [&](int parts) {
        const double part = work / parts;
        return (parts - 1) * std::expm1((part + write) / kMtbf) + std::expm1(part / kMtbf);
      };
      int best = 1;
      for (int parts = 2; parts < 64 && work / parts >= 1; ++parts) {
        if (mean(parts) < mean(best)) best = parts;
      }
      JobProcess c = process(work, kMtbf);
      checkpoints(c, 1, write);
      const Seconds interval = best_interval(c, Seconds{1e-3});
      const int parts = interval == kForever ? 1 : static_cast<int>(std::lround(work / interval.value));
      EXPECT_EQ(parts, best) << work << " " << write;
    }
  }
}

// Without checkpoints, repair and restart: (e^{L W} - 1) / L.
TEST(JobsDrawn, AreAsLongAsRenewalTheorySays) {
  const Mean drawn = drawn_mean(process(1000, 800), 200'000);
  EXPECT_NEAR(drawn.value, std::expm1(1000 / 800.0) * 800, kErrors * drawn.error);
}

// With a recovery X after each stop: (e^{L W} - 1) (1 / L + X).
TEST(JobsDrawn, WithRepairsAndRestartsAreAsLongAsRenewalTheorySays) {
  JobProcess c = process(1000, 800);
  c.stops.front().repair = Seconds{100};
  c.restart = Seconds{50};
  // Waiting is the busy period of a queue of infinitely many servers, (e^{L D} - 1) / L; an attempt to restart lasts
  // (1 - e^{-L R}) / L and succeeds with e^{-L R}.
  const double wait = std::expm1(100 / 800.0) * 800, attempt = -std::expm1(-50 / 800.0) * 800;
  const double recovery = (wait + attempt) * std::exp(50 / 800.0);
  EXPECT_NEAR(mean_recovery(c).value, recovery, 1e-9);
  const Mean drawn = drawn_mean(c, 200'000);
  EXPECT_NEAR(drawn.value, std::expm1(1000 / 800.0) * (800 + recovery), kErrors * drawn.error);
}

// Daly's equation 20 for many segments: M e^{R / M} (e^{(tau + C) / M} - 1) W / tau.
TEST(JobsDrawn, WithCheckpointsAreAsLongAsDalySays) {
  JobProcess c = process(300 * 100, 1500);
  checkpoints(c, 300, 40);
  c.restart = Seconds{60};
  const double daly_length = 1500 * std::exp(60 / 1500.0) * std::expm1(340 / 1500.0) * 100;
  EXPECT_NEAR(mean_stretch(c) * c.work.value, daly_length, 1e-6 * daly_length);
  const Mean drawn = drawn_mean(c, 20'000);
  // After the last segment nothing is written: of 100 segments one lacks its pause.
  const double last = 1500 * std::exp(60 / 1500.0) * (std::expm1(340 / 1500.0) - std::expm1(300 / 1500.0));
  EXPECT_NEAR(drawn.value, daly_length - last, kErrors * drawn.error);
}

TEST(JobsDrawn, InTheBackgroundAreAsLongAsRenewalTheorySays) {
  JobProcess c = process(300 * 2000, 1500);
  c.interval = Seconds{300};
  c.pause = Seconds{5};
  c.write = Seconds{80};
  const double length = std::expm1(305 / 1500.0) * 1500 * std::exp(75 / 1500.0) * 2000;
  EXPECT_NEAR(mean_stretch(c) * c.work.value, length, 1e-9 * length);
  const Mean drawn = drawn_mean(c, 4000);
  // The first checkpoint is not behind another one's writing: less than a part in 2000.
  EXPECT_NEAR(drawn.value, length, kErrors * drawn.error + length / 2000);
}

TEST(JobsDrawn, WithAndWithoutNoticeAreAsLongAsRenewalTheorySays) {
  JobProcess c = process(300 * 2000, 1500);
  checkpoints(c, 300, 40);
  c.stops = {{1 / 1500.0, Seconds{0}, Seconds{0}}, {1 / 900.0, Seconds{0}, Seconds{60}}};
  const Mean drawn = drawn_mean(c, 4000);
  EXPECT_NEAR(drawn.value, mean_stretch(c) * c.work.value, kErrors * drawn.error + drawn.value / 2000);
}

// For work w after a checkpoint, with k of all stops L losing nothing: T(w) = (1 / k) ln((k e^{L w} + L - k) / L), which is w where
// all lose nothing, and (e^{L w} - 1) / L where all do.
TEST(JobsDrawn, WithCheckpointsUponNoticeAloneAreAsLongAsRenewalTheorySays) {
  JobProcess c = process(1000, 800);
  c.stops.push_back({1 / 600.0, Seconds{0}, Seconds{60}});
  EXPECT_NEAR(mean_stretch(c) * 1000, std::expm1(1000 * (1 / 800.0 + 1 / 600.0)) / (1 / 800.0 + 1 / 600.0), 1e-6);
  c.pause = c.write = Seconds{1e-9};
  const double all = 1 / 800.0 + 1 / 600.0;
  const double length = 600 * std::log((std::exp(all * 1000) / 600 + 1 / 800.0) / all);
  EXPECT_NEAR(mean_stretch(c) * 1000, length, 1e-6);
  const Mean drawn = drawn_mean(c, 200'000);
  EXPECT_NEAR(drawn.value, length, kErrors * drawn.error);
  // An interval as long as the work is no better than none.
  c.pause = c.write = Seconds{50};
  c.stops.front().rate = 1e-7;
  EXPECT_EQ(best_interval(c, Seconds{1}), kForever);
}

// Stops come 1 / 1500 per second of time at work: of two kinds, in the ratio of their rates.
TEST(JobsDrawn, WaitForEachKindOfStopByItsRate) {
  JobProcess c = process(1e6, 0);
  checkpoints(c, 100, 1);
  c.stops = {{1e-4, Seconds{10}, Seconds{0}}, {2e-4, Seconds{40}, Seconds{0}}};
  double waiting = 0, at_work = 0;
  for (const auto& job : draw_jobs(c, 2000, 3)) {
    waiting += job.parts.waiting.value;
    at_work += (job.parts.useful + job.parts.checkpoints + job.parts.lost).value;
  }
  // 1e-4 * 10 + 2e-4 * 40, and what stops again while it waits: some 1 %.
  EXPECT_NEAR(waiting / at_work, 0.009, 0.00015);
}

TEST(MeanStretch, FallsWithTheTimeBetweenFailuresAndGrowsWithTheCheckpoint) {
  double before = 1e300;
  for (double mtbf = 100; mtbf < 1e8; mtbf *= 1.7) {
    JobProcess c = process(1e6, mtbf);
    checkpoints(c, 60, 5);
    c.restart = Seconds{20};
    EXPECT_LT(mean_stretch(c), before);
    before = mean_stretch(c);
    c.pause = c.write = Seconds{6};
    EXPECT_GT(mean_stretch(c), before);
  }
}

}  // namespace
}  // namespace slmsim::renewal_test
