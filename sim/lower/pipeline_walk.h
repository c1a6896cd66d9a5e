// Goes through a pipeline's steps, stage by stage as far as each can go, so that every task is made after those it waits for,
// and makes each message wait for what the order of the framework (pipeline_commands.h) makes it wait for.
#pragma once

#include <functional>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/lower/pipeline_commands.h"

namespace slmsim {

using Tasks = std::vector<TaskId>;

// What a step's result, sent from a stage to its neighbour, gives: per sending GPU the task after which it may go on, per
// receiving one that after which it has it. kNoTask where there is nothing to wait for.
struct Sent {
  Tasks sent, received;
};

// What a walk asks of who makes the tasks. Stages are the pipeline's; the chunk of a step is its stage's own.
struct PipelineActs {
  // Computes a step on a stage, after what its GPUs do last and after `inputs` (per GPU; empty: nothing). Returns the ends.
  std::function<Tasks(std::size_t stage, const Step&, const Tasks& inputs)> compute;
  // Sends a step's result from a stage to another: per GPU after `ready`, into receives posted after `posted`, which is
  // empty where a receive is there from the start and the sender need not wait.
  std::function<Sent(std::size_t from, std::size_t to, const Step&, const Tasks& ready, const Tasks& posted)> send;
  // Both ends of the same GPU's stream: what it does last, and that it waits for tasks before it goes on.
  std::function<Tasks(std::size_t stage)> last;
  std::function<void(std::size_t stage, const Step&, const std::vector<Tasks>& after)> wait;
};

// `steps` of each stage; `when` is of kAlpa. More than one chunk for each stage is for kAsynchronous. Throws std::logic_error where the order
// leaves stages waiting for each other for ever, which is for the caller to rule out.
void walk_pipeline(TaskGraph& graph, SendOrder order, int chunks, const std::vector<std::vector<Step>>& steps,
                   const PipelineActs& acts, PostedWhen when = PostedWhen::kConsumed);

// "send act mb3", "send grad mb0".
TagId send_tag(TaskGraph& graph, const Step& step);
// The one task of these that is one, or a join of several; kNoTask of none.
TaskId joined(TaskGraph& graph, const Step& step, const Tasks& tasks);

}  // namespace slmsim
