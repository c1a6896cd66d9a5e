// Which points are still to be predicted, and what becomes of one whose worker died.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

namespace slmsim {

class PointQueue {
 public:
  // Points 0 to `points` - 1, in order, of those that are `wanted`.
  PointQueue(std::uint64_t points, const std::function<bool(std::uint64_t)>& wanted);

  std::uint64_t left() const { return left_; }  // not yet taken
  // The next points, at most `most` and never so many that other workers would be left without any: an eighth of what
  // is left for each of them.
  std::vector<std::uint64_t> take(std::size_t most, std::size_t workers);
  // Points that were taken and not tried.
  void give_back(const std::vector<std::uint64_t>& points);
  // A worker died over this point. True if it is to be tried once more; it then comes alone.
  bool died(std::uint64_t point);

 private:
  std::uint64_t points_ = 0, next_ = 0, left_ = 0;
  std::function<bool(std::uint64_t)> wanted_;
  std::deque<std::uint64_t> returned_, suspects_;
  std::map<std::uint64_t, int> deaths_;
};

}  // namespace slmsim
