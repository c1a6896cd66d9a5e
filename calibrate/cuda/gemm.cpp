// Matrix products with cuBLAS, whose heuristics choose the kernel, as in PyTorch and XLA's fallback.
#include <cublas_v2.h>

#include "calibrate/cuda/check.h"
#include "calibrate/cuda/product.h"

namespace slmsim::calibrate {
namespace {

void check_blas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_ARCH_MISMATCH || status == CUBLAS_STATUS_NOT_SUPPORTED)
    throw MeasurementSkip(std::string(what) + ": this GPU or library does not support it");
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw MeasurementSkip(std::string(what) + ": no memory for cuBLAS");
  if (status != CUBLAS_STATUS_SUCCESS) throw GpuError(std::string(what) + ": " + cublasGetStatusString(status));
}

// One handle for all products of this thread, because creating one takes longer than most measurements. It is never destroyed:
// at the thread's end the driver may already be unloaded.
cublasHandle_t handle_on(cudaStream_t stream) {
  thread_local const cublasHandle_t kHandle = [] {
    cublasHandle_t made = nullptr;
    check_blas(cublasCreate(&made), "cublasCreate");
    return made;
  }();
  check_blas(cublasSetStream(kHandle, stream), "cublasSetStream");
  return kHandle;
}

class Gemm final : public Product {
 public:
  Gemm(const Device& device, const Kernel& kernel)
      : Product(device, kernel),
        type_(number_ == Number::kHalf     ? CUDA_R_16F
              : number_ == Number::kBfloat ? CUDA_R_16BF
                                           : CUDA_R_32F),
        compute_(kernel.precision == "tf32" ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F),
        handle_(handle_on(device.stream())) {}

  void launch(int set) override {
    const float one = 1, zero = 0;
    const auto operation = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const auto number = [](std::int64_t value) { return static_cast<int>(value); };
    check_blas(cublasGemmStridedBatchedEx(handle_, operation(layout_.second_transposed),
                                          operation(layout_.first_transposed), number(kernel_.n), number(kernel_.m),
                                          number(kernel_.k), &one, arrays_.at<void>(set, 1), type_, number(layout_.ldb),
                                          second_, arrays_.at<void>(set, 0), type_, number(layout_.lda), first_, &zero,
                                          arrays_.at<void>(set, 2), type_, number(layout_.ldc), result_,
                                          number(kernel_.batch), compute_, CUBLAS_GEMM_DEFAULT),
               "cublasGemmStridedBatchedEx");
  }

 private:
  const cudaDataType_t type_;
  const cublasComputeType_t compute_;
  const cublasHandle_t handle_;
};

}  // namespace

std::unique_ptr<Workload> make_gemm(const Device& device, const Kernel& kernel) {
  return std::make_unique<Gemm>(device, kernel);
}

}  // namespace slmsim::calibrate
