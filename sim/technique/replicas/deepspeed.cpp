// DeepSpeed's stages of ZeRO (arXiv 1910.02054, section 5).
//
//   - ZeRO-1: the optimizer's state is divided. All gradients are all-reduced after the backward pass, each GPU updates its
//     part, and all gather the parameters.
//   - ZeRO-2: gradients are divided as well, so a reduce-scatter is enough. With `overlap_comm` off, DeepSpeed's default for
//     stage 2, the backward pass stops while a bucket is reduced, which takes the same time as reducing all of them after it.
//   - ZeRO-3: parameters are divided as well. Each GPU updates its own part; nothing is gathered afterwards, since the next
//     iteration gathers layer by layer.
#include "sim/technique/replicas/replicas.h"
#include "sim/technique/replicas/zero_passes.h"

namespace slmsim {
namespace {

template <int stage>
PlanResult plan_deepspeed(const PlanRequest& request) {
  return plan_replicas(request, {.stage = stage, .bucket = {}});
}

Lowered lower_deepspeed(const LowerRequest& request) {
  const int stage = request.plan.replicas().stage;
  if (stage == 1) return reduce_and_gather(request, Collective::kAllReduce, "all-reduce grads");
  if (stage == 2) return reduce_and_gather(request, Collective::kReduceScatter, "reduce-scatter grads");
  ReplicaRun run(request);
  run.launch();
  Tasks reduced;
  for (int batch = 0; batch < run.micro_batches(); ++batch) reduced = stage3_passes(run);
  run.adam(run.parameters() / static_cast<double>(run.ranks()), reduced);
  return run.finish();
}

template <int stage>
Technique deepspeed(const char* name, const char* summary, const FigureStyle& style) {
  Technique out = technique_of_replicas(name, summary, style, plan_deepspeed<stage>, lower_deepspeed);
  out.options = {&kBatchSplit};
  out.variations = split_variations;
  return out;
}

}  // namespace

extern const Technique kDeepSpeed1 = deepspeed<1>("ZeRO-1", "DeepSpeed: optimizer state divided over the GPUs",
                                                  {"#fdf0c8", "#d8a200", "<", "0 6 1.5", "///"});

extern const Technique kDeepSpeed2 = deepspeed<2>("ZeRO-2", "DeepSpeed: optimizer state and gradients divided",
                                                  {"#d6a928", "#b98a00", "P", "0 6 1.5 1 1.5", "---"});

extern const Technique kDeepSpeed3 =
    deepspeed<3>("ZeRO-3", "DeepSpeed: parameters divided as well, gathered layer by layer",
                 {"#e0b000", "#8a6600", ">", "0 6 1.5 1 1.5 1 1.5", "|||"});

}  // namespace slmsim
