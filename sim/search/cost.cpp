#include <cmath>

#include "sim/predict/predict.h"
#include "sim/search/search.h"

namespace slmsim {
namespace {

double deadline_cost(double late, Seconds length, Seconds lease) {
  const double used = length / lease;
  return late + used / (1 + used);
}

}  // namespace

double cost_of(const Space& space, const Choice& choice, PlanObjective objective, Seconds job) {
  const Scenario& scenario = space.scenario();
  const Group& group = space.group(choice);
  const double hours = job.value / 3600;
  switch (objective) {
    case PlanObjective::kTime:
    case PlanObjective::kP90:
      return job.value;
    case PlanObjective::kGpuHours:
      return hours * static_cast<double>(group.devices.size());
    case PlanObjective::kDollars: {
      double price = 0;
      for (const int device : group.devices)
        price += scenario.plan.dollars_per_hour.at(scenario.platform.devices[device].gpu.name);
      return hours * price;
    }
    case PlanObjective::kCost:
      return bill_of(scenario, group, job).cost.value_or(0);
    case PlanObjective::kEnergy:
      return bill_of(scenario, group, job).energy.value_or(Joules{0}).value *
             (scenario.job ? scenario.job->pue.value_or(1) : 1);
    case PlanObjective::kDeadline: {
      const JobRules& rules = *scenario.job;
      return deadline_cost(job > *rules.lease ? rules.samples : 0, job, *rules.lease);
    }
  }
  return 0;
}

double cost_of(const Space& space, const Choice& choice, PlanObjective objective, const Measurement& measured) {
  if (!measured.whole) return cost_of(space, choice, objective, measured.job);
  switch (objective) {
    case PlanObjective::kCost:
      return measured.whole->cost;
    case PlanObjective::kEnergy:
      return measured.whole->energy;
    case PlanObjective::kDeadline:
      return deadline_cost(measured.whole->late, measured.whole->median, *space.scenario().job->lease);
    case PlanObjective::kP90:
      return measured.whole->p90.value;
    default:
      return cost_of(space, choice, objective, measured.job);
  }
}

double on_time(double deadline_cost, int samples) { return 1 - std::floor(deadline_cost) / samples; }

}  // namespace slmsim
