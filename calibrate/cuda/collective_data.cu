#include "calibrate/cuda/check.h"
#include "calibrate/cuda/collective_data.h"
#include "calibrate/cuda/convert.cuh"
#include "calibrate/cuda/launch.cuh"

namespace slmsim::calibrate {
namespace {

constexpr unsigned kBlocks = 1024;

__device__ float element_of(std::size_t i, int rank) {
  const unsigned bits = mixed(static_cast<unsigned>(i) ^ mixed(static_cast<unsigned>(rank) + 1));
  const int value = static_cast<int>(bits & 0xff) - 128;
  return static_cast<float>(value == 0 ? 1 : value);
}

__global__ void fill(float* buffer, std::size_t count, int rank) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    buffer[i] = element_of(i, rank);
}

__global__ void compare(const float* buffer, std::size_t count, std::size_t offset, int from, int ranks,
                        unsigned long long* wrong) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  unsigned long long found = 0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    float right = 0;
    if (from >= 0) {
      right = element_of(offset + i, from);
    } else {
      for (int rank = 0; rank < ranks; ++rank) right += element_of(offset + i, rank);
    }
    found += buffer[i] == right ? 0 : 1;
  }
  if (found > 0) atomicAdd(wrong, found);
}

}  // namespace

void fill_for_rank(float* buffer, std::size_t count, int rank, cudaStream_t stream) {
  start_kernel(fill, kBlocks, kBlock, stream, buffer, count, rank);
  check(cudaGetLastError(), "filling a buffer");
}

std::size_t count_wrong(const float* buffer, std::size_t count, std::size_t offset, int from, int ranks,
                        cudaStream_t stream) {
  unsigned long long* counter = nullptr;
  unsigned long long wrong = 0;
  check(cudaMalloc(reinterpret_cast<void**>(&counter), sizeof wrong), "memory to check a result");
  const cudaError_t cleared = cudaMemsetAsync(counter, 0, sizeof wrong, stream);
  start_kernel(compare, kBlocks, kBlock, stream, buffer, count, offset, from, ranks, counter);
  const cudaError_t launched = cudaGetLastError();
  const cudaError_t copied = cudaMemcpyAsync(&wrong, counter, sizeof wrong, cudaMemcpyDeviceToHost, stream);
  const cudaError_t waited = cudaStreamSynchronize(stream);
  cudaFree(counter);
  check(cleared, "checking a result");
  check(launched, "checking a result");
  check(copied, "checking a result");
  check(waited, "checking a result");
  return static_cast<std::size_t>(wrong);
}

}  // namespace slmsim::calibrate
