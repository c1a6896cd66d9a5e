// "Did you mean": the known name nearest to a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slmsim {

// The candidate at the smallest edit distance (insert, delete, replace, swap neighbours; case ignored), or ""
// when none is near: at most one third of the longer word may differ.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Names that begin with the word, or else those that contain it; case ignored. None for a word of one or two letters.
std::vector<std::string> that_contain(std::string_view word, const std::vector<std::string>& candidates);

// "did you mean \"X\"?": with names that are the same but for case and punctuation, else with the few that begin with the word or contain it, else with the nearest one; "known
// are: a, b, c" where there is neither. Ends an error's text.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace slmsim
