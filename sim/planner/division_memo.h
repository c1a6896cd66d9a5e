// What Alpa's planner chose before. Its costs know nothing of the network (planning_cost.h), so that many points of a sweep
// and many candidates of a search ask it the same question.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "sim/model/transformer.h"
#include "sim/planner/intra_operator.h"

namespace slmsim {

// May be asked by several threads.
class DivisionMemo {
 public:
  // divide_operators() of a request with alpa_costs of its shape, on the operators of this model.
  IntraOperatorPlan divide(const Transformer& model, const IntraOperatorRequest& request);

 private:
  // All that such a request's answer depends on.
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
