#include "sim/sweep/queue.h"

#include <algorithm>

namespace slmsim {

PointQueue::PointQueue(std::uint64_t points, const std::function<bool(std::uint64_t)>& wanted)
    : points_(points), wanted_(wanted) {
  for (std::uint64_t point = 0; point < points; ++point) left_ += wanted(point) ? 1 : 0;
}

std::vector<std::uint64_t> PointQueue::take(std::size_t most, std::size_t workers) {
  const std::uint64_t share = left_ / (8 * std::max<std::size_t>(1, workers));
  const std::uint64_t count = std::min(left_, std::clamp<std::uint64_t>(share, 1, most));
  std::vector<std::uint64_t> out;
  while (out.size() < count && (!returned_.empty() || next_ < points_)) {
    if (!returned_.empty()) {
      out.push_back(returned_.front());
      returned_.pop_front();
    } else if (const std::uint64_t point = next_++; wanted_(point)) {
      out.push_back(point);
    }
  }
  if (out.empty() && !suspects_.empty()) {
    out.push_back(suspects_.front());
    suspects_.pop_front();
  }
  left_ -= out.size();
  return out;
}

void PointQueue::give_back(const std::vector<std::uint64_t>& points) {
  returned_.insert(returned_.end(), points.begin(), points.end());
  left_ += points.size();
}

bool PointQueue::died(std::uint64_t point) {
  if (++deaths_[point] > 1) return false;
  suspects_.push_back(point);
  ++left_;
  return true;
}

}  // namespace slmsim
