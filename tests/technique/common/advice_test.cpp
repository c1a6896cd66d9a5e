// Advice where memory does not suffice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/predict/predict.h"
#include "sim/technique/common/memory.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::advice_test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Case {
  explicit Case(int batch, double memory) : scenario(small_scenario(1, 3)) {
    scenario.training.batch = batch;
    scenario.techniques = {{named("Data"), {}}};
    for (auto& device : scenario.platform.devices) device.gpu.memory = Bytes{memory};
  }
  std::string advice(std::span<const Prediction> known = {}) const {
    Group group{{"a"}, {0, 1, 2}};
    const PlanRequest request{scenario, model, operators, group, scenario.techniques.front()};
    const PlanResult result = make_plan(request);
    return result.plan ? out_of_memory_advice(request, *result.plan, known) : result.reason;
  }
  double needed() const {
    Group group{{"a"}, {0, 1, 2}};
    const PlanResult result = make_plan({scenario, model, operators, group, scenario.techniques.front()});
    double most = 0;
    for (const auto& one : memory_of(*result.plan, operators, scenario)) most = std::max(most, one.total().value);
    return most;
  }
  Scenario scenario;
  Transformer model = small_model(2);
  OperatorGraph operators = build_operator_graph(model);
};

TEST(Advice, NamesTheBatchThatDividesAmongTheGpus) {
  // 13 sequences make no micro-batches of three: one GPU has five at once, where of 12 each has one.
  const double room = Case(12, 1e9).needed();
  EXPECT_GT(Case(13, 1e9).needed(), room);
  EXPECT_THAT(Case(13, room).advice(), HasSubstr("a batch of 12, which divides among 3 GPUs"));
  EXPECT_THAT(Case(14, room).advice(), HasSubstr("a batch of 15, which divides among 3 GPUs"));  // 14 is nearer to 15
  EXPECT_THAT(Case(12, room / 2).advice(), Not(HasSubstr("a batch of")));
}

TEST(Advice, TakesWhatFitsFromKnownPredictions) {
  Case none(12, 1);
  none.scenario.techniques.push_back({named("FSDP"), {}});
  EXPECT_THAT(none.advice(), Not(HasSubstr("FSDP")));
  std::vector<Prediction> known(1);
  known[0].model = none.model.name;
  known[0].technique = named("FSDP");
  known[0].group = {"b"};
  EXPECT_THAT(none.advice(known), Not(HasSubstr("FSDP")));
  known[0].group = {"a"};
  EXPECT_THAT(none.advice(known), HasSubstr("it would fit with FSDP"));
  known[0].status = Status::kOutOfMemory;
  EXPECT_THAT(none.advice(known), Not(HasSubstr("FSDP")));
}

}  // namespace
}  // namespace slmsim::advice_test
