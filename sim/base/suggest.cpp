#include "sim/base/suggest.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"

namespace slmsim {
namespace {

constexpr std::size_t kLongestWord = 64;  // a longer "name" is not a typing mistake
constexpr std::size_t kListedNames = 24;
constexpr std::size_t kLeastPart = 3;    // shorter words are in too many names by chance
constexpr std::size_t kMostOffered = 4;  // names that contain what was written
constexpr std::size_t kMostLonger = 8;   // names that begin with it

// Without case and what joins words.
std::string bare(std::string_view text) {
  std::string out = lower_case(std::string(text.substr(0, kLongestWord)));
  std::erase_if(out, [](unsigned char c) { return std::ispunct(c) || std::isspace(c); });
  return out;
}

// Optimal string alignment distance.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::string wanted = lower_case(std::string(word));
  std::string best;
  std::size_t best_distance = kLongestWord;
  for (const auto& candidate : candidates) {
    const std::size_t d = distance(wanted, lower_case(candidate));
    const bool near = d * 3 <= std::max(word.size(), candidate.size());
    if (near && d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

std::vector<std::string> that_contain(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() < kLeastPart || word.size() > kLongestWord) return {};
  const std::string wanted = lower_case(std::string(word));
  std::vector<std::string> begin, contain;
  for (const auto& candidate : candidates) {
    const std::size_t at = lower_case(candidate).find(wanted);
    if (at != std::string::npos) (at == 0 ? begin : contain).push_back(candidate);
  }
  return begin.empty() ? contain : begin;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  // "zero3" is ZeRO-3, though ZeRO2 is nearer by letters than by what was meant.
  std::vector<std::string> same;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(same),
               [&](const std::string& candidate) { return bare(candidate) == bare(word); });
  if (!same.empty() && !bare(word).empty()) return fmt::format("did you mean \"{}\"?", fmt::join(same, "\" or \""));
  // "a100" is nearer to "h100" by letters than to "a100-40", which is what was meant.
  if (const auto longer = that_contain(word, candidates);
      !longer.empty() &&
      longer.size() <=
          (lower_case(longer.front()).starts_with(lower_case(std::string(word))) ? kMostLonger : kMostOffered))
    return fmt::format("did you mean \"{}\"?", fmt::join(longer, "\" or \""));
  if (const std::string best = nearest(word, candidates); !best.empty())
    return fmt::format("did you mean \"{}\"?", best);
  if (candidates.empty()) return "nothing is known by any name here";
  const std::size_t shown = std::min(candidates.size(), kListedNames);
  return fmt::format("known are: {}{}",
                     fmt::join(candidates.begin(), candidates.begin() + static_cast<long>(shown), ", "),
                     shown < candidates.size() ? ", ..." : "");
}

}  // namespace slmsim
