// Matrix products with cuBLASLt: an algorithm from its heuristic, which lists the best first, with 32 MiB of workspace.
#include <cublasLt.h>
#include <vector>

#include "calibrate/cuda/check.h"
#include "calibrate/cuda/product.h"

namespace slmsim::calibrate {
namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20;  // cuBLAS's size on Hopper

void check_lt(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_ARCH_MISMATCH || status == CUBLAS_STATUS_NOT_SUPPORTED)
    throw MeasurementSkip(std::string(what) + ": this GPU or library does not support it");
  if (status != CUBLAS_STATUS_SUCCESS) throw GpuError(std::string(what) + " failed with " + std::to_string(status));
}

// A cuBLASLt object with its destructor function.
template <class Handle, cublasStatus_t (*Destroy)(Handle)>
class LtHandle {
 public:
  LtHandle() = default;
  LtHandle(const LtHandle&) = delete;
  LtHandle& operator=(const LtHandle&) = delete;
  ~LtHandle() {
    if (handle) Destroy(handle);
  }
  Handle handle = nullptr;
};
using Matrix = LtHandle<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;

class GemmLt final : public Product {
 public:
  GemmLt(const Device& device, const Kernel& kernel, int choice)
      : Product(device, kernel),
        type_(number_ == Number::kHalf     ? CUDA_R_16F
              : number_ == Number::kBfloat ? CUDA_R_16BF
                                           : CUDA_R_32F),
        workspace_(device, {kWorkspace}) {
    check_lt(cublasLtCreate(&library_.handle), "cublasLtCreate");
    const auto compute = kernel.precision == "tf32" ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    check_lt(cublasLtMatmulDescCreate(&product_.handle, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
    transpose(CUBLASLT_MATMUL_DESC_TRANSA, layout_.second_transposed);
    transpose(CUBLASLT_MATMUL_DESC_TRANSB, layout_.first_transposed);
    // Column-major: a row-major matrix is its transpose, with the row length as number of rows.
    describe(second_matrix_, layout_.second_transposed ? kernel.k : kernel.n,
             layout_.second_transposed ? kernel.n : kernel.k, layout_.ldb, second_);
    describe(first_matrix_, layout_.first_transposed ? kernel.m : kernel.k,
             layout_.first_transposed ? kernel.k : kernel.m, layout_.lda, first_);
    describe(result_matrix_, kernel.n, kernel.m, layout_.ldc, result_);
    choose(choice);
  }

  void launch(int set) override {
    const float one = 1, zero = 0;
    check_lt(cublasLtMatmul(library_.handle, product_.handle, &one, arrays_.at<void>(set, 1), second_matrix_.handle,
                            arrays_.at<void>(set, 0), first_matrix_.handle, &zero, arrays_.at<void>(set, 2),
                            result_matrix_.handle, arrays_.at<void>(set, 2), result_matrix_.handle, &chosen_.algo,
                            workspace_.at<void>(0, 0), kWorkspace, device_.stream()),
             "cublasLtMatmul");
  }

 private:
  void transpose(cublasLtMatmulDescAttributes_t which, bool transposed) {
    const cublasOperation_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check_lt(cublasLtMatmulDescSetAttribute(product_.handle, which, &operation, sizeof operation),
             "cublasLtMatmulDescSetAttribute");
  }

  void describe(Matrix& matrix, std::int64_t rows, std::int64_t columns, std::int64_t leading, std::int64_t stride) {
    check_lt(cublasLtMatrixLayoutCreate(&matrix.handle, type_, static_cast<std::uint64_t>(rows),
                                        static_cast<std::uint64_t>(columns), leading),
             "cublasLtMatrixLayoutCreate");
    const auto batch = static_cast<std::int32_t>(kernel_.batch);
    check_lt(cublasLtMatrixLayoutSetAttribute(matrix.handle, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch),
             "cublasLtMatrixLayoutSetAttribute");
    check_lt(cublasLtMatrixLayoutSetAttribute(matrix.handle, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                              sizeof stride),
             "cublasLtMatrixLayoutSetAttribute");
  }

  void choose(int choice) {
    LtHandle<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> preference;
    check_lt(cublasLtMatmulPreferenceCreate(&preference.handle), "cublasLtMatmulPreferenceCreate");
    check_lt(cublasLtMatmulPreferenceSetAttribute(preference.handle, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                  &kWorkspace, sizeof kWorkspace),
             "cublasLtMatmulPreferenceSetAttribute");
    std::vector<cublasLtMatmulHeuristicResult_t> known(static_cast<std::size_t>(choice) + 1);
    int found = 0;
    check_lt(cublasLtMatmulAlgoGetHeuristic(library_.handle, product_.handle, second_matrix_.handle,
                                            first_matrix_.handle, result_matrix_.handle, result_matrix_.handle,
                                            preference.handle, choice + 1, known.data(), &found),
             "cublasLtMatmulAlgoGetHeuristic");
    if (found <= choice) throw MeasurementSkip("cuBLASLt has no algorithm for it");
    chosen_ = known.back();
  }

  const cudaDataType_t type_;
  LtHandle<cublasLtHandle_t, cublasLtDestroy> library_;
  LtHandle<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> product_;
  Matrix first_matrix_, second_matrix_, result_matrix_;
  cublasLtMatmulHeuristicResult_t chosen_{};
  const Arrays workspace_;
};

}  // namespace

std::unique_ptr<Workload> make_gemm_lt(const Device& device, const Kernel& kernel, int choice) {
  return std::make_unique<GemmLt>(device, kernel, choice);
}

}  // namespace slmsim::calibrate
