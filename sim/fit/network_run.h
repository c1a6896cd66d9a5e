// Pilot runs that train nothing: what tools measure of a network, in a second and without a job.
//
// A table of NVIDIA's nccl-tests gives times of a collective of a group's GPUs, warm, by size. A path that slmsim-netprobe (or
// iperf3) measured gives times of messages between two VMs over new connections, and of ten seconds' worth over several warm
// ones. Either is predicted as a job's traffic is: by the scenario's network, NCCL and TCP, on links that carry nothing else.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/fit/pilot.h"

namespace slmsim {

// Of one call of the devices, or of one message from the first to the last.
Seconds time_of(const NetworkRun& run, const std::vector<int>& devices, const Scenario& scenario,
                const Network& network);
// The same of a group, in seconds, as a forecast's iteration.
Forecast forecast_of(const NetworkRun& run, const std::vector<std::string>& group, const Scenario& scenario,
                     const Network& network);

// What `what` of a row names beside figures of training: nccl-tests and netprobe.
const std::vector<std::string>& network_tables();
// Of the file that a row names, of the VMs of its group (of a path: client+server). Of many sizes those that are evenly
// apart, so that one file counts as some runs and not as hundreds. Throws InputError, also where the file is of other GPUs.
std::vector<Pilot> read_network_run(const std::string& what, const std::filesystem::path& file,
                                    const std::vector<std::string>& group, const Scenario& scenario);

}  // namespace slmsim
