// ZeRO-Infinity (arXiv 2104.07857): ZeRO-3 with the optimizer's state on drives. The CPU updates it in sub-groups:
// during an update, the next sub-group is read and the previous one written (section 5.2.2, DeepSpeed's pipelined
// optimizer swapper). Per parameter 12 bytes are read and written in fp16: fp32 master and both moments. Parameters may
// be on the drives as well; then each rank reads its part of a layer before the layer is gathered, in both passes of
// each micro-batch, and writes it after the update.
#include <algorithm>
#include <cmath>

#include "sim/technique/replicas/replicas.h"
#include "sim/technique/replicas/zero_passes.h"

namespace slmsim {
namespace {

void update_by_groups(ReplicaRun& run, const Tasks& gradients) {
  const Framework& framework = run.scenario().framework;
  const bool swaps_parameters = run.plan().parameters == StatePlace::kDrive;
  const double own = run.parameters() / static_cast<double>(run.ranks());
  const int groups = static_cast<int>(std::ceil(own / framework.sub_group));
  const double each = own / groups;
  const double state = StateBytes(run.scenario().training).optimizer();
  const double written = state + (swaps_parameters ? run.element() : 0.0);
  Tasks read = run.drive(false, Bytes{each * state}, false, "read state", gradients);
  for (int group = 0; group < groups; ++group) {
    const Tasks here = read;
    if (group + 1 < groups) read = run.drive(false, Bytes{each * state}, false, "read state", gradients);
    const Tasks updated = run.cpu_adam(each, framework.cpu_adam_stage3, here);
    run.drive(true, Bytes{each * written}, false, "write state", updated);
    if (!swaps_parameters) run.copy(false, Bytes{each * run.element()}, "parameters to GPU", updated);
  }
}

template <StatePlace parameters>
PlanResult plan_infinity(const PlanRequest& request) {
  return plan_replicas(request, {.stage = 3, .optimizer = StatePlace::kDrive, .parameters = parameters, .bucket = {}});
}

Lowered lower_infinity(const LowerRequest& request) {
  ReplicaRun run(request);
  run.launch();
  Tasks copied;
  const auto part = [&](std::size_t unit) { return run.held(unit) / static_cast<double>(run.ranks()); };
  Stage3Hooks hooks;
  int batch = 0;
  hooks.keep = [&](std::size_t unit, const Tasks& reduced) {
    copied = stage3_gradients_to_host(run, unit, batch, reduced);
  };
  if (run.plan().parameters == StatePlace::kDrive) {
    hooks.fetch = [&](std::size_t unit, const Tasks& after) {
      const Bytes size{part(unit) * run.element()};
      const Tasks read = run.drive(false, size, true, "read parameters", after);
      return run.copy(false, size, "parameters to GPU", read);
    };
  }
  for (; batch < run.micro_batches(); ++batch) stage3_passes(run, hooks);
  update_by_groups(run, copied);
  return run.finish();
}

template <StatePlace parameters>
Technique infinity(const char* name, const char* summary, const FigureStyle& style) {
  return technique_of_replicas(name, summary, style, plan_infinity<parameters>, lower_infinity);
}

}  // namespace

extern const Technique kInfinity = infinity<StatePlace::kGpu>("Infinity", "ZeRO-3 with the optimizer's state on drives",
                                                              {"#ffffff", "#606060", "h", "0 10 2", "ooo"});

extern const Technique kInfinityParameters =
    infinity<StatePlace::kDrive>("Infinity-P", "ZeRO-3 with the optimizer's state and parameters on drives",
                                 {"#b0b0b0", "#222222", "6 1 0", "0 10 2 3 2", "\\\\\\"});

}  // namespace slmsim
