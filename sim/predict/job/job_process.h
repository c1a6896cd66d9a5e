// A job as a process: its iterations as one stretch of work, checkpoints that interrupt it, and failures. Jobs are drawn
// from it at random, and their mean is computed from it; every value is simulated or stated, none is a tuned factor.
//
// Work is counted in seconds of undisturbed training. Stops are Poisson processes with constant rates; after a stop the job
// waits until all failed parts are repaired, including those that fail meanwhile, then restarts and reads the last checkpoint.
// Restarting and reading may be interrupted again; the start-up may not.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/unit.h"

namespace slmsim {

inline constexpr Seconds kForever{std::numeric_limits<double>::infinity()};

// One kind of failing part, for all such parts of the group together.
struct Stop {
  double rate = 0;  // per second
  Seconds repair;
  Seconds notice;  // announced this long before
  std::vector<int> replicas =
      {};  // replicas that it stops, where replicas continue without each other; empty: all wait and none is lost
};

// From a time of the day on, work proceeds at `speed` times its undisturbed rate.
struct Hour {
  Seconds from;
  double speed = 1;
};

struct JobProcess {
  Seconds startup;
  Seconds work;                 // mean of all iterations, including evaluation and waiting for data
  Seconds evaluation, loading;  // parts of `work`
  Seconds plain;                // start-up and iterations, as predicted without failures, checkpoints and scatter
  Seconds interval = kForever;  // of work between two checkpoints; kForever: none are written
  Seconds pause;                // time that each keeps the work waiting
  Seconds write;                // from its beginning until it can be read; at least the pause
  Seconds restart;              // from the last repair to the first iteration, including reading a checkpoint
  std::vector<Stop> stops;
  int replicas = 1;       // above 1: the remaining ones continue
  Seconds round;          // of replicas, from one exchange to the next
  std::vector<Hour> day;  // empty: every hour is alike; else by time, the first from 0 on, the same each day
  // Where iterations scatter: the standard deviation of their sum over the work, with that of the mean of the few that were drawn,
  // and certain bounds; or, where a job is slow throughout, the shares of the mean work of which each job draws one.
  double scatter = 0, shortest = 1, longest = 1;
  std::vector<double> whole_jobs;

  // Whether a job without stops takes the predicted time.
  bool is_plain() const {
    return evaluation == Seconds{0} && loading == Seconds{0} && day.empty() && scatter == 0 && whole_jobs.empty();
  }
  bool has_checkpoints() const { return interval < kForever; }
  double stop_rate() const;
};

// A preemption loses no work where its notice is long enough for a checkpoint, also in a job that writes no other.
bool loses_nothing(const Stop& stop, const JobProcess& process);

// Parts of a job's time; they add up to its length.
struct JobParts {
  Seconds startup, useful, evaluation, checkpoints;
  Seconds loading;   // waiting for training data
  Seconds lost;      // repeated work, and unfinished checkpoints
  Seconds restarts;  // and reading checkpoints, including interrupted attempts
  Seconds waiting;   // for repairs; for replicas that others continue without, their share of the absence

  Seconds total() const { return startup + useful + evaluation + checkpoints + loading + lost + restarts + waiting; }
};

// The parts with their names, in the order of output.
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

// Draws `count` jobs, the same for the same seed. The k-th draw begins with (seed, k), so that courses that differ little are
// drawn alike.
std::vector<DrawnJob> draw_jobs(const JobProcess& process, int count, std::uint64_t seed);

}  // namespace slmsim
