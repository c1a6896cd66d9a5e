// Cache of earlier choices of Alpa's planner. Since its costs do not depend on the network (planning_cost.h), points
// of a sweep and candidates of a search often repeat the same request.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "sim/compute/transformer.h"
#include "sim/technique/alpa/planner/intra_operator.h"

namespace slmsim {

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

}  // namespace slmsim
