// How long it takes to get an iteration's training data to the VMs, and the way on which it competes with the iteration itself.
//
// A VM reads the sequences that its GPUs compute: their shares of the batch where each GPU computes sequences of its own; else
// the GPUs of the plan's first stage are fed the whole batch, and each of their VMs reads it.
#pragma once

#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/predict/predict.h"

namespace slmsim {

struct VmData {
  int vm = 0;  // index into Platform::vms
  Bytes bytes;
};

// Of what the plan's task graph does, an iteration or a round, by VM in their order.
std::vector<VmData> data_of_iteration(const Scenario& scenario, const Transformer& model, const Plan& plan);

// Of these what comes from another site, in the first epoch or where nothing is kept.
Bytes data_between_sites(const Scenario& scenario, const std::vector<VmData>& data);

// By disks alone, without links between sites: the slowest VM's own disk, store or cache, or the disks that send to other sites.
Seconds reading_time(const Scenario& scenario, const std::vector<VmData>& data, bool from_cache);

// Lays transfers beside the iteration, one TCP connection from a VM of the data's site to each VM elsewhere: for the next one,
// so nothing waits for them but the iteration's end. Data that come over no link between sites leave the graph as it is.
void add_loading(TaskGraph& graph, const Scenario& scenario, const Network& network, const std::vector<VmData>& data);

// The same transfers alone, for data that are not read ahead.
TaskGraph loading_alone(const Scenario& scenario, const Network& network, const std::vector<VmData>& data);

}  // namespace slmsim
