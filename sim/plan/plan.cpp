#include "sim/plan/plan.h"

#include <algorithm>

namespace slmsim {

std::vector<std::vector<std::size_t>> Stage::groups(Axes axes) const {
  const auto wide = static_cast<std::size_t>(columns);
  std::vector<std::vector<std::size_t>> out(mesh.size() / static_cast<std::size_t>(span(axes, shape())));
  for (std::size_t rank = 0; rank < mesh.size(); ++rank) {
    // Its place along the axes that the group does not span.
    const std::size_t row = contains(axes, 0) ? 0 : rank / wide, column = contains(axes, 1) ? 0 : rank % wide;
    out[contains(axes, 1) ? row : row * wide + column].push_back(rank);
  }
  return out;
}

int micro_batches_in_flight(const Plan& plan, std::size_t stage) {
  if (plan.schedule == Schedule::kGpipe) return plan.micro_batches;
  return std::min(plan.micro_batches, static_cast<int>(plan.stages.size() - stage));
}

}  // namespace slmsim
