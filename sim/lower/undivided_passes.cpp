#include "sim/lower/undivided_passes.h"

namespace slmsim {

void undivided_passes(ReplicaRun& run) {
  for (std::size_t unit = 0; unit < run.units(); ++unit) run.forward(unit, run.none());
  for (std::size_t unit = run.units(); unit-- > 0;) run.backward(unit, run.none());
}

Lowered reduce_and_gather(const LowerRequest& request, Collective collective, const std::string& name) {
  ReplicaRun run(request);
  run.launch();
  undivided_passes(run);
  const double count = run.parameters();
  const Tasks reduced =
      run.collective(collective, Bytes{count * run.gradient_element()}, run.reduce_bucket(), name, run.gpu_done());
  const Tasks updated = run.adam(count / static_cast<double>(run.ranks()), reduced);
  run.collective(Collective::kAllGather, Bytes{count * run.element()}, run.gather_bucket(), "all-gather parameters",
                 updated);
  return run.finish();
}

}  // namespace slmsim
