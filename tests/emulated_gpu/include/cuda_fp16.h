// Stands in for CUDA's header: 16-bit numbers and their conversions, rounded to the nearest, ties to even.
#pragma once

#include <cuda_runtime_api.h>

struct __half {
  std::uint16_t bits;
};
float __half2float(__half x);
__half __float2half(float x);
