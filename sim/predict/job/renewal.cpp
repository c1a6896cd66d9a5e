#include "sim/predict/job/renewal.h"

#include <algorithm>
#include <cmath>

namespace slmsim {
namespace {

// Time at work and in pauses per second of kept work.
double time_per_work(const JobProcess& process) {
  double lossy = 0, kept = 0;
  for (const Stop& stop : process.stops) (loses_nothing(stop, process) ? kept : lossy) += stop.rate;
  const double all = lossy + kept;
  if (!process.has_checkpoints()) {
    const double work = process.work.value;
    if (lossy == 0 || work <= 0) return 1;
    if (kept == 0) return std::expm1(lossy * work) / (lossy * work);
    // T' = L e^(L w) / (k e^(L w) + L - k) for work w, of which stops at a rate of k of all L lose nothing; divided by e^(L w).
    return (all * work + std::log((kept + lossy * std::exp(-all * work)) / all)) / (kept * work);
  }
  const double interval = process.interval.value, pause = process.pause.value, period = interval + pause;
  if (all == 0) return period / interval;
  if (process.write > process.pause) {
    const double behind = process.write.value - pause;
    return lossy == 0 ? period / interval : std::expm1(lossy * period) * std::exp(lossy * behind) / (lossy * interval);
  }
  // Renewals are readable checkpoints and stops; `time` is the part until the next one that is kept. A stop announced early
  // enough keeps all work.
  const double time = -std::expm1(-all * period) / all;
  const double at_once = -std::expm1(-all * interval) / all;  // mean of the smaller of a stop and the interval
  const double in_interval = at_once - interval * std::exp(-all * interval);
  const double in_pause = interval * (std::exp(-all * interval) - std::exp(-all * period));
  return time / (interval * std::exp(-all * period) + kept / all * (in_interval + in_pause));
}

// Time at work and in pauses of the whole job: none follows its last stretch of work with a checkpoint.
double time_of_job(JobProcess process) {
  const double work = process.work.value;
  const double written = process.interval < process.work ? std::ceil(work / process.interval.value) - 1 : 0;
  const double before = written > 0 ? written * process.interval.value : 0;
  const double kept = written > 0 ? before * time_per_work(process) : 0;
  process.work = Seconds{work - before};
  process.interval = kForever;
  return kept + process.work.value * time_per_work(process);
}

double mean_repair(const JobProcess& process) {
  double sum = 0;
  for (const Stop& stop : process.stops) sum += stop.rate * stop.repair.value;
  return sum;
}

}  // namespace

Seconds mean_recovery(const JobProcess& process) {
  const double rate = process.stop_rate();
  if (rate == 0) return Seconds{0};
  const double repair = mean_repair(process) / rate, restart = process.restart.value;
  const double wait = std::expm1(rate * repair) / rate, attempt = -std::expm1(-rate * restart) / rate;
  return Seconds{(wait + attempt) * std::exp(rate * restart)};
}

double mean_stretch(const JobProcess& process) {
  double extra = process.stop_rate() * mean_recovery(process).value;
  for (const Stop& stop : process.stops) {
    if (loses_nothing(stop, process)) extra += stop.rate * process.write.value;
  }
  return time_per_work(process) * (1 + extra);
}

Seconds best_interval(const JobProcess& process, Seconds least) {
  JobProcess tried = process;
  const auto stretch = [&](double interval) {
    tried.interval = Seconds{interval};
    return time_per_work(tried);
  };
  const double shortest = std::max({least.value, process.write.value - process.pause.value, 1e-9});
  if (process.stop_rate() == 0 || shortest >= process.work.value) return kForever;
  // Golden-section search over the logarithm: there is one minimum.
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double low = std::log(shortest), high = std::log(process.work.value);
  constexpr double kClose = 1e-7;
  while (high - low > kClose) {
    const double width = (high - low) * ratio;
    if (stretch(std::exp(high - width)) <= stretch(std::exp(low + width))) {
      high = low + width;
    } else {
      low = high - width;
    }
  }
  const double best = std::exp((low + high) / 2);
  const double below = std::max(std::ceil(shortest / least.value), std::floor(best / least.value)) * least.value;
  const Seconds endless{stretch(below) <= stretch(below + least.value) ? below : below + least.value};
  // A job that ends writes a whole number of checkpoints, of which few matter.
  constexpr double kFew = 64;
  const double most = std::ceil(process.work / endless) + 1;
  tried.interval = kForever;
  Seconds out = kForever;
  double shortest_job = time_of_job(tried);
  for (double parts = 2; parts <= std::min(most, kFew); ++parts) {
    tried.interval = least * std::max(std::ceil(process.work / parts / least), std::ceil(shortest / least.value));
    if (const double time = time_of_job(tried); time < shortest_job) shortest_job = time, out = tried.interval;
  }
  tried.interval = endless;
  return most > kFew && time_of_job(tried) < shortest_job ? endless : out;
}

Seconds best_drawn_interval(const JobProcess& process, int count, std::uint64_t seed) {
  JobProcess tried = process;
  const auto mean_length = [&](Seconds interval) {
    tried.interval = interval;
    double sum = 0;
    for (const DrawnJob& job : draw_jobs(tried, count, seed)) sum += job.ended ? job.length.value : kForever.value;
    return sum;
  };
  Seconds best = kForever;
  double least = mean_length(best);
  constexpr double kStep = 1.2;
  const double shortest = std::max(1.0, std::ceil((process.write - process.pause) / process.round));
  for (double rounds = shortest; process.round * rounds < process.work;
       rounds = std::max(rounds + 1, std::floor(rounds * kStep))) {
    const double length = mean_length(process.round * rounds);
    if (length < least) least = length, best = process.round * rounds;
  }
  return best;
}

}  // namespace slmsim
