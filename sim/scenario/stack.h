// A scenario's software: the costs of its framework, and its stack, a file of scenarios/stacks (sim/compute/software.h
// explains its figures).
#pragma once

#include "sim/base/fields.h"
#include "sim/compute/software.h"

namespace slmsim {

// Costs of a training framework besides the model's arithmetic: the optimizer on the CPU, hooks, swapping, buckets.
// DeepSpeed, PyTorch and Megatron-LM by default; a scenario's `software.framework`.
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

// The key `flash` of a stack, or a scenario's replacement.
FlashShares read_flash(const Node& node, const std::string& path, Reading& reading);

// The key `kernels` of a stack, or a scenario's replacement: sets the named kernels and returns them.
std::vector<KernelPart> read_kernels(const Node& node, const std::string& path, Reading& reading, Software& software);

// Sets the stack's values in `software`; the others are unchanged.
void read_stack(const Node& node, const std::string& path, Reading& reading, Software& software);

}  // namespace slmsim
