// Techniques that exist for tests alone: they show that a file and a row of the table are all that a technique takes.
//
// Averaging: replicas that make several optimizer steps on their own and then average their parameters (local SGD, arXiv
// 1805.09767). Reading: replicas that only compute forward passes.
#include <fmt/format.h>

#include "sim/technique/alpa/operators.h"
#include "sim/technique/replicas/replicas.h"

namespace slmsim {
namespace {

const Option<int> kEvery{count_option({"every", "optimizer steps between two averages"}, 1000, 1)};

PlanResult plan_averaging(const PlanRequest& request) {
  PlanResult result = plan_replicas(request);
  if (result.plan) result.plan->workload = {.steps = request.options.get(kEvery), .exchange = Exchange::kParameters};
  return result;
}

PlanResult plan_reading(const PlanRequest& request) {
  PlanResult result = plan_replicas(request);
  if (result.plan) result.plan->workload.backward = false;
  return result;
}

std::vector<Variation> variations() {
  return {{.values =
               [](const VariationRequest&) {
                 return std::vector{0, 10};
               },
           .apply =
               [](TechniqueOptions& o, int value, const Scenario&, int) {
                 if (value > 0) o.set(kEvery, value);
               },
           .words = [](const TechniqueOptions& o, int) { return fmt::format("averages every {}", o.get(kEvery)); }}};
}

TechniqueExports exports(const ExportRequest& request) {
  TechniqueExports out;
  out.deepspeed.cannot = not_deepspeeds(*request.plan.technique);
  out.megatron.cannot = "it is a test's";
  out.alpa.cannot = not_alpas(*request.plan.technique);
  return out;
}

}  // namespace

extern const Technique kAveraging = {
    .name = "Averaging",
    .summary = "a test's: several steps, then the average of all parameters",
    .style = {"#ffe0b0", "#b06000", "8", "-", "***"},
    .divides_batch = true,
    .is_ring = true,
    .options = {&kEvery},
    .micro_batches = one_sequence_each,
    .plan = plan_averaging,
    .lower = lower_operators,
    .memory = memory_by_operators,
    .launcher = launched_by_driver,
    .variations = variations,
    .exports = exports,
};

extern const Technique kReading = {
    .name = "Reading",
    .summary = "a test's: forward passes only",
    .divides_batch = true,
    .is_ring = true,
    .micro_batches = one_sequence_each,
    .plan = plan_reading,
    .lower = lower_operators,
    .memory = memory_by_operators,
    .launcher = launched_by_driver,
    .exports = exports,
};

}  // namespace slmsim
