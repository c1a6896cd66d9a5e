// Replaces nccl.cpp where the program is built without NCCL.
#include "calibrate/common/failure.h"
#include "calibrate/cuda/nccl.h"

namespace slmsim::calibrate {

std::string nccl_version() { return ""; }

NcclRun measure_collectives(const Options& /*options*/, double /*time_limit*/, const std::function<bool()>& /*stop*/,
                            const std::function<void(const CollectiveResult&)>& /*report*/) {
  throw UsageError(
      "this slmsim-calibrate was built without NCCL; install it (or PyTorch's wheel nvidia-nccl) and "
      "configure again, with -DNCCL_ROOT=DIR where it is not found");
}

}  // namespace slmsim::calibrate
