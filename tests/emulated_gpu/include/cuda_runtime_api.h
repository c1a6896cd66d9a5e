// Stands in for CUDA's header where the calibration kernels are compiled for the host: what they use of it, no more.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/emulated_gpu/grid.h"

#define __global__
#define __device__
#define __host__
// Blocks run one after the other, so that one block's array is every block's.
#define __shared__ static

inline const uint3& threadIdx = emulated::thread_index;
inline const uint3& blockIdx = emulated::block_index;
inline const dim3& blockDim = emulated::block_size;
inline const dim3& gridDim = emulated::grid_size;

struct alignas(8) float2 {
  float x, y;
};

inline void __syncthreads() { emulated::wait_for_block(); }
inline float __shfl_xor_sync(unsigned mask, float value, int distance) {
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  word = emulated::exchange_in_warp(mask, word, emulated::own_lane() ^ static_cast<unsigned>(distance));
  std::memcpy(&value, &word, sizeof value);
  return value;
}
// One thread runs at a time.
template <class T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at = before + value;
  return before;
}
template <class T>
T atomicCAS(T* at, T compared, T value) {
  const T before = *at;
  if (before == compared) *at = value;
  return before;
}

inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline float __expf(float x) { return std::exp(x); }
using std::max;
using std::min;

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorLaunchFailure = 719
};
using cudaStream_t = struct EmulatedStream*;
using cudaEvent_t = struct EmulatedEvent*;
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };

cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
// There are no times here: cudaEventElapsedTime fails.
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop);
