// The order of computation and communication on each stage of a pipeline, by framework.
//
// All orders are those of NCCL's sends and receives, which take place when both ends have posted:
//   kDeepSpeed   deepspeed/runtime/pipe/schedule.py, TrainSchedule, and p2p.py: every command is on the stage's one stream,
//                so computation waits for each message, sent or received. Between a forward and a backward pass the
//                gradient is received before the activation is sent (RecvGrad, SendActivation); otherwise sends come first.
//   kMegatron    megatron/core/pipeline_parallel/schedules.py, forward_backward_pipelining_without_interleaving, and
//                p2p_communication.py: likewise, but after each forward pass of the steady state one exchange sends the
//                activation and receives the gradient (send_forward_recv_backward), after each backward pass one sends the
//                gradient and receives the next activation, and computation waits for both.
//   kAlpa        alpa/pipeline_parallel/runtime_emitter.py: messages are posted in the tick of the schedule in which they are
//                consumed, tick by tick and mesh by mesh, on one stream for each pair of GPUs, for both directions
//                (collective_group/nccl_collective_group.py). Computation does not wait for its sends. With more forward
//                passes in flight than 1F1B's (1f1b_overlap_friendly) they are posted in the tick that produces them
//                (OverlapFriendlyPipelineInstEmitter).
//   kAsynchronous  a message is sent as soon as it is computed, and only its consumers wait for it.
#pragma once

#include <vector>

#include "sim/technique/common/plan.h"

namespace slmsim {

// One pass of one micro-batch through one of a stage's chunks of layers.
struct Step {
  bool forward = true;
  int micro_batch = 0;
  int chunk = 0;
  bool weights = false;  // only the gradients of weights, which the earlier backward pass omitted

  bool operator==(const Step&) const = default;
};

// The micro-batches of a stage in the order of its schedule: `ahead` forward passes, then backward and forward
// alternately.
std::vector<Step> alternating_steps(int ahead, int micro_batches, bool backward);
// The same, with each micro-batch's gradients of weights after the backward pass of the one `delay` later: stage s of p
// has p - s ahead and a delay of s (ZB-H1).
std::vector<Step> zero_bubble_steps(int ahead, int micro_batches, int delay);

// Steps of a stage with `chunks` chunks, interleaved as by Megatron-LM (arXiv 2104.04473, section 2.2).
std::vector<Step> interleaved_steps(int stage, int stages, int chunks, int micro_batches);

// A step, or the sending of its result or the receiving of its input: `with_next` merges it with the next one into one
// exchange.
struct Command {
  enum class Act { kCompute, kSend, kReceive };
  Act act = Act::kCompute;
  Step step;
  bool with_next = false;

  bool operator==(const Command&) const = default;
};

// For orders with one stream per stage, kDeepSpeed and kMegatron: the commands of stage `stage` of `stages` in order.
std::vector<Command> stage_commands(SendOrder order, const std::vector<Step>& steps, int stages, int stage);

// For kAlpa: the steps whose results cross the boundary after each stage, in order: by the tick that consumes them, or
// that produces them. `steps` of all stages.
enum class TickOrder { kConsumed, kProduced };
std::vector<std::vector<Step>> boundary_orders(const std::vector<std::vector<Step>>& steps, TickOrder when);

}  // namespace slmsim
