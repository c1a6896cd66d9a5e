// Local SGD (Stich, ICLR 2019, arXiv 1805.09767, algorithm 1): each replica makes several optimizer steps
// independently, then the parameters of all are averaged by an all-reduce.
#include "sim/technique/replicas/replicas.h"
#include "sim/technique/rounds/rounds.h"

namespace slmsim {
namespace {

// Parameters are averaged in formats that can be added directly; the first three of ExchangeFormat.
const std::vector<std::string>& averaged_names() {
  static const std::vector<std::string> kNames(exchange_format_names().begin(), exchange_format_names().begin() + 3);
  return kNames;
}

const Option<ExchangeFormat> kAveraged{
    choice_option({"format", "The number format in which parameters are averaged."}, averaged_names)};

PlanResult plan_local_sgd(const PlanRequest& request) {
  return plan_rounds(request, {.format = request.options.get(kAveraged)});
}

}  // namespace

extern const Technique kLocalSgd = {
    .name = "LocalSGD",
    .summary = "replicas take several steps on their own, then average their parameters",
    .style = {"#ffffff", "#5d9a3c", "8", "-", "+++"},
    .divides_batch = true,
    .trains_adapters = true,
    .is_ring = true,
    .after_failure = AfterFailure::kGoOn,
    .options = {&kInnerSteps, &kReplicaOf, &kAveraged, &kSumBy, &kInnerBucket, &kBatchSplit},
    .micro_batches = all_at_once,
    .plan = plan_local_sgd,
    .lower = lower_round,
    .memory = memory_of_rounds,
    .launcher = launched_by_processes,
    .remarks = round_remarks,
    .changes_training = rounds_change_training,
    .variations = round_variations,
    .exports = round_exports,
};

}  // namespace slmsim
