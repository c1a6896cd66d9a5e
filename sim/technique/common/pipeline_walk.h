// Traverses a pipeline's steps, each stage as far as possible, so that every task is created after its predecessors,
// and adds the dependencies of each message by the framework's order (pipeline_commands.h).
#pragma once

#include <functional>
#include <vector>

#include "sim/engine/task_graph.h"
#include "sim/technique/common/pipeline_commands.h"

namespace slmsim {

using Tasks = std::vector<TaskId>;

// The tasks of a result sent from a stage to its neighbour: per sending GPU the task after which it continues, per
// receiving GPU the task after which it has the data. kNoTask where nothing is awaited.
struct SendEnds {
  Tasks sent, received;
};

// Callbacks that create the tasks. Stages are the pipeline's; the chunk of a step is its stage's own.
struct PipelineActs {
  // Computes a step on a stage, after its GPUs' last tasks and after `inputs` (per GPU; empty: nothing). Returns the
  // ends.
  std::function<Tasks(std::size_t stage, const Step&, const Tasks& inputs)> compute;
  // Sends a step's result from a stage to another: per GPU after `ready`, into receives posted after `posted`, which is
  // empty where a receive is always posted and the sender need not wait.
  std::function<SendEnds(std::size_t from, std::size_t to, const Step&, const Tasks& ready, const Tasks& posted)> send;
  // Access to the GPUs' streams: their last tasks, and waiting for further tasks before they continue.
  std::function<Tasks(std::size_t stage)> last;
  std::function<void(std::size_t stage, const Step&, const std::vector<Tasks>& after)> wait;
};

// `steps` per stage; `when` applies to kAlpa. Several chunks per stage are valid only for kAsynchronous. Throws
// std::logic_error if the order is a deadlock, which the caller must prevent.
void walk_pipeline(TaskGraph& graph, SendOrder order, int chunks, const std::vector<std::vector<Step>>& steps,
                   const PipelineActs& acts, TickOrder when = TickOrder::kConsumed);

// "send act mb3", "send grad mb0".
TagId send_tag(TaskGraph& graph, const Step& step);
// These tasks without kNoTask, each once.
Tasks distinct_of(const Tasks& tasks);
// The single task among these, or a join of several; kNoTask for none.
TaskId joined(TaskGraph& graph, const Step& step, const Tasks& tasks);

}  // namespace slmsim
