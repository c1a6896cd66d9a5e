#include "sim/compute/kernel.h"

#include <set>

#include <gmock/gmock.h>

#include "calibrate/gpu/kernel.h"
#include "sim/compute/operator_graph.h"

namespace slmsim::kernel_test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// One layer of width 8 with 2 heads, 16 tokens, vocabulary 100.
Transformer tiny(Family family = Family::kGpt2) {
  return {.name = "tiny",
          .family = family,
          .hidden = 8,
          .heads = 2,
          .kv_heads = 2,
          .layers = 1,
          .sequence = 16,
          .vocabulary = 100,
          .intermediate = 32,
          .tied_embedding = true};
}

std::vector<UsedKernel> used_by(const std::vector<UsedKernel>& kernels, const std::string& name) {
  std::vector<UsedKernel> found;
  for (const auto& kernel : kernels) {
    if (std::find(kernel.operators.begin(), kernel.operators.end(), name) != kernel.operators.end())
      found.push_back(kernel);
  }
  return found;
}

Transformer with_dropout() {
  Transformer model = tiny();
  model.dropout = true;
  return model;
}

std::vector<KernelShape> shapes_of(const std::string& name, int sequences) {
  std::vector<KernelShape> shapes;
  for (const auto& kernel : used_by(kernels_of(build_operator_graph(with_dropout()), {sequences}), name))
    shapes.push_back(kernel.shape);
  return shapes;
}

TEST(Kernels, OfALinearLayerAreItsThreeProducts) {
  // 3 sequences are 48 tokens; X (48 x 8) W (8 x 24), dY (48 x 24) W^T (24 x 8), X^T (8 x 48) dY (48 x 24).
  EXPECT_THAT(shapes_of("qkv", 3),
              ElementsAre(KernelShape{"bias-backward", 1, 48, 24, 1}, KernelShape{"bias-forward", 1, 48, 24, 1},
                          KernelShape{"gemm-nn", 1, 48, 24, 8}, KernelShape{"gemm-nt", 1, 48, 8, 24},
                          KernelShape{"gemm-tn", 1, 8, 24, 48}));
}

TEST(Kernels, OfAttentionAreBatchesOfHeads) {
  // 2 heads of 3 sequences: Q (16 x 4) K^T; dS (16 x 16) K and dS^T Q are both 16 x 4.
  EXPECT_THAT(shapes_of("scores", 3),
              ElementsAre(KernelShape{"flash-backward", 6, 16, 16, 4}, KernelShape{"flash-forward", 6, 16, 16, 4},
                          KernelShape{"gemm-nn", 6, 16, 4, 16}, KernelShape{"gemm-nt", 6, 16, 16, 4},
                          KernelShape{"gemm-tn", 6, 16, 4, 16}));
  // P (16 x 16) V; dO (16 x 4) V^T is 16 x 16; P^T dO is 16 x 4.
  EXPECT_THAT(shapes_of("values", 3),
              ElementsAre(KernelShape{"gemm-nn", 6, 16, 4, 16}, KernelShape{"gemm-nt", 6, 16, 16, 4},
                          KernelShape{"gemm-tn", 6, 16, 4, 16}));
  // A row of 16 scores for each of 16 tokens, 2 heads, 3 sequences: whatever a stack makes of them.
  std::vector<std::string> names;
  for (const auto& shape : shapes_of("softmax", 3)) {
    EXPECT_EQ(shape, (KernelShape{shape.name, 1, 96, 16, 1}));
    names.push_back(shape.name);
  }
  EXPECT_THAT(names,
              ElementsAre("dropout-backward", "dropout-forward", "fused_softmax-backward", "fused_softmax-forward",
                          "mask-backward", "mask-forward", "softmax-backward", "softmax-forward"));
}

TEST(Kernels, OfATiedHeadReadTheEmbeddingTransposed) {
  // X (16 x 8) E^T with E of 100 x 8; dX = dY E; dE = dY^T X is 100 x 8.
  EXPECT_THAT(shapes_of("head", 1),
              ElementsAre(KernelShape{"gemm-nn", 1, 16, 8, 100}, KernelShape{"gemm-nt", 1, 16, 100, 8},
                          KernelShape{"gemm-tn", 1, 100, 8, 16}));
}

TEST(Kernels, DoTheWorkOfTheirOperators) {
  const OperatorGraph graph = build_operator_graph(tiny());
  for (std::size_t i = 0; i < boost::num_vertices(graph); ++i) {
    const Operator& op = graph[i];
    if (op.kind == OperatorKind::kMatrix) {
      const auto kernels = product_kernels(op, op.matrix);
      for (const auto& shape : {kernels.forward, kernels.inputs_gradient, kernels.factor_gradient})
        EXPECT_EQ(2 * shape.batch * shape.m * shape.n * shape.k, op.flops) << name_of(op.role);
    } else {
      for (const auto attention : {AttentionKernel::kUnfused, AttentionKernel::kFusedSoftmax}) {
        for (const PartUse& use : parts_of(op, attention)) {
          const KernelShape shape = part_kernels(op, use, 1).front().forward;
          EXPECT_EQ(static_cast<double>(shape.m * shape.n), op.outputs) << name_of(op.role);
          EXPECT_EQ(shape.k, op.kind == OperatorKind::kEmbedding ? 100 : 1);
        }
      }
    }
  }
}

TEST(Kernels, AreListedOnceForAllLayersAndOperatorsThatUseThem) {
  Transformer model = tiny();
  model.layers = 5;
  const auto norms = used_by(kernels_of(build_operator_graph(model), {1, 1}), "norm 1");
  ASSERT_THAT(norms, SizeIs(2));
  EXPECT_THAT(norms[0].operators, ElementsAre("norm 1", "norm 2", "final norm"));
}

TEST(Kernels, OfLlamaAreItsOwn) {
  std::set<std::string> names;
  for (const auto& kernel : kernels_of(build_operator_graph(tiny(Family::kLlama)), {1}))
    names.insert(kernel.shape.name);
  for (const char* name :
       {"rmsnorm-forward", "rmsnorm-backward", "rotary-forward", "swiglu-backward", "addition-forward"})
    EXPECT_TRUE(names.contains(name)) << name;
  for (const char* name : {"norm-forward", "bias-forward", "gelu-forward", "residual-forward", "dropout-forward"})
    EXPECT_FALSE(names.contains(name)) << name;
  // 16 tokens, queries and keys of 8 each.
  const auto rotated = used_by(kernels_of(build_operator_graph(tiny(Family::kLlama)), {2}), "qkv");
  EXPECT_TRUE(std::any_of(rotated.begin(), rotated.end(), [](const UsedKernel& kernel) {
    return kernel.shape == KernelShape{"rotary-forward", 1, 32, 16, 1};
  }));
}

// slmsim-calibrate and the simulator know the same names.
TEST(Kernels, AreThoseThatAreTimed) {
  std::set<std::string> names;
  for (const auto& model : {tiny(), tiny(Family::kLlama), with_dropout()}) {
    for (const auto& kernel : kernels_of(build_operator_graph(model), {1})) names.insert(kernel.shape.name);
  }
  const auto& timed = calibrate::kernel_names();
  EXPECT_EQ(names, std::set<std::string>(timed.begin(), timed.end()));
}

TEST(Kernels, HaveAHalfRowWhereOutputsAreDivided) {
  const OperatorGraph graph = build_operator_graph(tiny());
  for (std::size_t i = 0; i < boost::num_vertices(graph); ++i) {
    // Half of 1 sequence's 16 x 32 activations.
    if (graph[i].role != Role::kGelu) continue;
    const auto kernels = part_kernels(graph[i], parts_of(graph[i], AttentionKernel::kUnfused).front(), 0.5);
    EXPECT_EQ(kernels.front().forward, (KernelShape{"gelu-forward", 1, 8, 32, 1}));
  }
}

}  // namespace
}  // namespace slmsim::kernel_test
