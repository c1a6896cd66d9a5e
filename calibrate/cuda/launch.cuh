// Starting a kernel. Where nvcc does not compile it, the tests' stand-in for CUDA runs it on the host
// (tests/emulated_gpu), by which every line of the kernels is executed without a GPU.
#pragma once

#include <cuda_runtime_api.h>
#include <utility>

namespace slmsim::calibrate {

// kernel<<<grid, block, 0, stream>>>(arguments...); cudaGetLastError() tells whether it began.
template <class... Parameters, class... Arguments>
void start_kernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream, Arguments... arguments) {
#ifdef __CUDACC__
  kernel<<<grid, block, 0, stream>>>(static_cast<Parameters>(arguments)...);
#else
  (void)stream;  // one after the other
  emulated::run_grid(grid, block, [&] { kernel(static_cast<Parameters>(arguments)...); });
#endif
}

}  // namespace slmsim::calibrate
