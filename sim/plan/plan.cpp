#include "sim/plan/plan.h"

#include <algorithm>

namespace slmsim {

std::string name_of(Sharding sharding) {
  switch (sharding) {
    case Sharding::kReplicated:
      return "replicated";
    case Sharding::kBatch:
      return "batch";
    case Sharding::kColumn:
      return "column";
    case Sharding::kRow:
      return "row";
  }
  return "";
}

int micro_batches_in_flight(const Plan& plan, std::size_t stage) {
  if (plan.schedule == Schedule::kGpipe) return plan.micro_batches;
  return std::min(plan.micro_batches, static_cast<int>(plan.stages.size() - stage));
}

}  // namespace slmsim
