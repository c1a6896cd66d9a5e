// Division of a stage's operators among a mesh's GPUs: Alpa's intra-operator planner (arXiv 2201.12023, section 4).
//
// Every operator has its valid divisions, each with a cost of computation and exchange; every edge of the operator
// graph has a cost of converting the activation from its producer's layout to its reader's, and its gradient back.
// Embedding and tied head must hold the same part of their common table. The cheapest choice of one division per
// operator is an integer program (sim/technique/alpa/planner/solver/choice_program.h).
//
// Repeated layers are planned once: in a first program all of them have equal divisions, and the costs of one count for
// all. Its optimum is then compared with that of the whole program, which allows each layer its own division; if the
// latter is lower, the whole program is solved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/technique/alpa/planner/planning_cost.h"
#include "sim/technique/alpa/planner/solver/choice_program.h"

namespace slmsim {

struct IntraOperatorRequest {
  const OperatorGraph& operators;
  std::size_t first = 0, last = 0;  // operators [first, last)
  MeshShape shape{1, 1};
  double sequences = 1;  // of one micro-batch
  const Training& training;
  PlanningCosts costs;
  // Limit of each GPU for parameters, gradients, optimizer and the activations of `micro_batches_in_flight`; absent:
  // none.
  std::optional<Bytes> memory_limit;
  int micro_batches_in_flight = 1;
  // Determine the tensors kept for the backward pass.
  AttentionKernel attention = AttentionKernel::kUnfused;
  Software software{};
  Recompute recompute = Recompute::kNone;
};

struct IntraOperatorPlan {
  std::vector<Division> shardings;  // of operators first, first + 1, ...; empty: there is none
  double cost = 0;                  // in the unit of the request's costs
  double bound = 0;                 // lower bound of the cost of any division of the stage
  bool optimal = true;              // `cost` equals the bound
  std::string reason;               // why there is no plan
};

IntraOperatorPlan divide_operators(const IntraOperatorRequest& request);

// The integer program, with the divisions of its options. `alike`: repeated layers have equal divisions.
struct DivisionProgram {
  ChoiceProgram program;
  std::vector<std::vector<Division>> divisions;  // per choice and option
  std::vector<std::size_t> choice_of;            // per operator from `first` on
};
DivisionProgram division_program(const IntraOperatorRequest& request, bool alike);

// Divisions within a memory limit where repeated layers cannot all have the same division: some are faster, some
// smaller. The program of the whole is then hard for branch and bound, since its layers are interchangeable.
//
// The limit is replaced by a price: for price p per byte the cheapest division of repeated layers costs min(cost + p
// use), an integer program without limit. Bisection finds the price whose division is just small enough; some of its
// layers are then replaced by those of the division at a slightly lower price. Each price gives a lower bound min(cost
// + p use) - p limit of the whole program (Lagrangian relaxation), which shows the quality of the result.
struct MemoryDivision {
  std::vector<std::size_t> options;  // of the whole program; empty: none was found
  double cost = 0;
  double bound = 0;  // lower bound of the cost within the limit
};

// `once` and `each`: the programs of one request with and without equal divisions of layers, with a memory limit.
MemoryDivision divide_within_memory(const DivisionProgram& once, const DivisionProgram& each,
                                    const IntraOperatorRequest& request);

}  // namespace slmsim
