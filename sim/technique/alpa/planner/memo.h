// Caches of Alpa's planner: of its divisions, and of the figures of stages.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/unit.h"
#include "sim/compute/transformer.h"
#include "sim/technique/alpa/planner/intra_operator.h"

namespace slmsim {

// Cache of earlier choices of Alpa's planner. Since its costs do not depend on the network (planning_cost.h), points
// of a sweep and candidates of a search often repeat the same request.

// Safe for use by several threads.
class DivisionMemo {
 public:
  // Result of divide_operators() for a request with alpa_costs of its shape, on the operators of this model.
  IntraOperatorPlan divide(const Transformer& model, const IntraOperatorRequest& request);

 private:
  // All inputs on which the result depends.
  struct Question {
    Transformer model;
    std::size_t first = 0, last = 0;
    MeshShape shape{1, 1};
    double sequences = 1;
    Training training;
    Recompute recompute = Recompute::kNone;
    std::optional<Bytes> memory_limit;
    int micro_batches_in_flight = 1;
    AttentionKernel attention = AttentionKernel::kUnfused;
    Software software;

    bool operator==(const Question&) const = default;
  };
  struct Answer {
    Question question;
    IntraOperatorPlan plan;
  };

  std::mutex one_at_a_time_;
  std::vector<Answer> answers_;
};

// Cache of stage times and transfers for models of one shape that differ in the number of layers: the figures of an
// operator and the transfer of activations between GPUs do not depend on that number.

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
