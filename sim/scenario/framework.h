// Costs of a training framework besides the model's arithmetic: the optimizer on the CPU, hooks, swapping, buckets.
// DeepSpeed, PyTorch and Megatron-LM by default; a scenario's `software.framework`.
#pragma once

#include "sim/base/fields.h"

namespace slmsim {

struct Framework {
  double cpu_adam = 51;          // bytes of host memory per parameter, ZeRO-1 and 2
  double cpu_adam_stage3 = 72;   // ZeRO-3: its sub-groups are copied once more
  BytesPerSecond cpu_adam_rate;  // of host memory, by one rank's CPU Adam

  Seconds module_hook;       // ZeRO-3: fetching and releasing a layer's parameters, on the host, per pass
  double drive_share = 1;    // share of a drive's rated throughput that asynchronous I/O reaches
  BytesPerSecond swap_rate;  // per rank, parameters read tensor by tensor
  double sub_group = 1e8;    // parameters per rank that Infinity swaps and updates at a time
  Bytes io_block;            // of one request
  int io_depth = 8;          // outstanding requests per rank

  double reduce_bucket = 5e8, gather_bucket = 5e8;  // of DeepSpeed's collectives, in elements
  double live_parameters = 1e9;                     // upper bound of parameters that ZeRO-3 keeps gathered
  int gradient_copies = 1;  // fp32 copies of 16-bit gradients held by an undivided optimizer during its step

  bool operator==(const Framework&) const = default;
};

Framework read_framework(Fields fields);

}  // namespace slmsim
