// Cache of stage times and transfers for models of one shape that differ in the number of layers: the figures of an
// operator and the transfer of activations between GPUs do not depend on that number.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/unit.h"

namespace slmsim {

// Per operator of a model with few layers, divided as in a stage on one kind of submesh.
struct StageFigures {
  struct Operator {
    double seconds = 0, bytes = 0, bytes_in_flight = 0;
  };
  std::vector<Operator> operators;
  double limit = 0;  // bytes
};

// For one scenario, one shape of model, and one technique with its options.
class StageMemo {
 public:
  // Figures for a kind of submesh (MeshKinds), for models with this number of distinct layers, and stages with and
  // without embedding and head.
  const StageFigures& figures(const std::vector<int>& kind, int layers, bool begins, bool ends,
                              const std::function<StageFigures()>& make) {
    auto& found = figures_[{kind, layers, begins, ends}];
    if (!found) found = std::make_unique<StageFigures>(make());
    return *found;
  }

  // The number of a mesh, constant over calls.
  std::size_t number_of(const std::vector<int>& mesh) {
    return numbers_.try_emplace(mesh, numbers_.size()).first->second;
  }

  // Traffic between two meshes, by their numbers.
  double traffic(std::size_t from, std::size_t to, Bytes size, const std::function<double()>& make) {
    const auto [at, is_new] = traffic_.try_emplace({from, to, size.value});
    if (is_new) at->second = make();
    return at->second;
  }

 private:
  std::map<std::tuple<std::vector<int>, int, bool, bool>, std::unique_ptr<StageFigures>> figures_;
  std::map<std::vector<int>, std::size_t> numbers_;
  std::map<std::tuple<std::size_t, std::size_t, double>, double> traffic_;
};

}  // namespace slmsim
