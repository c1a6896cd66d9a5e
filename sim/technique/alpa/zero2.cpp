// ZeRO-2 (arXiv 1910.02054, section 5): data parallelism in which each GPU owns a part of the gradients and
// of the optimizer's state, updates its part of the parameters, and all GPUs gather the updated parameters.
//
// Alpa implements ZeRO-2 by turning the gradients' all-reduce into a reduce-scatter; with several micro-batches it
// accumulates the gradients of all of them on every GPU and keeps the all-reduce.
#include <fmt/format.h>

#include "sim/base/name_in.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/replicas/replicas.h"

namespace slmsim {
namespace {

const Option<std::optional<GradientCollective>> kCollective{
    optional_choice_option({"gradient_collective", "Collective that gives each GPU its part of the summed gradients.",
                            "as Alpa does: reduce-scatter for one micro-batch, all-reduce for several"},
                           gradient_collective_names)};
const Option<std::optional<Precision>> kGathered{optional_choice_option(
    {"gathered", "The number format of gathered parameters.", "training.precision"}, precision_names)};

PlanResult plan_zero2(const PlanRequest& request) {
  PlanResult result = plan_replicas(request);
  if (!result.plan) return result;
  OperatorPlan how = result.plan->operators();
  const bool several = request.options.micro_batches() > 1;
  how.optimizer = Optimizer::kDivided;
  how.gradient_collective =
      request.options.get(kCollective)
          .value_or(several ? GradientCollective::kAllReduce : GradientCollective::kReduceScatter);
  if (how.hierarchical && how.gradient_collective == GradientCollective::kReduceScatter)
    return {std::nullopt, "summing gradients inside VMs first needs gradient_collective: all-reduce"};
  how.gathered = request.options.get(kGathered).value_or(request.scenario.training.precision);
  result.plan->by = how;
  return result;
}

std::vector<Variation> zero2_variations() {
  auto all = batch_variations();
  const int hierarchical = static_cast<int>(all.size()) - 1;
  all.push_back({.values =
                     [](const VariationRequest& r) {
                       // Summing inside VMs first requires an all-reduce.
                       return r.so_far.get(kHierarchical) ? std::vector{2} : std::vector{1, 2};
                     },
                 .apply =
                     [](TechniqueOptions& o, int value, const Scenario&, int) {
                       if (value > 0) o.set(kCollective, static_cast<GradientCollective>(value - 1));
                     },
                 .words = [](const TechniqueOptions& o, int) -> std::string {
                   const auto collective = o.get(kCollective);
                   return collective ? name_in(gradient_collective_names(), *collective) : "";
                 },
                 .with = hierarchical});
  all.push_back({.values =
                     [](const VariationRequest& r) {
                       const auto own = r.base.get(kGathered);
                       return yes_or_no(own && *own != r.scenario.training.precision);
                     },
                 .apply =
                     [](TechniqueOptions& o, int value, const Scenario& scenario, int) {
                       if (value == 1) o.set(kGathered, scenario.training.precision);
                     },
                 .words = [](const TechniqueOptions& o, int value) -> std::string {
                   if (value == 0) return "";
                   return name_in(precision_names(), *o.get(kGathered)) + " gathered";
                 }});
  return all;
}

TechniqueExports exports_of_zero2(const ExportRequest& request) {
  const OperatorPlan& how = request.plan.operators();
  TechniqueExports out;
  out.deepspeed = {.stage = 2, .gradient_collective = how.gradient_collective, .gathered = how.gathered};
  out.megatron.distributed_optimizer = true;
  out.alpa.method = fmt::format("alpa.Zero2Parallel(num_micro_batches={})", request.plan.micro_batches);
  if (request.plan.micro_batches > 1 && how.gradient_collective == GradientCollective::kReduceScatter)
    out.alpa.cannot = "with several micro-batches Alpa all-reduces gradients; the plan reduce-scatters them";
  return out;
}

}  // namespace

extern const Technique kZero2 = {
    .name = "ZeRO2",
    .summary = "data parallel with gradients and optimizer state divided over the GPUs",
    .usual = true,
    .trial = Trial::kFallback,
    .style = {"#e69f00", "#c98500", "s", "--", "///"},
    .divides_batch = true,
    .is_ring = true,
    .options = {&kBatchSplit, &kHierarchical, &kHierarchicalPieces, &kCollective, &kGathered},
    .micro_batches = one_sequence_each,
    .plan = plan_zero2,
    .lower = lower_operators,
    .memory = memory_by_operators,
    .launcher = launched_by_driver,
    .variations = zero2_variations,
    .exports = exports_of_zero2,
};

}  // namespace slmsim
