// The first few of an iteration's micro-batches. Two such samples, one a round longer than the other, show what a round adds.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/technique/common/lower.h"

namespace slmsim {

struct Sample {
  Lowered lowered;
  // Tasks of each device's stream, of each host and of each connection, in their order.
  std::vector<std::vector<TaskId>> lines;

  const TaskGraph& graph() const { return lowered.graph; }
  std::size_t devices() const { return static_cast<std::size_t>(graph().device_count()); }
  std::optional<std::size_t> line_of(TaskId id) const;
  std::span<const std::vector<TaskId>> streams() const { return {lines.data(), devices()}; }
  std::span<const std::vector<TaskId>> connections() const { return std::span(lines).subspan(2 * devices()); }
};

// Equal GPUs are merged. `micro_batches`: a multiple of micro_batch_round.
Sample sample(const LowerRequest& request, int micro_batches);

// Number of first micro-batches that may differ from the later ones.
inline constexpr int kFirstOnes = 3;
// Rounds up to a multiple of micro_batch_round.
int in_whole_rounds(int micro_batches, const Plan& plan);

}  // namespace slmsim
