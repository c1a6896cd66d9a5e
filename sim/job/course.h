// How a job may go: its iterations as one stretch of work, the checkpoints that interrupt it, and what stops it. Enough to draw
// jobs at random and to compute their mean; everything in it is simulated or stated, none of it a factor.
//
// Work is counted in seconds of undisturbed training. Stops are Poisson processes whose rates hold at every time; after a stop
// the job waits until all that failed is repaired, also what fails while it waits, then restarts and reads the last
// checkpoint. Restarting and reading may be stopped again. The start-up is not.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/unit.h"

namespace slmsim {

inline constexpr Seconds kForever{std::numeric_limits<double>::infinity()};

// One kind of part that fails, of all such parts of the group together.
struct Stop {
  double rate = 0;  // per second
  Seconds repair;
  Seconds notice;  // announced so long before
  std::vector<int> replicas =
      {};  // that it takes, where replicas go on without each other; empty: all wait and none is lost
};

// From a time of the day on work goes at so many times its undisturbed rate. What was under way at that time takes so much more
// work than its shares at the rate before and at this one; the first hour's comes at midnights.
struct Hour {
  Seconds from;
  double speed = 1;
  Seconds excess = {};  // of work
};

struct Course {
  Seconds startup;
  Seconds work;                 // of all iterations on the mean, evaluation and waiting for data among it
  Seconds evaluation, loading;  // of that
  Seconds plain;                // start-up and iterations, as predicted without all of this
  Seconds interval = kForever;  // of work between two checkpoints; kForever: none are written
  Seconds pause;                // how long each keeps the work waiting
  Seconds write;                // from its beginning until it can be read; not less than the pause
  Seconds restart;              // from the last repair to the first iteration, with reading a checkpoint
  std::vector<Stop> stops;
  int replicas = 1;       // more than 1: those that are left go on
  Seconds round;          // of these, from one exchange to the next
  std::vector<Hour> day;  // empty: every hour is alike; else by time, the first from 0 on, each day the same
  // Where iterations scatter: the standard deviation of their sum over the work, and between what it lies for certain; or,
  // where a job is slow from its beginning to its end, the shares of its work's mean of which each job draws one.
  double scatter = 0, shortest = 1, longest = 1;
  std::vector<double> whole_jobs;

  // Whether a job that nothing stops is as predicted.
  bool is_plain() const {
    return evaluation == Seconds{0} && loading == Seconds{0} && day.empty() && scatter == 0 && whole_jobs.empty();
  }
  bool has_checkpoints() const { return interval < kForever; }
  double stop_rate() const;
};

// What a preemption costs is no work where its notice is long enough for a checkpoint.
bool loses_nothing(const Stop& stop, const Course& course);

// Where the time of a job went. Adds up to its length.
struct JobParts {
  Seconds startup, useful, evaluation, checkpoints;
  Seconds loading;   // waiting for training data
  Seconds lost;      // work that was done again, and unfinished checkpoints
  Seconds restarts;  // and reading checkpoints, also what was stopped again
  Seconds waiting;   // for repairs; of replicas that others go on without, their share of the time until they are back

  Seconds total() const { return startup + useful + evaluation + checkpoints + loading + lost + restarts + waiting; }
};

// Its parts with their names, in the order in which they are told.
struct JobPart {
  const char* name;
  Seconds JobParts::*time;
};
inline constexpr JobPart kJobParts[] = {{"useful", &JobParts::useful},   {"checkpoints", &JobParts::checkpoints},
                                        {"lost", &JobParts::lost},       {"restarts", &JobParts::restarts},
                                        {"waiting", &JobParts::waiting}, {"evaluation", &JobParts::evaluation},
                                        {"startup", &JobParts::startup}, {"loading", &JobParts::loading}};

struct DrawnJob {
  JobParts parts;
  Seconds length;
  bool ended = true;  // false: given up after kLongestJob times the plain length
  double checkpoints = 0;
};
inline constexpr double kLongestJob = 100;

// So many jobs, the same for the same seed. Drawing the k-th begins with (seed, k), so that courses that differ little are
// drawn alike.
std::vector<DrawnJob> draw_jobs(const Course& course, int count, std::uint64_t seed);

}  // namespace slmsim
