#include "sim/predict/job/outcome.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/compute/operator_graph.h"
#include "sim/platform/wan_route.h"
#include "sim/predict/job/renewal.h"
#include "sim/scenario/scenario.h"

namespace slmsim {
namespace {

constexpr double kSecondsOfDay = 86400, kGigabyte = 1e9, kGramsPerKilogram = 1000;

const std::optional<FailureRules>& rules_of(const JobRules& job, Failure what) {
  return job.failures[static_cast<std::size_t>(what)];
}

// Replica of each GPU: its number for techniques whose replicas continue without each other, else 0.
std::map<int, int> replicas_of(const Plan& plan) {
  std::map<int, int> out;
  const auto* round = std::get_if<RoundPlan>(&plan.by);
  const bool goes_on = round && plan.technique->after_failure == AfterFailure::kGoOn;
  const auto& mesh = plan.stages.front().mesh;
  if (!goes_on) {
    for (const int device : devices_of(plan)) out[device] = 0;
    return out;
  }
  for (std::size_t rank = 0; rank < mesh.size(); ++rank) out[mesh[rank]] = static_cast<int>(rank) / round->gpus;
  return out;
}

class Stops {
 public:
  Stops(const Platform& platform, const JobRules& job, const std::map<int, int>& replicas)
      : platform_(platform), job_(job), replicas_(replicas) {
    for (const auto& [device, replica] : replicas) {
      const int vm = platform.devices[device].vm;
      by_vm_[vm].insert(replica);
      by_site_[platform.vms[vm].site].insert(replica);
    }
  }

  std::vector<Stop> list() {
    for (const auto& [device, replica] : replicas_) add(Failure::kGpu, {replica});
    for (const auto& [vm, replicas] : by_vm_) add(Failure::kVm, replicas);
    for (const auto& [vm, replicas] : by_vm_) add(Failure::kPreemption, replicas);
    for (const auto& [site, replicas] : by_site_) add(Failure::kSite, replicas);
    for (std::size_t used = links_between_sites().size(); used > 0; --used) add(Failure::kLink, {});
    return std::move(stops_);
  }

 private:
  // Links on the routes between any two of the group's sites, also through other sites.
  std::set<int> links_between_sites() const {
    const WanRoutes routes(platform_);
    std::set<int> out;
    for (const auto& from : by_site_) {
      for (const auto& to : by_site_) {
        if (from.first == to.first) continue;
        for (const WanHop& hop : routes.between(from.first, to.first)) out.insert(hop.link);
      }
    }
    return out;
  }

  // Parts with the same effect on the job are merged.
  void add(Failure what, const std::set<int>& replicas) {
    const auto& rules = rules_of(job_, what);
    if (!rules) return;
    Stop stop{1 / rules->mtbf.value, rules->repair, rules->notice, {replicas.begin(), replicas.end()}};
    const auto same = std::find_if(stops_.begin(), stops_.end(), [&](const Stop& other) {
      return other.repair == stop.repair && other.notice == stop.notice && other.replicas == stop.replicas;
    });
    if (same == stops_.end()) {
      stops_.push_back(std::move(stop));
    } else {
      same->rate += stop.rate;
    }
  }

  const Platform& platform_;
  const JobRules& job_;
  const std::map<int, int>& replicas_;
  std::map<int, std::set<int>> by_vm_, by_site_;
  std::vector<Stop> stops_;
};

double bytes_between_sites(const Platform& platform, const Prediction& prediction) {
  double out = 0;
  for (const LinkUse& use : prediction.links) {
    for (const WanLink& link : platform.links) {
      if (use.link.starts_with(link.name + ":")) out += use.bytes.value;
    }
  }
  return out;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1), below = std::floor(place);
  const double first = sorted[static_cast<std::size_t>(below)];
  if (place == below) return first;
  return first + (sorted[static_cast<std::size_t>(below) + 1] - first) * (place - below);
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.5), quantile(values, 0.1), quantile(values, 0.9)};
}

double billed(double length, const JobRules& job) {
  return job.billed ? std::ceil(length / job.billed->value) * job.billed->value : length;
}

// Money, energy and carbon of each job drawn.
void add_bills(const Scenario& scenario, const Prediction& p, const std::vector<DrawnJob>& jobs, JobOutcome& out) {
  const JobRules& job = *scenario.job;
  const double per_second = p.bill.cost ? *p.bill.cost / p.job.value : 0;
  double bytes = job.egress_per_gigabyte ? bytes_between_sites(scenario.platform, p) : 0;  // per iteration
  // A last, shorter round exchanges as much as a full one.
  if (p.round && p.iterations > 0)
    bytes *= (p.round->count + (p.round->rest > 0 ? 1 : 0)) * p.round->steps / p.iterations;
  if (out.iterations) bytes += out.iterations->data_between_sites.value / p.plan->workload.steps;
  std::vector<double> costs, joules;
  for (const DrawnJob& drawn : jobs) {
    const double length = drawn.ended ? drawn.length.value : kForever.value;
    // Lost work is repeated.
    const JobParts& parts = drawn.parts;
    const Seconds kept = parts.useful + parts.evaluation + parts.loading;
    const double trained = kept > Seconds{0} ? p.iterations * (1 + parts.lost / kept) : 0;
    const double written = out.checkpoint ? drawn.checkpoints * out.checkpoint->egress.value : 0;
    costs.push_back(per_second * billed(length, job) +
                    job.egress_per_gigabyte.value_or(0) * (trained * bytes + written) / kGigabyte);
    if (p.bill.energy) joules.push_back(p.bill.energy->value / p.job.value * length * job.pue.value_or(1));
  }
  out.currency = p.bill.currency;
  if (p.bill.cost) out.cost = spread_of(std::move(costs));
  if (joules.empty()) return;
  out.energy = spread_of(std::move(joules));
  if (!job.grams_per_kwh) return;
  const double kg = *job.grams_per_kwh / kJoulesPerKwh / kGramsPerKilogram;
  out.carbon = Spread{out.energy->median * kg, out.energy->low * kg, out.energy->high * kg};
}

}  // namespace

namespace {

// Time of all optimizer steps at the steady rate.
Seconds steady_work(const Prediction& p) {
  return p.round ? p.round->time * p.round->count + p.round->rest_time : p.iteration * p.iterations;
}

void take_iterations(const JobIterations& iterations, const Prediction& p, JobProcess& out) {
  const double longer = iterations.mean / iterations.predicted;
  out.work = std::max(out.work, steady_work(p)) * longer;
  out.round = out.round * longer;
  out.loading = out.work * (iterations.loading / iterations.mean);
  out.day = iterations.day;
  out.whole_jobs = iterations.whole_jobs;
  out.shortest = iterations.shortest;
  out.longest = iterations.longest;
  const double count = std::max(1.0, out.work / out.round);
  // With links over the day, jobs consist of the means of each state.
  if (out.whole_jobs.empty() && out.day.empty())
    out.scatter = std::hypot(iterations.sd / iterations.mean.value / std::sqrt(count), iterations.error);
}

}  // namespace

JobProcess process_of(const Scenario& scenario, const Prediction& p, const std::optional<CheckpointTimes>& checkpoint,
                      const std::optional<JobIterations>& iterations) {
  const JobRules& job = *scenario.job;
  JobProcess out;
  out.startup = p.startup;
  out.plain = p.job;
  if (job.evaluation_every > 0)
    out.evaluation = job.evaluation * std::floor(p.iterations / static_cast<double>(job.evaluation_every));
  out.work = p.job - p.startup;
  out.round = p.round ? p.round->time : p.iteration;
  if (iterations) take_iterations(*iterations, p, out);
  out.work += out.evaluation;
  const auto replicas = replicas_of(*p.plan);
  for (const auto& [device, replica] : replicas) out.replicas = std::max(out.replicas, replica + 1);
  out.stops = Stops(scenario.platform, job, replicas).list();
  out.restart = job.restart.value_or(p.startup);
  if (!checkpoint) return out;
  out.pause = checkpoint->pause;
  out.write = checkpoint->write;
  out.restart += checkpoint->read;
  if (const auto& interval = job.checkpoint->interval) {
    const double least = std::max(*interval, out.write - out.pause) / out.round;
    out.interval = out.round * std::max(1.0, std::ceil(least * (1 - 1e-12)));
  } else {
    constexpr int kDrawn = 200;
    out.interval = out.replicas > 1
                       ? best_drawn_interval(out, std::min(job.samples, kDrawn), static_cast<std::uint64_t>(job.seed))
                       : best_interval(out, out.round);
  }
  return out;
}

std::optional<JobOutcome> outcome_of(const Scenario& scenario, const Prediction& p) {
  if (!scenario.job || !p.is_timed() || !p.plan) return std::nullopt;
  const JobRules& job = *scenario.job;
  JobOutcome out;
  out.samples = job.samples;
  out.seed = job.seed;
  if (job.checkpoint) {
    const OperatorGraph operators = build_operator_graph(model_named(scenario, p.model));
    const auto bytes = checkpoint_bytes(scenario, p, operators);
    out.checkpoint = checkpoint_times(scenario, *job.checkpoint, bytes);
  }
  out.iterations = iterations_of_job(scenario, p);
  const JobProcess process = process_of(scenario, p, out.checkpoint, out.iterations);
  if (process.has_checkpoints()) out.interval = process.interval;
  out.stops_per_day = process.stop_rate() * kSecondsOfDay;
  const auto jobs = draw_jobs(process, job.samples, static_cast<std::uint64_t>(job.seed));
  std::vector<double> lengths;
  double ended = 0, in_time = 0;
  for (const DrawnJob& drawn : jobs) {
    ended += drawn.ended ? 1 : 0;
    in_time += drawn.ended && job.lease && drawn.length <= *job.lease ? 1 : 0;
    lengths.push_back(drawn.ended ? drawn.length.value : kForever.value);
    for (const auto& [name, part] : kJobParts) out.mean.*part += drawn.parts.*part / job.samples;
    out.checkpoints += drawn.checkpoints / job.samples;
  }
  std::sort(lengths.begin(), lengths.end());
  for (int i = 0; i <= kQuantileSteps; ++i)
    out.quantiles.push_back(quantile(lengths, static_cast<double>(i) / kQuantileSteps));
  out.length = spread_of(std::move(lengths));
  out.ended = ended / job.samples;
  if (job.lease) out.before_lease = in_time / job.samples;
  out.goodput = out.mean.useful / out.mean.total();
  add_bills(scenario, p, jobs, out);
  return out;
}

std::vector<std::optional<JobOutcome>> outcomes_of(const Scenario& scenario,
                                                   const std::vector<Prediction>& predictions) {
  std::vector<std::optional<JobOutcome>> out;
  if (!scenario.job) return out;
  out.reserve(predictions.size());
  for (const Prediction& p : predictions) out.push_back(outcome_of(scenario, p));
  return out;
}

}  // namespace slmsim
