// Questions and answers of a crew.
//
// A question is a number. Its answer is a value of the caller's own type, which is sent between processes and stored in
// journals as two texts, either of which may be empty. Such a type comes with
//   Texts to_texts(const Answer&);
//   void from_texts(const Texts&, Answer&);    // throws std::runtime_error where the texts are no such answer
#pragma once

#include <string>

namespace slmsim {

struct Texts {
  std::string first, second;

  bool operator==(const Texts&) const = default;
};

}  // namespace slmsim
