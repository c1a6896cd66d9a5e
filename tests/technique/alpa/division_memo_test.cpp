#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/planner/memo.h"

namespace slmsim::division_memo_test {
namespace {

Transformer model(std::int64_t layers) { return {"m", Family::kGpt2, 256, 4, 4, layers, 128, 1024, 1024, true}; }

IntraOperatorRequest request(const OperatorGraph& operators, const Training& training, MeshShape shape,
                             Recompute recompute) {
  return {operators, 0, boost::num_vertices(operators), shape, 4,        training, alpa_costs(shape),
          {},        1, AttentionKernel::kUnfused,      {},    recompute};
}

IntraOperatorPlan divide(DivisionMemo& memo, const Transformer& m, const Training& training, MeshShape shape,
                         Recompute recompute = Recompute::kNone) {
  const OperatorGraph operators = build_operator_graph(m);
  return memo.divide(m, request(operators, training, shape, recompute));
}

IntraOperatorPlan planned(const Transformer& m, const Training& training, MeshShape shape,
                          Recompute recompute = Recompute::kNone) {
  const OperatorGraph operators = build_operator_graph(m);
  return divide_operators(request(operators, training, shape, recompute));
}

TEST(DivisionMemo, AnswersAsThePlannerDoesAlsoWhenAskedAgainAfterOtherQuestions) {
  DivisionMemo memo;
  Training half;
  half.gradient_precision = Precision::kFp16;
  Training whole = half;
  whole.gradient_precision = Precision::kFp32;
  for (int round = 0; round < 2; ++round) {
    for (const std::int64_t layers : {2, 3}) {
      for (const MeshShape shape : {MeshShape{4, 1}, MeshShape{2, 2}}) {
        for (const Training& training : {half, whole}) {
          for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
            const auto remembered = divide(memo, model(layers), training, shape, recompute);
            const auto fresh = planned(model(layers), training, shape, recompute);
            EXPECT_EQ(remembered.shardings, fresh.shardings);
            EXPECT_EQ(remembered.cost, fresh.cost);
          }
        }
      }
    }
  }
}

TEST(DivisionMemo, ForgetsTheOldestOfManyQuestions) {
  DivisionMemo memo;
  for (int sequences = 1; sequences <= 300; ++sequences) divide(memo, model(1), {.batch = sequences}, {2, 1});
  EXPECT_EQ(divide(memo, model(1), {.batch = 1}, {2, 1}).shardings, planned(model(1), {.batch = 1}, {2, 1}).shardings);
}

}  // namespace
}  // namespace slmsim::division_memo_test
