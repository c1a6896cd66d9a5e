// A matrix product's arrays and layouts, shared by cuBLAS and cuBLASLt.
#pragma once

#include "calibrate/cuda/workload.h"

namespace slmsim::calibrate {

// The libraries' matrices are column-major. For them the row-major product C = A B is C^T = B^T A^T: the second factor comes
// first, and a transposed matrix stays transposed.
struct Layout {
  bool first_transposed = false, second_transposed = false;  // A, B
  std::int64_t lda = 0, ldb = 0, ldc = 0;
};

class Product : public Workload {
 public:
  Product(const Device& device, const Kernel& kernel);
  int sets() const override { return arrays_.sets(); }
  double error() override;

 protected:
  const Device& device_;
  const Kernel kernel_;
  const Number number_;
  const Layout layout_;
  // Elements of one product's matrices.
  const std::int64_t first_, second_, result_;
  const Arrays arrays_;  // A, B, C
};

}  // namespace slmsim::calibrate
