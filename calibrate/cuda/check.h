// Errors of CUDA, cuBLAS and NCCL as exceptions.
#pragma once

#include <cuda_runtime_api.h>
#include <stdexcept>
#include <string>

namespace slmsim::calibrate {

// No GPU, no driver, or a driver that is too old: exit status 2.
struct NoGpu : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The GPU or a library failed: exit status 1.
struct GpuError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws GpuError "what: message".
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw GpuError(std::string(what) + ": " + cudaGetErrorString(status));
}

}  // namespace slmsim::calibrate
