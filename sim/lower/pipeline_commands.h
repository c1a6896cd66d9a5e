// What each stage of a pipeline does in which order, computing and communicating, by the framework that runs it.
//
// All orders are those of NCCL's sends and receives, which take place when both ends are there:
//   kDeepSpeed   deepspeed/runtime/pipe/schedule.py, TrainSchedule, and p2p.py: every command is on the stage's one stream,
//                so that computing waits for each message, sent or received. Between a forward and a backward pass the
//                gradient is received before the activation is sent (RecvGrad, SendActivation); all else is sent first.
//   kMegatron    megatron/core/pipeline_parallel/schedules.py, forward_backward_pipelining_without_interleaving, and
//                p2p_communication.py: likewise, but after each forward pass of the steady state one exchange sends the
//                activation and receives the gradient (send_forward_recv_backward), after each backward pass one sends the
//                gradient and receives the next activation, and computing waits for both.
//   kAlpa        alpa/pipeline_parallel/runtime_emitter.py: messages are posted in the tick of the schedule in which they are
//                consumed, tick by tick and mesh by mesh, on one stream for each pair of GPUs, both directions alike
//                (collective_group/nccl_collective_group.py). Computing does not wait for what it sends. With more forward
//                passes in flight than 1F1B's (1f1b_overlap_friendly) they are posted in the tick that produces them
//                (OverlapFriendlyPipelineInstEmitter).
//   kAsynchronous  a message goes as soon as it is computed, and nothing waits for it but what needs it.
#pragma once

#include <vector>

#include "sim/plan/plan.h"

namespace slmsim {

// One pass of one micro-batch through one of the chunks of layers that a stage has.
struct Step {
  bool forward = true;
  int micro_batch = 0;
  int chunk = 0;
  bool weights = false;  // only the gradients of weights, which a backward pass before it left out

  bool operator==(const Step&) const = default;
};

// The micro-batches of a stage in the order of its schedule: `ahead` forward passes, then backward and forward in turn.
std::vector<Step> alternating_steps(int ahead, int micro_batches, bool backward);
// The same, and each micro-batch's gradients of weights after the backward pass of the one `delay` later: stage s of p has
// p - s ahead and a delay of s (ZB-H1).
std::vector<Step> zero_bubble_steps(int ahead, int micro_batches, int delay);

// Of a stage with so many chunks, one after the other as Megatron-LM interleaves them (arXiv 2104.04473, section 2.2).
std::vector<Step> interleaved_steps(int stage, int stages, int chunks, int micro_batches);

// A step, or sending its result or receiving its input: `with_next` together with the next one, as one exchange.
struct Command {
  enum class Act { kCompute, kSend, kReceive };
  Act act = Act::kCompute;
  Step step;
  bool with_next = false;

  bool operator==(const Command&) const = default;
};

// Of orders in which a stage has one stream, kDeepSpeed and kMegatron: what stage `stage` of so many does in turn.
std::vector<Command> stage_commands(SendOrder order, const std::vector<Step>& steps, int stages, int stage);

// Of kAlpa: the steps whose results pass the boundary after each stage, in the order in which they do: by the tick that
// consumes them, or that produces them. `steps` of all stages.
enum class PostedWhen { kConsumed, kProduced };
std::vector<std::vector<Step>> boundary_orders(const std::vector<std::vector<Step>>& steps, PostedWhen when);

}  // namespace slmsim
