// Collectives over this host's GPUs, or over all ranks of a launcher.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/gpu/collective.h"
#include "calibrate/gpu/option.h"

namespace slmsim::calibrate {

std::string nccl_version();  // "2.28.9"; "" where the program was built without NCCL

struct NcclRun {
  bool first = true;  // this process has rank 0, which reports
  std::vector<CollectiveResult> results;
  std::vector<std::string> left_out;  // sentences
};

// `report` is called with each result in the process of rank 0. Throws NoGpu, UsageError, GpuError.
NcclRun measure_collectives(const Options& options, double time_limit, const std::function<bool()>& stop,
                            const std::function<void(const CollectiveResult&)>& report);

}  // namespace slmsim::calibrate
