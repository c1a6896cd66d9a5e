// The functions of CUDA's runtime and of cuBLAS that the stand-in headers declare.
#include <bit>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <string>

#include "tests/emulated_gpu/memory.h"

namespace {

std::string last_error;

// Rounds to a mantissa of `dropped` bits less, ties to even.
std::uint32_t rounded(std::uint32_t bits, unsigned dropped) {
  return bits + ((std::uint32_t{1} << (dropped - 1)) - 1) + ((bits >> dropped) & 1U);
}

float number(const void* matrix, cudaDataType_t type, std::size_t at) {
  if (type == CUDA_R_16F) return __half2float(static_cast<const __half*>(matrix)[at]);
  if (type == CUDA_R_16BF) return __bfloat162float(static_cast<const __nv_bfloat16*>(matrix)[at]);
  return static_cast<const float*>(matrix)[at];
}

void put(void* matrix, cudaDataType_t type, std::size_t at, float value) {
  if (type == CUDA_R_16F) {
    static_cast<__half*>(matrix)[at] = __float2half(value);
  } else if (type == CUDA_R_16BF) {
    static_cast<__nv_bfloat16*>(matrix)[at] = __float2bfloat16(value);
  } else {
    static_cast<float*>(matrix)[at] = value;
  }
}

}  // namespace

float __half2float(__half x) {
  const std::uint32_t sign = (x.bits & 0x8000U) << 16, exponent = (x.bits >> 10) & 0x1fU, mantissa = x.bits & 0x3ffU;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000U | mantissa << 13);
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                   : std::ldexp(static_cast<float>(mantissa | 0x400U), static_cast<int>(exponent) - 25);
  return sign ? -size : size;
}

__half __float2half(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t size = bits & 0x7fffffffU;
  const auto with_sign = [&](std::uint32_t half) { return __half{static_cast<std::uint16_t>(sign | half)}; };
  if (size > 0x7f800000U) return with_sign(0x7fff);
  if (size >= 0x47800000U) return with_sign(0x7c00);  // 65536 and more
  // Below 2^-14: multiples of 2^-24, which nearbyint rounds.
  if (size < 0x38800000U)
    return with_sign(static_cast<std::uint32_t>(std::nearbyint(std::ldexp(std::bit_cast<float>(size), 24))));
  return with_sign((rounded(size, 13) - 0x38000000U) >> 13);
}

float __bfloat162float(__nv_bfloat16 x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16); }

__nv_bfloat16 __float2bfloat16(float x) {
  if (std::isnan(x)) return {0x7fff};
  return {static_cast<std::uint16_t>(rounded(std::bit_cast<std::uint32_t>(x), 16) >> 16)};
}

cudaError_t cudaGetLastError() {
  last_error = emulated::take_error();
  return last_error.empty() ? cudaSuccess : cudaErrorLaunchFailure;
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorLaunchFailure && !last_error.empty() ? last_error.c_str() : "the emulated GPU refuses this";
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  *memory = emulated::allocate(bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  emulated::release(memory);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t /*stream*/) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t /*stream*/) {
  return cudaMemset(memory, value, bytes);
}
cudaError_t cudaStreamSynchronize(cudaStream_t /*stream*/) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = nullptr;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t /*event*/) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t /*event*/, cudaStream_t /*stream*/) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t /*event*/) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* /*milliseconds*/, cudaEvent_t /*start*/, cudaEvent_t /*stop*/) {
  return cudaErrorInvalidValue;
}

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t /*handle*/) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetStream(cublasHandle_t /*handle*/, cudaStream_t /*stream*/) { return CUBLAS_STATUS_SUCCESS; }
const char* cublasGetStatusString(cublasStatus_t /*status*/) { return "the emulated cuBLAS refuses this"; }

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t /*handle*/, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* A, cudaDataType_t atype,
                                          int lda, long long stridea, const void* B, cudaDataType_t btype, int ldb,
                                          long long strideb, const void* beta, void* C, cudaDataType_t ctype, int ldc,
                                          long long stridec, int batch, cublasComputeType_t /*compute*/,
                                          cublasGemmAlgo_t /*algorithm*/) {
  // As cuBLAS demands of leading dimensions.
  if (lda < (transa == CUBLAS_OP_N ? m : k) || ldb < (transb == CUBLAS_OP_N ? k : n) || ldc < m)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto at = [](long long stride, int which, int row, int column, int leading) {
    return static_cast<std::size_t>(stride * which + row + static_cast<long long>(column) * leading);
  };
  for (int one = 0; one < batch; ++one) {
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < m; ++row) {
        float sum = 0;
        for (int i = 0; i < k; ++i) {
          const std::size_t a = transa == CUBLAS_OP_N ? at(stridea, one, row, i, lda) : at(stridea, one, i, row, lda);
          const std::size_t b =
              transb == CUBLAS_OP_N ? at(strideb, one, i, column, ldb) : at(strideb, one, column, i, ldb);
          sum += number(A, atype, a) * number(B, btype, b);
        }
        const std::size_t c = at(stridec, one, row, column, ldc);
        const float old = *static_cast<const float*>(beta);
        put(C, ctype, c, *static_cast<const float*>(alpha) * sum + (old != 0 ? old * number(C, ctype, c) : 0));
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}
