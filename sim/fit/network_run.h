// Pilot runs without training: measurements of a network by tools, in seconds and without a job.
//
// A table of NVIDIA's nccl-tests gives times of a warm collective of a group's GPUs, by size. A path measured by
// slmsim-netprobe (or iperf3) gives times of messages between two VMs over new connections, and of ten seconds' worth over
// several warm ones. Both are predicted like a job's traffic: with the scenario's network, NCCL and TCP, on otherwise idle
// links.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/fit/pilot.h"

namespace slmsim {

// Time of one call on the devices, or of one message from the first to the last.
Seconds time_of(const NetworkRun& run, const std::vector<int>& devices, const Scenario& scenario,
                const Network& network);
// The same for a group, in seconds, as a forecast's iteration.
Forecast forecast_of(const NetworkRun& run, const std::vector<std::string>& group, const Scenario& scenario,
                     const Network& network);

// Values of a row's `what` beside figures of training: nccl-tests and netprobe.
const std::vector<std::string>& network_tables();
// Reads the file that a row names, for the VMs of its group (for a path: client+server). Of many sizes, evenly spaced ones are
// kept, so that one file counts as a few runs and not as hundreds. Throws InputError, also where the file belongs to other
// GPUs.
std::vector<Pilot> read_network_run(const std::string& what, const std::filesystem::path& file,
                                    const std::vector<std::string>& group, const Scenario& scenario);

}  // namespace slmsim
