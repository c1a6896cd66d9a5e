// How a mesh divides the operators of a stage among its GPUs: Alpa's intra-operator planner (arXiv 2201.12023,
// section 4).
//
// Every operator has its valid divisions, each with a cost for what it computes and exchanges; every edge of
// the operator graph has a cost for bringing the activation from its producer's layout into its reader's, and its
// gradient back. Embedding and tied head must hold the same part of their common table. The cheapest choice of one
// division per operator is an integer program (sim/planner/solver/choice_program.h).
//
// Layers that repeat are planned once: a program in which all of them are divided alike and the costs of one
// count for all. Its optimum is then compared with the optimum of the whole, which allows each layer its own
// division; where that is less, the whole program is solved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/planner/planning_cost.h"
#include "sim/planner/solver/choice_program.h"

namespace slmsim {

struct IntraOperatorRequest {
  const OperatorGraph& operators;
  std::size_t first = 0, last = 0;  // operators [first, last)
  MeshShape shape{1, 1};
  double sequences = 1;  // of one micro-batch
  const Training& training;
  PlanningCosts costs;
  // Of each GPU for parameters, gradients, optimizer and the activations of so many micro-batches; absent: no limit.
  std::optional<Bytes> memory_limit;
  int micro_batches_in_flight = 1;
  // Say what is kept for the backward pass.
  AttentionKernel attention = AttentionKernel::kUnfused;
  Software software{};
  Recompute recompute = Recompute::kNone;
};

struct IntraOperatorPlan {
  std::vector<Division> shardings;  // of operators first, first + 1, ...; empty: there is none
  double cost = 0;                  // in the unit of the request's costs
  double bound = 0;                 // no other division of the stage costs less
  bool optimal = true;              // `cost` is that bound
  std::string reason;               // why there is no plan
};

IntraOperatorPlan divide_operators(const IntraOperatorRequest& request);

// The integer program, with the divisions that its options stand for. `alike`: layers that repeat are divided alike.
struct DivisionProgram {
  ChoiceProgram program;
  std::vector<std::vector<Division>> divisions;  // per choice and option
  std::vector<std::size_t> choice_of;            // per operator from `first` on
};
DivisionProgram division_program(const IntraOperatorRequest& request, bool alike);

}  // namespace slmsim
