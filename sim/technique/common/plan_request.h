// Input of a technique's planning function.
#pragma once

#include "sim/compute/operator.h"
#include "sim/technique/common/plan.h"
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
  DivisionMemo* memo = nullptr;  // of Alpa's planner, optional
  StageMemo* stages = nullptr;   // shared by requests with other numbers of layers
};

}  // namespace slmsim
