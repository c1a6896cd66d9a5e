#include "sim/predict/sample.h"

#include "sim/predict/lower_alike.h"

namespace slmsim {

std::optional<std::size_t> Sample::line_of(TaskId id) const {
  const Task& task = graph().tasks()[id];
  // Tasks that hold multiprocessors take no time, and begin with tasks of other lines.
  if (task.place < 0 || task.kind == TaskKind::kHold || task.kind == TaskKind::kRelease) return std::nullopt;
  const std::size_t kind = task.kind == TaskKind::kCompute ? 0 : task.kind == TaskKind::kDelay ? 1 : 2;
  return kind * devices() + static_cast<std::size_t>(task.place);
}

Sample sample(const LowerRequest& request, int micro_batches) {
  LowerRequest few = request;
  few.only_micro_batches = micro_batches;
  Sample out{lower_alike(few), {}};
  const TaskGraph& graph = out.graph();
  out.lines.resize(2 * out.devices() + graph.connections().size());
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    if (const auto line = out.line_of(id)) out.lines[*line].push_back(id);
  }
  return out;
}

int in_whole_rounds(int micro_batches, const Plan& plan) {
  const int round = micro_batch_round(plan);
  return (micro_batches + round - 1) / round * round;
}

}  // namespace slmsim
