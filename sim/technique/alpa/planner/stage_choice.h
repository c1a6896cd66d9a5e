// The inter-operator planner's problem for a group, and its solution: the layers and GPUs of each stage.
//
// Stage times are those of the intra-operator planner's divisions on the submesh, by this platform's times (Alpa
// measures its candidates on the machine). Submeshes are 1, 2, 4, ... neighbouring GPUs of a VM, whole VMs, and 2, 4,
// ... whole neighbouring VMs; with `tensor` those that it divides: inside a VM `tensor`, 2 x `tensor`, ... GPUs.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "sim/compute/operator.h"
#include "sim/technique/alpa/planner/inter_operator.h"
#include "sim/technique/common/plan.h"

namespace slmsim {

// Clusters operators into layers, between which a pipeline may be cut.

// Operators clustered into `layers` layers (Alpa, section 5.2): first operator of each. Cuts are at places where a
// single activation crosses; no layer has more than 1.6 times its share of the FLOPs (Alpa's eps) if possible; then
// bytes across cuts are minimised, and ties are resolved by the most even layers. Fewer layers where there are fewer
// cuts.
std::vector<std::size_t> cluster_operators(const OperatorGraph& operators, std::size_t layers);

struct ChosenStage {
  std::size_t first = 0, last = 0;  // operators
  std::vector<int> mesh;

  bool operator==(const ChosenStage&) const = default;
};

// Prefix sums over the operators before each layer, divided as on one kind of submesh; and the time in which GPUs gather what
// they receive in parts, by a stage that begins with the layer, and by one that ends before it.
struct StageFigures {
  std::vector<double> seconds, bytes, bytes_in_flight, begins, ends;
  double received = 0;  // bytes of a micro-batch's input from the stage before
  double limit = 0;
};

// Tables by what they depend on: neither the schedule nor the number of stages, so that plans for choices that differ only in
// these share them. For one model, platform and settings of NCCL.
struct StageTables {
  struct Key {
    int planner = 0, batch = 0, micro_batches = 0;
    bool tensor = false;  // degrees are given
    Recompute recompute = Recompute::kNone;
    Precision gradients = Precision::kFp16;
    std::vector<int> mesh = {};  // its kind
    bool begins = false, ends = false;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): see sim/base/unit.h
  };
  std::map<Key, StageFigures> known = {};
};

// The pipelines among which the planner chooses: stages of consecutive layers on submeshes of the GPUs in one of several orders.
struct StageCuts {
  struct Order {
    std::vector<int> devices;
    std::vector<Submesh> submeshes;
  };
  std::vector<std::size_t> starts;  // first operator of each layer, and the number of operators
  std::vector<Order> orders;
  std::size_t stages = 0;  // 0: any number
  int columns = 1;         // number of columns of each stage's mesh (Stage::columns)
};
StageCuts stage_cuts(const PlanRequest& request);

// Up to this number of VMs, planner kSlmsim tries every order.
inline constexpr std::size_t kMostVmsPermuted = 4;

// Planner kAlpa uses the group's order of GPUs and ignores the traffic between stages; kSlmsim counts it and
// tries orders of VMs. Empty where nothing fits. More than one where TCP's windows shrink between micro-batches: the formula has no
// closed form for how far, and a simulation has to choose.
std::vector<std::vector<ChosenStage>> choose_stages(const PlanRequest& request, const Network& network);

}  // namespace slmsim
