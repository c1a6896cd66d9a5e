// ZeRO-Infinity (arXiv 2104.07857): ZeRO-3 with the optimizer's state on drives. The CPU updates it in sub-groups: while one
// is updated, the next is read and the last one written (section 5.2.2, DeepSpeed's pipelined optimizer swapper). Per
// parameter 12 bytes are read and written: fp32 master and both moments. Parameters may be on the drives as well; then each
// rank reads its part of a layer before the layer is gathered, in both passes, and writes it once updated.
#include <algorithm>
#include <cmath>

#include "sim/plan/techniques/replicas.h"
#include "sim/plan/techniques/stage3_passes.h"

namespace slmsim {
namespace {

constexpr double kStateBytes = 12;

void update_by_groups(ReplicaRun& run, const Tasks& gradients) {
  const Stack& stack = run.scenario().stack;
  const bool swaps_parameters = run.plan().parameters == StatePlace::kDrive;
  const double own = run.parameters() / static_cast<double>(run.ranks());
  const int groups = static_cast<int>(std::ceil(own / stack.sub_group));
  const double each = own / groups;
  const double written = kStateBytes + (swaps_parameters ? run.element() : 0.0);
  Tasks read = run.drive(false, Bytes{each * kStateBytes}, false, "read state", gradients);
  for (int group = 0; group < groups; ++group) {
    const Tasks here = read;
    if (group + 1 < groups) read = run.drive(false, Bytes{each * kStateBytes}, false, "read state", gradients);
    const Tasks updated = run.cpu_adam(each, stack.cpu_adam_stage3, here);
    run.drive(true, Bytes{each * written}, false, "write state", updated);
    if (!swaps_parameters) run.copy(false, Bytes{each * run.element()}, "parameters to GPU", updated);
  }
}

}  // namespace

PlanResult plan_infinity(const PlanRequest& request) {
  return plan_replicas(request, {.stage = 3, .optimizer = StatePlace::kDrive, .bucket = {}});
}

PlanResult plan_infinity_parameters(const PlanRequest& request) {
  return plan_replicas(request,
                       {.stage = 3, .optimizer = StatePlace::kDrive, .parameters = StatePlace::kDrive, .bucket = {}});
}

TaskGraph lower_infinity(const LowerRequest& request) {
  ReplicaRun run(request);
  run.launch();
  Tasks copied;
  const auto part = [&](std::size_t unit) { return run.parameters(unit) / static_cast<double>(run.ranks()); };
  Stage3Hooks hooks;
  hooks.keep = [&](std::size_t unit, const Tasks& reduced) {
    copied = run.copy(true, Bytes{part(unit) * run.gradient_element()}, "grads to host", reduced);
  };
  if (run.plan().parameters == StatePlace::kDrive) {
    hooks.fetch = [&](std::size_t unit, const Tasks& after) {
      const Bytes size{part(unit) * run.element()};
      const Tasks read = run.drive(false, size, true, "read parameters", after);
      return run.copy(false, size, "parameters to GPU", read);
    };
  }
  stage3_passes(run, hooks);
  update_by_groups(run, copied);
  return run.finish();
}

}  // namespace slmsim
