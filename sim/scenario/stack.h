// What a training framework's code costs beside the model's arithmetic: eager kernels, optimizers on GPU and CPU, hooks,
// swapping. DeepSpeed, PyTorch and Megatron-LM by default; a scenario's `software.framework`.
#pragma once

#include "sim/base/fields.h"

namespace slmsim {

struct Stack {
  // Memory traffic of the kernels between the matrix products in one forward pass of a layer, per token and unit of the
  // hidden size, in bytes; backward takes twice as much. Norms, residuals and their dropouts are done by every GPU of a
  // tensor-parallel group; biases, softmax and GELU are divided. 0 and 0: the operators' own inputs and outputs.
  double replicated_traffic = 0, divided_traffic = 0;
  double loss_traffic = 0;  // per logit, forward and backward; 0: the operator's own

  double gpu_adam = 0;           // bytes of GPU memory per parameter updated; 0: adam_time's
  double cpu_adam = 51;          // bytes of host memory per parameter, ZeRO-1 and 2
  double cpu_adam_stage3 = 72;   // ZeRO-3: its sub-groups are copied once more
  BytesPerSecond cpu_adam_rate;  // of host memory, by one rank's CPU Adam

  Seconds module_hook;       // ZeRO-3: fetching and releasing a layer's parameters, on the host, per pass
  double drive_share = 1;    // of a drive's rated throughput that asynchronous I/O reaches
  BytesPerSecond swap_rate;  // per rank, parameters read tensor by tensor
  double sub_group = 1e8;    // parameters per rank that Infinity swaps and updates at a time
  Bytes io_block;            // of one request
  int io_depth = 8;          // requests of a rank under way

  double reduce_bucket = 5e8, gather_bucket = 5e8;  // of DeepSpeed's collectives, in elements
  double live_parameters = 1e9;                     // that ZeRO-3 keeps gathered at most

  bool operator==(const Stack&) const = default;
};

Stack read_stack(Fields fields);

}  // namespace slmsim
