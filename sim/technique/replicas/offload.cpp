// ZeRO-Offload (arXiv 2101.06840): the optimizer's state is in host memory, and the CPU updates it. Reduced gradients
// are copied to the host over PCIe, the CPU's Adam is limited by its traffic to host memory, and parameters are copied
// back in training precision. Stage 1 copies after all gradients are reduced, stage 2 bucket by bucket, stage 3 layer
// by layer.
//
// Over several micro-batches stages 2 and 3 reduce after each of them and accumulate in host memory by way of the GPU:
// from the second on, the sum so far is copied to the GPU, added to, and copied back (DeepSpeed's stage_1_and_2.py,
// async_accumulate_grad_in_cpu_via_gpu; stage3.py, partition_grads). Stage 1 accumulates on the GPU, and at the end
// fetches the empty sums once, as in the same function. The addition itself takes a fiftieth of a PCIe copy's time and
// is omitted.
#include <cmath>

#include "sim/technique/replicas/replicas.h"
#include "sim/technique/replicas/zero_passes.h"

namespace slmsim {
namespace {

template <int stage>
PlanResult plan_offload(const PlanRequest& request) {
  return plan_replicas(request, {.stage = stage, .optimizer = StatePlace::kHost, .bucket = {}});
}

// For stages 1 and 2: reduced gradients in host memory, those of all micro-batches.
Tasks gradients_to_host(ReplicaRun& run) {
  const Bytes all{run.parameters() * run.gradient_element()};
  const double ranks = static_cast<double>(run.ranks());
  const Bytes bucket = run.reduce_bucket();
  const int last = run.micro_batches() - 1;
  if (run.plan().stage == 1) {
    run.accumulate(last + 1, run.none());
    Tasks reduced = run.collective(Collective::kAllReduce, all, bucket, "all-reduce grads", fill_buckets(run));
    if (last > 0) reduced = run.copy(false, all / ranks, "sums to GPU", reduced);
    return run.copy(true, all / ranks, "grads to host", reduced);
  }
  Tasks copied;
  const double pieces = std::ceil(all / bucket);
  for (int batch = 0; batch <= last; ++batch) {
    run.accumulate(1, run.none());
    const Tasks filled = fill_buckets(run);
    for (double piece = 0; piece < pieces; ++piece) {
      Tasks reduced = run.collective(Collective::kReduceScatter, all / pieces, {}, "reduce-scatter grads", filled);
      if (batch > 0) reduced = run.copy(false, all / pieces / ranks, "sums to GPU", reduced);
      copied = run.copy(true, all / pieces / ranks, "grads to host", reduced);
    }
    // Kernels and copies are on one stream (reduce_ipg_grads).
    if (batch < last) run.wait(copied);
  }
  return copied;
}

Lowered lower_offload(const LowerRequest& request) {
  ReplicaRun run(request);
  run.launch();
  const Framework& framework = run.scenario().framework;
  const bool stage3 = run.plan().stage == 3;
  const double own = run.parameters() / static_cast<double>(run.ranks());
  Tasks copied;
  if (stage3) {
    for (int batch = 0; batch < run.micro_batches(); ++batch)
      stage3_passes(run, {.fetch = {}, .keep = [&](std::size_t unit, const Tasks& reduced) {
                            copied = stage3_gradients_to_host(run, unit, batch, reduced);
                          }});
  } else {
    copied = gradients_to_host(run);
  }
  const Tasks updated = run.cpu_adam(own, stage3 ? framework.cpu_adam_stage3 : framework.cpu_adam, copied);
  const Tasks back = run.copy(false, Bytes{own * run.element()}, "parameters to GPU", updated);
  if (!stage3)
    run.collective(Collective::kAllGather, Bytes{run.parameters() * run.element()}, run.gather_bucket(),
                   "all-gather parameters", back);
  return run.finish();
}

template <int stage>
Technique offload(const char* name, const char* summary, const FigureStyle& style) {
  return technique_of_replicas(name, summary, style, plan_offload<stage>, lower_offload);
}

}  // namespace

extern const Technique kOffload1 = offload<1>("ZeRO-1-CPU", "ZeRO-1 with the optimizer and its state in host memory",
                                              {"#f3dfea", "#cc79a7", "p", "0 2 1", "..."});

extern const Technique kOffload2 = offload<2>("ZeRO-2-CPU", "ZeRO-2 with the optimizer and its state in host memory",
                                              {"#e9c9dc", "#a9568a", "X", "0 1 2", "xxx"});

extern const Technique kOffload3 = offload<3>("ZeRO-3-CPU", "ZeRO-3 with the optimizer and its state in host memory",
                                              {"#b8648f", "#7a3563", "*", "0 3 2", "xxx"});

}  // namespace slmsim
