// Data parallelism: every GPU holds the whole model and computes its share of each micro-batch; the gradients
// are all-reduced once per iteration as one fused buffer (Alpa: no overlap with the backward pass).
#include <fmt/format.h>

#include "sim/technique/alpa/operators.h"
#include "sim/technique/replicas/replicas.h"

namespace slmsim {
namespace {

TechniqueExports exports_of_data(const ExportRequest& request) {
  TechniqueExports out;
  out.alpa.method = fmt::format("alpa.DataParallel(num_micro_batches={})", request.plan.micro_batches);
  return out;
}

}  // namespace

extern const Technique kData = {
    .name = "Data",
    .summary = "data parallel: every GPU a replica, one all-reduce of the gradients per iteration",
    .usual = true,
    .trial = Trial::kReplicas,
    .style = {"#56b4e9", "#2b8cc9", "o", "-", ""},
    .divides_batch = true,
    .is_ring = true,
    .options = {&kBatchSplit, &kHierarchical, &kHierarchicalPieces},
    .micro_batches = one_sequence_each,
    .plan = plan_replicas,
    .lower = lower_operators,
    .memory = memory_by_operators,
    .launcher = launched_by_driver,
    .variations = batch_variations,
    .exports = exports_of_data,
};

}  // namespace slmsim
