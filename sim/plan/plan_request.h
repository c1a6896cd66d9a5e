// What a technique is asked for when it makes its plan.
#pragma once

#include "sim/model/operator.h"
#include "sim/plan/plan.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

class DivisionMemo;
class StageMemo;

struct PlanRequest {
  const Scenario& scenario;
  const Transformer& model;
  const OperatorGraph& operators;
  const Group& group;
  const TechniqueOptions& options;
  DivisionMemo* memo = nullptr;  // of Alpa's planner, where there is one
  StageMemo* stages = nullptr;   // where the same is asked for other numbers of layers
};

}  // namespace slmsim
