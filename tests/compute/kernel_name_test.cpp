#include <set>

#include <gmock/gmock.h>

#include "sim/compute/kernel.h"
#include "sim/compute/operator_graph.h"
#include "sim/platform/gpu.h"

namespace slmsim::kernel_name_test {
namespace {

// A small model of each family, with and without dropout, uses every kernel that its family has.
std::set<std::string> kernels_of_models() {
  std::set<std::string> names;
  for (std::size_t which = 0; which < 2 * family_names().size(); ++which) {
    const std::size_t family = which / 2;
    const Transformer model{.name = family_names()[family],
                            .family = static_cast<Family>(family),
                            .hidden = 64,
                            .heads = 4,
                            .kv_heads = 4,
                            .layers = 1,
                            .sequence = 16,
                            .vocabulary = 128,
                            .intermediate = 256,
                            .tied_embedding = true,
                            .dropout = which % 2 == 1};
    for (const auto& kernel : kernels_of(build_operator_graph(model), {1})) names.insert(kernel.shape.name);
  }
  return names;
}

// A profile may contain exactly the kernels that a model's operators look up.
TEST(KernelNames, AreThoseOfTheModelsOperators) {
  EXPECT_THAT(kernel_names(), testing::UnorderedElementsAreArray(kernels_of_models()));
}

TEST(KernelNames, AreToldFromOtherWords) {
  EXPECT_TRUE(is_kernel("gemm-nt"));
  EXPECT_TRUE(is_kernel("softmax-backward"));
  EXPECT_FALSE(is_kernel("gemm_nt"));
}

}  // namespace
}  // namespace slmsim::kernel_name_test
