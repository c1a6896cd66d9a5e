// A collective that all its GPUs begin at once, on links that carry nothing else: simulated by itself, for passages.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "sim/collective/communicator.h"
#include "sim/engine/passage.h"

namespace slmsim {

struct Alone {
  Seconds length;
  Inside inside;  // connections in the order in which Communicator::connect opens them
  // For each of them and each link of its route, by how many of them it is crossed.
  std::vector<std::vector<int>> crossed;
};

// A computation beside the collective, from its beginning, which NCCL's kernels slow down.
struct Beside {
  Seconds time;
  Work work;

  bool operator==(const Beside&) const = default;
};

// For the passages of a plan.
struct PassageRules {
  // GPUs whose passes over layers and steps of rounds are lowered task by task all the same.
  std::set<int> in_full = {};
  std::map<int, Seconds> step = {};  // length of a GPU's repeated steps (RepeatedSteps), once known
  // Known ones, by places of GPUs that have equal links, bytes, and what is beside.
  std::map<std::tuple<std::vector<int>, Collective, double, double, double>, std::optional<Alone>> known = {};
};

// nullopt where the GPUs do not all end at once.
std::optional<Alone> run_alone(const Network& network, const NcclSetup& nccl, const std::vector<int>& devices,
                               const CollectiveCall& call, const std::optional<Beside>& beside = {});

}  // namespace slmsim
