// The device functions of device.h.
#include <cstdint>
#include <type_traits>

#include "calibrate/cuda/check.h"
#include "calibrate/cuda/convert.cuh"
#include "calibrate/cuda/device.h"
#include "calibrate/cuda/launch.cuh"

namespace slmsim::calibrate {
namespace {

constexpr unsigned kMostBlocks = 65535;

unsigned blocks_for(std::size_t count) {
  const std::size_t blocks = (count + kBlock - 1) / kBlock;
  return static_cast<unsigned>(blocks < kMostBlocks ? (blocks > 0 ? blocks : 1) : kMostBlocks);
}

__device__ unsigned random_bits(std::size_t i, unsigned seed) {
  return mixed(static_cast<unsigned>(i) ^ mixed(static_cast<unsigned>(i >> 32) + seed));
}

template <class T>
__global__ void fill(T* array, std::size_t count, float low, float high, unsigned seed) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const float share = (static_cast<float>(random_bits(i, seed) >> 8) + 0.5f) * 0x1p-24f;
    array[i] = store<T>(low + share * (high - low));
  }
}

__global__ void fill_int(int* array, std::size_t count, unsigned limit, unsigned seed) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    array[i] = static_cast<int>(random_bits(i, seed) % limit);
}

template <class T>
__global__ void gather_floats(const T* array, std::size_t first, std::size_t stride, std::size_t count, float* out) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) out[i] = load(array[first + i * stride]);
}

__global__ void nothing() {}

}  // namespace

void fill_random(const Device& device, void* array, Number number, std::size_t count, float low, float high,
                 unsigned seed) {
  const auto start_fill = [&](auto* typed) {
    start_kernel(fill<std::remove_pointer_t<decltype(typed)>>, blocks_for(count), kBlock, device.stream(), typed, count,
                 low, high, seed);
  };
  switch (number) {
    case Number::kHalf:
      start_fill(static_cast<__half*>(array));
      break;
    case Number::kBfloat:
      start_fill(static_cast<__nv_bfloat16*>(array));
      break;
    case Number::kFloat:
      start_fill(static_cast<float*>(array));
      break;
  }
  check(cudaGetLastError(), "filling with random numbers");
}

void fill_random_int(const Device& device, int* array, std::size_t count, int limit, unsigned seed) {
  start_kernel(fill_int, blocks_for(count), kBlock, device.stream(), array, count, static_cast<unsigned>(limit), seed);
  check(cudaGetLastError(), "filling with random numbers");
}

std::vector<double> gather(const Device& device, const void* array, Number number, std::size_t first,
                           std::size_t stride, std::size_t count) {
  if (count == 0) return {};
  float* out = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&out), count * sizeof(float)), "memory to check a result");
  const auto blocks = static_cast<unsigned>((count + kBlock - 1) / kBlock);
  const cudaStream_t stream = device.stream();
  const auto start_gather = [&](const auto* typed) {
    start_kernel(gather_floats<std::remove_const_t<std::remove_pointer_t<decltype(typed)>>>, blocks, kBlock, stream,
                 typed, first, stride, count, out);
  };
  switch (number) {
    case Number::kHalf:
      start_gather(static_cast<const __half*>(array));
      break;
    case Number::kBfloat:
      start_gather(static_cast<const __nv_bfloat16*>(array));
      break;
    case Number::kFloat:
      start_gather(static_cast<const float*>(array));
      break;
  }
  std::vector<float> floats(count);
  const cudaError_t launched = cudaGetLastError();
  const cudaError_t copied = cudaMemcpyAsync(floats.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost, stream);
  const cudaError_t waited = cudaStreamSynchronize(stream);
  cudaFree(out);
  check(launched, "reading a result");
  check(copied, "reading a result");
  check(waited, "reading a result");
  return {floats.begin(), floats.end()};
}

void launch_nothing(const Device& device) { start_kernel(nothing, 1, 1, device.stream()); }

}  // namespace slmsim::calibrate
