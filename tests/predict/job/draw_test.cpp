#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "sim/predict/job/job_process.h"
#include "sim/predict/job/pace.h"

namespace slmsim::draw_test {
namespace {

JobProcess plain(double startup, double work) {
  JobProcess out;
  out.startup = Seconds{startup};
  out.work = Seconds{work};
  out.plain = out.startup + out.work;
  return out;
}

JobProcess troubled() {
  JobProcess c = plain(60, 20'000);
  c.interval = Seconds{500};
  c.pause = c.write = Seconds{20};
  c.restart = Seconds{90};
  c.stops = {{1 / 3000.0, Seconds{200}, Seconds{0}}, {1 / 5000.0, Seconds{600}, Seconds{30}}};
  return c;
}

JobProcess replicas(int count, double mtbf, double repair) {
  JobProcess c = plain(0, 100'000);
  c.replicas = count;
  c.round = Seconds{100};
  for (int i = 0; i < count; ++i) c.stops.push_back({1 / mtbf, Seconds{repair}, Seconds{0}, {i}});
  return c;
}

double mean(const std::vector<DrawnJob>& jobs, Seconds JobParts::*part) {
  double sum = 0;
  for (const auto& job : jobs) sum += (job.parts.*part).value;
  return sum / static_cast<double>(jobs.size());
}
double mean_length(const std::vector<DrawnJob>& jobs) {
  double sum = 0;
  for (const auto& job : jobs) sum += job.length.value;
  return sum / static_cast<double>(jobs.size());
}

TEST(DrawnJobs, WithoutFailuresAndCheckpointsAreThePlainOneToTheBit) {
  JobProcess c = plain(0.1, 0.2);
  c.plain = Seconds{0.3};  // 0.1 + 0.2 is another number
  for (const auto& job : draw_jobs(c, 10, 5)) EXPECT_EQ(job.length, Seconds{0.3});
}

TEST(DrawnJobs, WithoutFailuresTakeTheTimeOfTheirCheckpoints) {
  JobProcess c = plain(7, 1000);
  c.interval = Seconds{100};
  c.pause = c.write = Seconds{3};
  // 10 intervals; behind the last one the job is at its end.
  const DrawnJob job = draw_jobs(c, 1, 1).front();
  EXPECT_DOUBLE_EQ(job.length.value, 7 + 1000 + 9 * 3);
  EXPECT_EQ(job.checkpoints, 9);
}

TEST(DrawnJobs, AddUp) {
  for (const JobProcess& c : {troubled(), replicas(4, 10'000, 500)}) {
    for (const auto& job : draw_jobs(c, 500, 11)) {
      EXPECT_NEAR(job.parts.total().value, job.length.value, 1e-9 * job.length.value);
      for (const Seconds part : {job.parts.startup, job.parts.useful, job.parts.checkpoints, job.parts.lost,
                                 job.parts.restarts, job.parts.waiting})
        EXPECT_GE(part.value, -1e-6);
      // All work is done, once.
      EXPECT_NEAR(job.parts.useful.value, c.work.value, 1e-6 * c.work.value);
    }
  }
}

TEST(DrawnJobs, AreTheSameForTheSameSeedAndOthersForAnother) {
  const auto a = draw_jobs(troubled(), 50, 1), b = draw_jobs(troubled(), 50, 1), c = draw_jobs(troubled(), 50, 2);
  int same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].length, b[i].length);
    same += a[i].length == c[i].length ? 1 : 0;
  }
  EXPECT_LT(same, 5);
  // The first ones of more jobs are the same ones.
  EXPECT_EQ(draw_jobs(troubled(), 60, 1)[49].length, a[49].length);
}

TEST(DrawnJobs, AreShorterTheRarerFailuresAre) {
  double before = 1e300;
  for (const double factor : {0.5, 1.0, 2.0, 4.0, 8.0, 100.0}) {
    JobProcess c = troubled();
    for (Stop& stop : c.stops) stop.rate /= factor;
    const double length = mean_length(draw_jobs(c, 4000, 1));
    EXPECT_LT(length, before);
    before = length;
  }
}

TEST(DrawnJobs, LoseNothingWhereTheNoticeIsLongEnoughForACheckpoint) {
  JobProcess c = plain(0, 10'000);
  c.interval = Seconds{1000};
  c.pause = c.write = Seconds{20};
  c.stops = {{1 / 2000.0, Seconds{100}, Seconds{20}}};
  EXPECT_EQ(mean(draw_jobs(c, 200, 1), &JobParts::lost), 0);
  c.stops.front().notice = Seconds{19};
  EXPECT_GT(mean(draw_jobs(c, 200, 1), &JobParts::lost), 0);
}

TEST(DrawnJobs, ThatNeverEndAreGivenUp) {
  JobProcess c = plain(0, 10'000);
  c.stops = {{1 / 10.0, Seconds{1}, Seconds{0}}};  // e^1000 attempts
  const DrawnJob job = draw_jobs(c, 1, 1).front();
  EXPECT_FALSE(job.ended);
  EXPECT_GT(job.length, c.plain * kLongestJob);
  c.stops = {{1 / 10.0, Seconds{1000}, Seconds{0}}};  // repairs that never end
  EXPECT_FALSE(draw_jobs(c, 1, 1).front().ended);
}

TEST(DrawnJobs, TellWhatEvaluationTakes) {
  JobProcess c = plain(0, 1100);
  c.evaluation = Seconds{100};
  const JobParts parts = draw_jobs(c, 1, 1).front().parts;
  EXPECT_DOUBLE_EQ(parts.evaluation.value, 100);
  EXPECT_DOUBLE_EQ(parts.useful.value, 1000);
}

// Each of n replicas is away a share D / (M + D) of the time, so that work goes at M / (M + D), where rounds are short.
TEST(Replicas, GoOnAtTheShareThatIsThere) {
  JobProcess c = replicas(4, 5000, 1000);
  c.round = Seconds{0.01};
  const double length = mean_length(draw_jobs(c, 400, 3));
  // That all four are away at once, one part in 1300 of the time, begins the job anew without checkpoints: there are some.
  JobProcess saved = c;
  saved.interval = Seconds{10};
  EXPECT_NEAR(mean_length(draw_jobs(saved, 400, 3)) / 100'000, 6000 / 5000.0, 0.01);
  EXPECT_GT(length, 1.2 * 100'000);
}

// A replica that stops at any time of a round of T loses T / 2 of it on average, and stays away until the next one.
TEST(Replicas, LoseTheirPartOfARound) {
  JobProcess c = replicas(2, 20'000, 0);
  c.interval = Seconds{100};  // that both are away at once costs little
  c.round = Seconds{100};
  double stops = 0;
  const auto jobs = draw_jobs(c, 3000, 3);
  for (const auto& job : jobs) stops += 2 * job.length.value / 20'000;
  stops /= static_cast<double>(jobs.size());
  EXPECT_NEAR(mean(jobs, &JobParts::lost), stops * 50 / 2, 0.03 * stops * 25);
  EXPECT_NEAR(mean(jobs, &JobParts::waiting), stops * 50 / 2, 0.03 * stops * 25);
}

TEST(Replicas, AreBetterThanAllStoppingWhereMoreAreLeft) {
  const auto goes_on = replicas(4, 5000, 1000);
  JobProcess stops = goes_on;
  stops.replicas = 1;
  for (JobProcess c : {goes_on, stops}) {
    c.interval = Seconds{300};
    c.pause = c.write = Seconds{10};
  }
  EXPECT_LT(mean_length(draw_jobs(goes_on, 300, 1)), mean_length(draw_jobs(stops, 300, 1)));
}

TEST(Replicas, WaitForALinkAndLoseNothing) {
  JobProcess c = replicas(2, 1e12, 0);
  c.stops = {{1 / 10'000.0, Seconds{500}, Seconds{0}, {}}};
  const auto jobs = draw_jobs(c, 2000, 1);
  EXPECT_EQ(mean(jobs, &JobParts::lost), 0);
  EXPECT_NEAR(mean(jobs, &JobParts::waiting), 10 * 500, 0.03 * 5000);
}

TEST(Pace, CountsWorkBetweenPauses) {
  JobProcess c;
  c.interval = Seconds{10};
  c.pause = c.write = Seconds{2};
  const Pace pace(c);
  EXPECT_EQ(pace.working(0, 10), 10);
  EXPECT_EQ(pace.working(0, 12), 10);
  EXPECT_EQ(pace.working(0, 13), 11);
  EXPECT_EQ(pace.working(9, 4), 2);
  EXPECT_EQ(pace.checkpoints(9, 3), 1);
  EXPECT_EQ(pace.time_of(0, 0, 10), 10);
  EXPECT_EQ(pace.time_of(0, 0, 11), 13);
  EXPECT_EQ(pace.time_of(0, 0, 20), 22);
  EXPECT_EQ(pace.time_of(0, 9, 1), 1);
  EXPECT_EQ(pace.time_of(0, 9, 2), 4);
  EXPECT_EQ(pace.time_of(0, 11, 1), 2);
  for (double phase = 0; phase < 12; phase += 0.7) {
    for (double work = 0.3; work < 60; work += 1.3)
      EXPECT_NEAR(pace.work(0, phase, pace.time_of(0, phase, work)), work, 1e-9);
  }
}

// Half the speed from 12 h on: 0.75 days of work in a day.
TEST(Pace, GoesByTheHour) {
  JobProcess c;
  c.day = {{Seconds{0}, 1}, {Seconds{43'200}, 0.5}};
  const Pace pace(c);
  EXPECT_DOUBLE_EQ(pace.work(0, 0, 86'400), 64'800);
  EXPECT_DOUBLE_EQ(pace.work(43'200, 0, 86'400), 64'800);
  EXPECT_NEAR(pace.time_of(0, 0, 64'800 * 3 + 100), 3 * 86'400 + 100, 1e-3);
  // An iteration of an hour that begins half an hour before noon ends an hour later: 1800 s and 1800 s / 0.5.
  EXPECT_NEAR(pace.time_of(41'400, 0, 3600), 1800 + 3600, 1e-3);
}

// 0.04 of the work, between 0.9 and 1.1: of 4000 jobs the mean within four standard errors.
TEST(DrawnJobs, ScatterAsTheirIterationsDo) {
  JobProcess c = plain(0, 1000);
  c.scatter = 0.04;
  c.shortest = 0.9;
  c.longest = 1.1;
  const auto jobs = draw_jobs(c, 4000, 2);
  EXPECT_NEAR(mean_length(jobs), 1000, 4 * 40 / std::sqrt(4000.0));
  for (const auto& job : jobs) {
    EXPECT_GE(job.length.value, 900 - 1e-9);
    EXPECT_LE(job.length.value, 1100 + 1e-9);
  }
}

// Each of two draws makes half of the jobs; one that is slow is slow in all its iterations, and its checkpoints lie farther
// apart.
TEST(DrawnJobs, MayBeSlowFromBeginningToEnd) {
  JobProcess c = plain(0, 1000);
  c.whole_jobs = {0.8, 1.2};
  c.interval = Seconds{100};
  c.pause = c.write = Seconds{1};
  int slow = 0;
  for (const auto& job : draw_jobs(c, 2000, 2)) {
    EXPECT_EQ(job.checkpoints, 9);
    const bool is_slow = job.length > Seconds{1000};
    EXPECT_NEAR(job.length.value, (is_slow ? 1200 : 800) + 9, 1e-9);
    slow += is_slow ? 1 : 0;
  }
  EXPECT_NEAR(slow, 1000, 4 * std::sqrt(500.0));
}

TEST(DrawnJobs, TellWhatWaitingForDataTakes) {
  JobProcess c = plain(0, 1000);
  c.loading = Seconds{250};
  const JobParts parts = draw_jobs(c, 1, 1).front().parts;
  EXPECT_DOUBLE_EQ(parts.loading.value, 250);
  EXPECT_DOUBLE_EQ(parts.useful.value, 750);
}

}  // namespace
}  // namespace slmsim::draw_test
