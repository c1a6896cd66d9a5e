#include "sim/technique/alpa/planner/memo.h"

#include <algorithm>

namespace slmsim {

namespace {

// Linear search; more entries than the stages and meshes of a few scenarios.
constexpr std::size_t kMostAnswers = 256;

}  // namespace

IntraOperatorPlan DivisionMemo::divide(const Transformer& model, const IntraOperatorRequest& r) {
  Question question{model,       r.first,        r.last,
                    r.shape,     r.sequences,    r.training,
                    r.recompute, r.memory_limit, r.micro_batches_in_flight,
                    r.attention, r.software};
  {
    const std::lock_guard lock(one_at_a_time_);
    const auto known =
        std::find_if(answers_.begin(), answers_.end(), [&](const Answer& a) { return a.question == question; });
    if (known != answers_.end()) return known->plan;
  }
  IntraOperatorPlan plan = divide_operators(r);
  const std::lock_guard lock(one_at_a_time_);
  if (answers_.size() == kMostAnswers) answers_.erase(answers_.begin());
  answers_.push_back({std::move(question), plan});
  return plan;
}

}  // namespace slmsim
