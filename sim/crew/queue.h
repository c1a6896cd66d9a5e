// Which questions are still to be asked, and what becomes of one whose worker died.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

namespace slmsim {

class QuestionQueue {
 public:
  // Questions 0 to `count` - 1, in order, of those that are `wanted`.
  QuestionQueue(std::uint64_t count, const std::function<bool(std::uint64_t)>& wanted);
  // These, in their order.
  explicit QuestionQueue(const std::vector<std::uint64_t>& questions) { give_back(questions); }

  std::uint64_t left() const { return left_; }  // not yet taken
  // The next ones, at most `most` and never so many that other workers would be left without any: an eighth of what
  // is left for each of them.
  std::vector<std::uint64_t> take(std::size_t most, std::size_t workers);
  // What was taken and not tried.
  void give_back(const std::vector<std::uint64_t>& questions);
  // A worker died over this question. True if it is to be tried once more; it then comes alone.
  bool died(std::uint64_t question);

 private:
  std::uint64_t count_ = 0, next_ = 0, left_ = 0;
  std::function<bool(std::uint64_t)> wanted_;
  std::deque<std::uint64_t> returned_, suspects_;
  std::map<std::uint64_t, int> deaths_;
};

}  // namespace slmsim
