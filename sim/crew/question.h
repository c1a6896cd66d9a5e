// Questions and answers of a crew, and the queue of the open ones.
//
// A question is a number. Its answer is a value of the caller's own type, which is sent between processes and stored in
// journals as two texts, either of which may be empty. Such a type comes with
//   Texts to_texts(const Answer&);
//   void from_texts(const Texts&, Answer&);    // throws std::runtime_error where the texts are no such answer
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace slmsim {

struct Texts {
  std::string first, second;

  bool operator==(const Texts&) const = default;
};

// Open questions, and the handling of one whose worker died.
class QuestionQueue {
 public:
  // Questions 0 to `count` - 1, in order, of those that are `wanted`.
  QuestionQueue(std::uint64_t count, const std::function<bool(std::uint64_t)>& wanted);
  // These questions, in their order.
  explicit QuestionQueue(const std::vector<std::uint64_t>& questions) { give_back(questions); }

  std::uint64_t left() const { return left_; }  // not yet taken
  // The next ones: at most `most`, and at most an eighth of a worker's share of the rest (at least one), so that no worker is
  // left without any.
  std::vector<std::uint64_t> take(std::size_t most, std::size_t workers);
  // Returns questions that were taken and not tried.
  void give_back(const std::vector<std::uint64_t>& questions);
  // A worker died over this question. True if it is to be retried once; it then comes alone.
  bool died(std::uint64_t question);

 private:
  std::uint64_t count_ = 0, next_ = 0, left_ = 0;
  std::function<bool(std::uint64_t)> wanted_;
  std::deque<std::uint64_t> returned_, suspects_;
  std::map<std::uint64_t, int> deaths_;
};

}  // namespace slmsim
