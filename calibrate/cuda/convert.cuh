// Conversions between stored numbers and float, and sums over a block, for the kernels.
#pragma once

#include <cstddef>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace slmsim::calibrate {

__device__ inline float load(float x) { return x; }
__device__ inline float load(__half x) { return __half2float(x); }
__device__ inline float load(__nv_bfloat16 x) { return __bfloat162float(x); }

template <class T>
__device__ T store(float x);
template <>
__device__ inline float store<float>(float x) {
  return x;
}
template <>
__device__ inline __half store<__half>(float x) {
  return __float2half(x);
}
template <>
__device__ inline __nv_bfloat16 store<__nv_bfloat16>(float x) {
  return __float2bfloat16(x);
}

// `Width` elements that are read or written at once; their address must be a multiple of their size.
template <class T, int Width>
struct alignas(sizeof(T) * Width) Pack {
  T value[Width];
};
// Elements in 16 bytes, the most that one instruction moves.
template <class T>
inline constexpr int kWidest = 16 / static_cast<int>(sizeof(T));

// Well-mixed bits of a counter (finaliser of MurmurHash3).
__device__ inline unsigned mixed(unsigned x) {
  x ^= x >> 16;
  x *= 0x85ebca6bU;
  x ^= x >> 13;
  x *= 0xc2b2ae35U;
  return x ^ (x >> 16);
}

// Column of an element or pack in consecutive rows of `width`; divides 32 bits where that is enough, because a 64-bit division
// takes a GPU about a hundred instructions.
__device__ inline unsigned column_of(std::size_t i, unsigned width) {
  constexpr std::size_t kSmall = 0xffffffffU;
  return i <= kSmall ? static_cast<unsigned>(i) % width : static_cast<unsigned>(i % width);
}

inline constexpr int kBlock = 256;  // threads; the reductions below rely on it
inline constexpr int kWarps = kBlock / 32;

// Sums (or maxima) of two values over the block; every thread gets them.
template <class Combine>
__device__ float2 reduce_block(float2 value, float2 neutral, Combine combine) {
  __shared__ float2 parts[kWarps];
  for (int distance = 16; distance > 0; distance /= 2) {
    const float2 other = {__shfl_xor_sync(0xffffffffU, value.x, distance),
                          __shfl_xor_sync(0xffffffffU, value.y, distance)};
    value = combine(value, other);
  }
  __syncthreads();  // readers of an earlier call are done
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = neutral;
  for (int warp = 0; warp < kWarps; ++warp) value = combine(value, parts[warp]);
  return value;
}

struct Add {
  __device__ float2 operator()(float2 a, float2 b) const { return {a.x + b.x, a.y + b.y}; }
};

// For sums of exponentials: the largest exponent, and the sum relative to it.
struct MaximumAndSum {
  __device__ float2 operator()(float2 a, float2 b) const {
    const float most = fmaxf(a.x, b.x);
    return {most, a.y * __expf(a.x - most) + b.y * __expf(b.x - most)};
  }
};

}  // namespace slmsim::calibrate
