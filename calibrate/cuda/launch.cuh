// Kernel launch. Without nvcc, the tests' stand-in for CUDA runs the kernel on the host (tests/emulated_gpu), which executes
// every line of the kernels without a GPU.
#pragma once

#include <cuda_runtime_api.h>
#include <utility>

namespace slmsim::calibrate {

// kernel<<<grid, block, 0, stream>>>(arguments...); cudaGetLastError() reports whether it started.
template <class... Parameters, class... Arguments>
void start_kernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream, Arguments... arguments) {
#ifdef __CUDACC__
  kernel<<<grid, block, 0, stream>>>(static_cast<Parameters>(arguments)...);
#else
  (void)stream;  // sequential
  emulated::run_grid(grid, block, [&] { kernel(static_cast<Parameters>(arguments)...); });
#endif
}

}  // namespace slmsim::calibrate
