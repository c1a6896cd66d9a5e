// Data shared by the predictions of one scenario under changing values, as in a sweep.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/compute/operator.h"
#include "sim/compute/transformer.h"
#include "sim/technique/common/lower.h"
#include "sim/technique/common/memory.h"
#include "sim/technique/common/plan.h"

namespace slmsim {

// A plan and its tasks. They are reused where only the network between VMs changed (distances, rates, losses, TCP's settings)
// and the plan is the same.
class LoweredPlan {
 public:
  // As make_plan; the request may differ from the last call's only in the network between VMs. Valid until the next call.
  const PlanResult& plan(const PlanRequest& request);
  // The tasks of the request, which may differ from the last call's only in the network between VMs. Valid until the next call.
  const Lowered& of(const LowerRequest& request);
  // Memory that its GPUs hold, under the same conditions.
  const std::vector<DeviceMemory>& memory(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);
  std::size_t tasks() const { return lowered_ ? lowered_->graph.tasks().size() : 0; }

 private:
  std::optional<PlanResult> made_;
  std::optional<Plan> plan_, held_;
  std::optional<Lowered> lowered_;
  std::vector<DeviceMemory> memory_;       // of held_
};

class PredictionMemo {
 public:
  // The operators of recently requested models. Valid until the next call.
  const OperatorGraph& operators(const Transformer& model);
  // One for each model, group and technique of the scenario, in this order: those of an earlier scenario that differed only in
  // the network between VMs, else empty. Valid until the next call.
  std::vector<LoweredPlan>& lowered_plans(const Scenario& scenario);

 private:
  struct Variant {
    Scenario scenario;  // without that network
    std::vector<LoweredPlan> plans;
  };

  std::deque<std::pair<Transformer, std::shared_ptr<const OperatorGraph>>> operators_;
  std::vector<Variant> variants_;  // the one used last is the last one
};

}  // namespace slmsim
