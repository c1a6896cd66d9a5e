// Stands in for CUDA's header: bfloat16 and its conversions, rounded to the nearest, ties to even.
#pragma once

#include <cuda_runtime_api.h>

struct __nv_bfloat16 {
  std::uint16_t bits;
};
float __bfloat162float(__nv_bfloat16 x);
__nv_bfloat16 __float2bfloat16(float x);
