// Accuracy of the costs of computation on GPUs measured by others.
//
// Kernels between products: for each GPU, the figures of sim/compute/software.h are fitted to the operators of all other GPUs, and
// predict this one's. Products: with the share of the peak in the GPU's file (sim/compute/kernel.h), beside the share that fits
// the rows. Only times long enough to be the kernel's rather than the host's count: 300 us for operators, which were timed one
// by one from Python, 100 us for kernels.
#pragma once

#include <string>
#include <vector>

#include "tests/validation/allreduce_facts.h"
#include "tests/validation/gpu_rows.h"

namespace slmsim {

struct ErrorSpread {
  int rows = 0;
  double median = 0, ninth = 0;  // absolute relative errors: the median, and the 90th percentile
};
ErrorSpread spread_of(std::vector<double> errors);

// Elements and bytes that fit one kind of kernel best, in relative least squares with equal weight for each GPU and precision,
// neither negative.
struct TrafficFit {
  std::string kernel;
  bool forward = true;
  MemoryTraffic moves;
  double spread = 0;  // nine of ten rows lie within this share
};

struct ProductErrors {
  std::string source, gpu;
  Precision precision = Precision::kFp16;
  bool batched = false;
  double stated = 0;                                // share of the peak in the GPU's file
  double share = 0, share_low = 0, share_high = 0;  // of the peak, by the rows: median, 10th and 90th percentile
  ErrorSpread error;                                // with the stated share
};

struct GpuValidation {
  std::vector<TrafficFit> fits;  // to all GPUs
  struct LeaveOneOut {
    std::string gpu;  // "" for all together
    ErrorSpread error;
  };
  std::vector<LeaveOneOut> left_out;
  struct ShippedStack {
    std::string gpu;
    ErrorSpread between, products;  // with the stack `megatron-eager` and the GPUs' files, as in a run
  };
  std::vector<ShippedStack> shipped;
  std::vector<ProductErrors> products;
  AllReduceReport all_reduce;  // where the folder has allreduce.csv
};

// Throws InputError.
GpuValidation validate_gpus(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& roots);

}  // namespace slmsim
