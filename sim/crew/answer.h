// What a crew is asked and what it answers.
//
// A question is a number. Its answer is a value of the asker's own type, which travels between processes and lies in journals
// as two texts, of which either may be empty. Beside such a type its maker declares
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
