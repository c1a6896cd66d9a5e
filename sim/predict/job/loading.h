// Time to bring an iteration's training data to the VMs, and the transfers that compete with the iteration itself.
//
// A VM reads the sequences that its GPUs compute: their shares of the batch where each GPU computes its own sequences; else
// every VM with GPUs of the plan's first stage reads the whole batch.
#pragma once

#include <vector>

#include "sim/engine/task_graph.h"
#include "sim/predict/predict.h"

namespace slmsim {

struct VmData {
  int vm = 0;  // index into Platform::vms
  Bytes bytes;
};

// Data per VM, in their order, for one run of the plan's task graph: an iteration or a round.
std::vector<VmData> data_of_iteration(const Scenario& scenario, const Transformer& model, const Plan& plan);

// The part of the data that comes from another site, in the first epoch or where nothing is cached.
Bytes data_between_sites(const Scenario& scenario, const std::vector<VmData>& data);

// Time of the disks alone, without links between sites: the slowest VM's own disk, store or cache, or the disks that send to
// other sites.
Seconds reading_time(const Scenario& scenario, const std::vector<VmData>& data, bool from_cache);

// Adds transfers beside the iteration, one TCP connection from a VM of the data's site to each VM elsewhere. They carry the
// next iteration's data, so only the iteration's end waits for them. Data that cross no link between sites leave the graph
// unchanged.
void add_loading(TaskGraph& graph, const Scenario& scenario, const Network& network, const std::vector<VmData>& data);

// The same transfers alone, for data without read-ahead.
TaskGraph loading_alone(const Scenario& scenario, const Network& network, const std::vector<VmData>& data);

}  // namespace slmsim
