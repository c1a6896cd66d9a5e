// Converts a plan to the tasks of one iteration: computations, collectives and transfers between stages. The technique
// determines how: by operators (operators.h), by layers on streams (replica_run.h), or as Megatron-LM
// (megatron.h).
#pragma once

#include <limits>
#include <memory>
#include <optional>

#include "sim/engine/task_graph.h"
#include "sim/technique/common/plan.h"

namespace slmsim {

struct PassageRules;  // sim/collective/alone.h

struct LowerRequest {
  const Plan& plan;
  const OperatorGraph& operators;
  const Scenario& scenario;
  const Network& network;
  const Colouring* alike = nullptr;  // devices that may be folded (fold.h); none: each by itself
  int only_micro_batches = 0;        // number of the plan's micro-batches to lower; 0: all
  PassageRules* passages = nullptr;  // for passages and repeated steps (passage.h); nullptr: none
  bool only_times = false;           // a GPU's successive computations may be one task
  bool hosts_apart = false;          // passes stay apart in lower_alike, and all hosts have tasks
  bool only_connections = false;     // only these are of use, to find colours; needs `alike`
  // The largest graph; a larger one throws TooManyTasks.
  std::size_t most_tasks = std::numeric_limits<std::size_t>::max();

  int micro_batches() const { return only_micro_batches > 0 ? only_micro_batches : plan.micro_batches; }
};

// `only_micro_batches` must be a multiple of it: with chunks a stage switches chunks after one micro-batch per stage
// (arXiv 2104.04473, section 2.2).
int micro_batch_round(const Plan& plan);
// Rounds up to a multiple of it.
int in_whole_rounds(int micro_batches, const Plan& plan);

// A graph without tasks.
TaskGraph begin_graph(const LowerRequest& request, std::shared_ptr<const std::vector<Link>> links);
inline TaskGraph begin_graph(const LowerRequest& request) {
  return begin_graph(request, request.network.shared_links());
}

struct Lowered {
  TaskGraph graph;
  std::optional<TimeBasis> basis;  // of all computation of the iteration, if GPUs have measured kernels
};

bool has_measured_kernels(const LowerRequest& request);

// Time before an iteration: every GPU's launch, and the driver's messages to the farthest GPU. The driver runs with the
// plan's first GPU.
Seconds driver_launch(const LowerRequest& request);

inline TaskClass class_of(Pass pass) { return pass == Pass::kBackward ? TaskClass::kBackward : TaskClass::kForward; }

// "embedding", "L3", "L0-11", "head": layers from `first` to `last` of `layers`.
std::string layers_text(int first, int last, int layers);

// Paths between a GPU and its host: connections of a graph for copies, and for the CPU's own memory traffic.
enum class HostPath { kToMemory, kFromMemory, kCpu };

// Opens a connection of this GPU: to or from the memory nearest to it, or that memory itself at the rate of one rank's
// CPU (Framework::cpu_adam_rate). Its host's memory must be known.
int connect_host(TaskGraph& graph, const LowerRequest& request, int device, HostPath path);

}  // namespace slmsim
