#include "sim/crew/question.h"

#include <algorithm>

namespace slmsim {

QuestionQueue::QuestionQueue(std::uint64_t count, const std::function<bool(std::uint64_t)>& wanted)
    : count_(count), wanted_(wanted) {
  for (std::uint64_t question = 0; question < count; ++question) left_ += wanted(question) ? 1 : 0;
}

std::vector<std::uint64_t> QuestionQueue::take(std::size_t most, std::size_t workers) {
  const std::uint64_t share = left_ / (8 * std::max<std::size_t>(1, workers));
  const std::uint64_t count = std::min(left_, std::clamp<std::uint64_t>(share, 1, most));
  std::vector<std::uint64_t> out;
  while (out.size() < count && (!returned_.empty() || next_ < count_)) {
    if (!returned_.empty()) {
      out.push_back(returned_.front());
      returned_.pop_front();
    } else if (const std::uint64_t question = next_++; wanted_(question)) {
      out.push_back(question);
    }
  }
  if (out.empty() && !suspects_.empty()) {
    out.push_back(suspects_.front());
    suspects_.pop_front();
  }
  left_ -= out.size();
  return out;
}

void QuestionQueue::give_back(const std::vector<std::uint64_t>& questions) {
  returned_.insert(returned_.end(), questions.begin(), questions.end());
  left_ += questions.size();
}

bool QuestionQueue::died(std::uint64_t question) {
  if (++deaths_[question] > 1) return false;
  suspects_.push_back(question);
  ++left_;
  return true;
}

}  // namespace slmsim
