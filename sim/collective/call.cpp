#include "sim/collective/call.h"

namespace slmsim {

Axes within(Axes axes, const MeshShape& shape) {
  for (std::size_t a = 0; a < kAxes; ++a) {
    if (shape[a] < 2) axes &= ~(1u << a);
  }
  return axes;
}

int span(Axes axes, const MeshShape& shape) {
  int gpus = 1;
  for (std::size_t a = 0; a < kAxes; ++a) gpus *= contains(axes, a) ? shape[a] : 1;
  return gpus;
}

std::vector<std::vector<std::size_t>> groups_along(Axes axes, const MeshShape& shape) {
  const auto rows = static_cast<std::size_t>(shape[0]), columns = static_cast<std::size_t>(shape[1]);
  std::vector<std::vector<std::size_t>> out(rows * columns / static_cast<std::size_t>(span(axes, shape)));
  for (std::size_t rank = 0; rank < rows * columns; ++rank) {
    // Its position along the axes outside the group.
    const std::size_t row = contains(axes, 0) ? 0 : rank / columns, column = contains(axes, 1) ? 0 : rank % columns;
    out[contains(axes, 1) ? row : row * columns + column].push_back(rank);
  }
  return out;
}

}  // namespace slmsim
