#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/base/hash.h"
#include "sim/predict/job/job_process.h"
#include "sim/predict/job/pace.h"

namespace slmsim {
namespace {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t number)
      : bits_(SplitMix64::mixed(seed + 1) ^ SplitMix64::mixed(number * SplitMix64::kStep + seed)) {}

  double exponential(double rate) {
    if (rate <= 0) return kForever.value;
    constexpr double kLowest = 0x1p-54;  // middle of the lowest of 2^53 intervals, so that none is 0
    return -std::log(uniform() + kLowest) / rate;
  }
  double uniform() { return static_cast<double>(bits_.next53()) * 0x1p-53; }
  double normal() {
    constexpr double kLowest = 0x1p-54;
    const double radius = std::sqrt(-2 * std::log(uniform() + kLowest));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  SplitMix64 bits_;
};

class JobDraw {
 public:
  JobDraw(const JobProcess& process, const Pace& pace, Random random)
      : process_(process), pace_(pace), random_(random), rate_(process.stop_rate()) {}

  // The job's own process: its work is drawn where iterations scatter.
  static JobProcess process_of_job(const JobProcess& process, Random& random) {
    JobProcess out = process;
    double factor = 1;
    if (!process.whole_jobs.empty()) {
      const auto count = static_cast<double>(process.whole_jobs.size());
      factor = process.whole_jobs[static_cast<std::size_t>(random.uniform() * count)];
      out.interval = process.interval * factor;
      out.round = process.round * factor;
    } else {
      factor = std::clamp(1 + process.scatter * random.normal(), process.shortest, process.longest);
    }
    out.work = process.work * factor;
    out.evaluation = process.evaluation * factor;
    out.loading = process.loading * factor;
    return out;
  }

  DrawnJob draw() {
    part(&JobParts::startup, process_.startup.value);
    if (process_.replicas > 1) {
      draw_replicas();
    } else {
      draw_restarting();
    }
    finish();
    return job_;
  }

 private:
  // Adds time to a part of the job.
  void part(Seconds JobParts::*which, double time) {
    job_.parts.*which += Seconds{time};
    now_ += time;
  }
  bool is_too_long() { return now_ > kLongestJob * process_.plain.value; }

  const Stop& which_stop() {
    double left = random_.uniform() * rate_;
    for (const Stop& stop : process_.stops) {
      left -= stop.rate;
      if (left < 0) return stop;
    }
    return process_.stops.back();
  }

  void draw_restarting() {
    const double work = process_.work.value;
    for (double done = 0; !is_too_long();) {
      const double needed = pace_.time_of(now_, 0, work - done), until_stop = random_.exponential(rate_);
      if (until_stop >= needed) {
        job_.checkpoints += pace_.checkpoints(0, needed);
        return run(needed, pace_.working(0, needed));
      }
      disturbed_ = true;
      const Stop& stop = which_stop();
      if (loses_nothing(stop, process_)) {
        done += pace_.work(now_, 0, until_stop);
        job_.checkpoints += pace_.checkpoints(0, until_stop) + 1;
        run(until_stop, pace_.working(0, until_stop));
        part(&JobParts::checkpoints, process_.write.value);
      } else {
        const double saved = saved_in(until_stop), time = saved == 0 ? 0 : saved * pace_.period();
        done += pace_.work(now_, 0, time);
        job_.checkpoints += saved;
        run(time, pace_.working(0, time));
        part(&JobParts::lost, until_stop - time);
      }
      recover(stop.repair.value);
    }
    job_.ended = false;
  }

  // Number of checkpoints that can be read this long after work began.
  double saved_in(double time) const {
    if (!process_.has_checkpoints()) return 0;
    return std::max(0.0, std::floor((time - process_.write.value + process_.pause.value) / pace_.period()));
  }

  void run(double time, double at_work) {
    part(&JobParts::useful, at_work);
    part(&JobParts::checkpoints, time - at_work);
  }

  void recover(double repair) {
    while (!is_too_long()) {
      for (double left = repair; !is_too_long();) {
        const double next = random_.exponential(rate_);
        part(&JobParts::waiting, std::min(left, next));
        if (next >= left) break;
        left = std::max(left - next, which_stop().repair.value);
      }
      const double next = random_.exponential(rate_);
      part(&JobParts::restarts, std::min(process_.restart.value, next));
      if (next >= process_.restart.value) return;
      repair = which_stop().repair.value;
    }
  }

  void draw_replicas() {
    std::vector<double> back(static_cast<std::size_t>(process_.replicas), 0);  // time at which each is back
    double done = 0, saved = 0;                                                // work, and the part in checkpoints
    double since_saved = 0, phase = 0;  // useful time since the last checkpoint, and all time since the last pause
    while (!is_too_long()) {
      double next_back = kForever.value;
      int there = 0;
      for (const double time : back) {
        if (time <= now_) ++there;
        if (time > now_) next_back = std::min(next_back, time);
      }
      if (there == 0) {
        job_.parts.useful -= Seconds{since_saved};
        job_.parts.lost += Seconds{since_saved};
        part(&JobParts::waiting, next_back - now_);
        done = saved;
        since_saved = phase = 0;
        continue;
      }
      const double share = there / static_cast<double>(process_.replicas);
      const double needed = pace_.time_of(now_, phase, (process_.work.value - done) / share);
      const double until_stop = random_.exponential(rate_);
      const double time = std::min({needed, until_stop, next_back - now_});
      const double at_work = pace_.working(phase, time), count = pace_.checkpoints(phase, time);
      if (count > 0) {
        const double to_last = count * pace_.period() - phase;
        saved = done + pace_.work(now_, phase, to_last) * share;
        since_saved = pace_.working(0, time - to_last) * share;
      } else {
        since_saved += at_work * share;
      }
      job_.checkpoints += count;
      done += pace_.work(now_, phase, time) * share;
      job_.parts.useful += Seconds{at_work * share};
      job_.parts.waiting += Seconds{at_work * (1 - share)};
      job_.parts.checkpoints += Seconds{time - at_work};
      now_ = time == next_back - now_ ? next_back : now_ + time;
      phase = process_.has_checkpoints() ? std::fmod(phase + time, pace_.period()) : phase + time;
      if (time == needed) return;
      disturbed_ = true;
      if (time == until_stop) lose_replicas(which_stop(), back, done, since_saved, phase);
    }
    job_.ended = false;
  }

  // Their part of the current round is lost; they rejoin where another round begins.
  void lose_replicas(const Stop& stop, std::vector<double>& back, double& done, double& since_saved, double phase) {
    if (stop.replicas.empty()) return part(&JobParts::waiting, stop.repair.value);
    const double round = process_.round.value;
    const double in_round = round > 0 ? std::fmod(std::min(phase, process_.interval.value), round) : 0;
    for (const int replica : stop.replicas) {
      double& when = back[replica];
      if (when > now_) continue;
      const double away = stop.repair.value + process_.restart.value + in_round;
      when = now_ - in_round + (round > 0 ? std::ceil(away / round) * round : away);
      const double lost = std::min(in_round / process_.replicas, since_saved);
      job_.parts.useful -= Seconds{lost};
      job_.parts.lost += Seconds{lost};
      since_saved -= lost;
      done -= lost;
    }
  }

  void finish() {
    JobParts& parts = job_.parts;
    // Evaluation and waiting for data have their shares of the time at work.
    if (process_.work > Seconds{0}) {
      parts.evaluation = parts.useful * (process_.evaluation / process_.work);
      parts.loading = parts.useful * (process_.loading / process_.work);
      parts.useful -= parts.evaluation + parts.loading;
    }
    const bool as_predicted = !disturbed_ && job_.checkpoints == 0 && process_.is_plain();
    job_.length = as_predicted ? process_.plain : parts.total();
  }

  const JobProcess& process_;
  const Pace& pace_;
  Random random_;
  double rate_, now_ = 0;
  bool disturbed_ = false;
  DrawnJob job_;
};

}  // namespace

double JobProcess::stop_rate() const {
  double rate = 0;
  for (const Stop& stop : stops) rate += stop.rate;
  return rate;
}

bool loses_nothing(const Stop& stop, const JobProcess& process) {
  return process.write > Seconds{0} && stop.notice >= process.write;
}

std::vector<DrawnJob> draw_jobs(const JobProcess& process, int count, std::uint64_t seed) {
  const Pace pace(process);
  std::vector<DrawnJob> out;
  out.reserve(static_cast<std::size_t>(count));
  const bool alike = process.whole_jobs.empty() && process.scatter == 0;
  for (int i = 0; i < count; ++i) {
    Random random(seed, static_cast<std::uint64_t>(i));
    if (alike) {
      out.push_back(JobDraw(process, pace, random).draw());
      continue;
    }
    const JobProcess own = JobDraw::process_of_job(process, random);
    out.push_back(JobDraw(own, Pace(own), random).draw());
  }
  return out;
}

}  // namespace slmsim
