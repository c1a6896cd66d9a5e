// PyTorch's FullyShardedDataParallel: its passes and its memory.
#pragma once

#include <functional>

#include "sim/technique/common/memory.h"
#include "sim/technique/replicas/replica_run.h"

namespace slmsim {

// Forward and backward passes of PyTorch's FullyShardedDataParallel (Zhao et al., VLDB 2023; torch/distributed/fsdp,
// _runtime_utils.py). Each layer, or each few layers, is a unit; the root unit has the rest, the embedding and the head.
//
//   - A unit's parameters are gathered before its forward and before its backward pass and freed after each; the root's stay
//     from the first use to the last. Strategies of ZeRO-2 keep all of them from the forward to the backward pass.
//   - All-gathers and reduce-scatters are on one stream of NCCL, in the order in which the host issues them; the host is
//     ahead of the GPU. In the forward pass that is the order of the units. In the backward pass the next unit is gathered
//     before the gradients of the current one are computed (backward_pre), before they are reduced (backward_post), or later.
//   - limit_all_gathers: before each all-gather the host waits for the oldest freed unit, if there are two.
//   - Hybrid strategies divide inside groups of replicas, and sum each GPU's part of the gradients between groups, on a
//     stream of their own.
//   - Tensor-parallel GPUs (tensor_exchange.h) each gather and reduce their part of a unit with their counterparts.
//   - In a pipeline (1F1B in Megatron-LM's order, as Schedule1F1B of torch.distributed.pipelining) parameters are gathered in
//     a stage's first pass and stay; gradients are added up, and reduced unit by unit after its last pass, the root's first
//     (stage.py, backward_maybe_with_nosync, run_post_backward).
//   - A unit's gathered parameters are views of one tensor, and their gradients are copied into one tensor (the backward pass
//     of the views' split); gradients to be reduced are first divided by a part of the ranks
//     (default_hooks.py, reduce_scatter_hook).
//   - Adapters (training.lora) are gathered with the frozen parameters of their unit; only their gradients are reduced.
//   - With parameters in host memory a GPU's part is copied in before each all-gather, and its reduced gradients out.

// All micro-batches of an iteration. Calls `update` for each stage with the parameters that each of its GPUs updates, and
// the tasks after which every rank has its reduced gradients at the optimizer.
void fsdp_passes(ReplicaRun& run, const FsdpPlan& plan,
                 const std::function<void(double own, const Tasks& reduced)>& update);

// Memory of PyTorch's FullyShardedDataParallel. A GPU holds its part of each parameter in fp32 with its gradient and
// both moments (16 bytes; in host memory with offload), and whole parameters of gathered units in training precision.

// For a plan whose `by` is an FsdpPlan.
std::vector<DeviceMemory> memory_of_fsdp(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);
StoreMemory stored_by_fsdp(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
