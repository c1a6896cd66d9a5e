#include "sim/base/text.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"

namespace slmsim {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string yaml_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string shell_word(const std::string& text) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("%+,-./:=@_").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

namespace {

constexpr std::size_t kLongestWord = 64;  // a longer "name" is not a typing mistake
constexpr std::size_t kListedNames = 24;
constexpr std::size_t kLeastPart = 3;    // shorter words occur in too many names by chance
constexpr std::size_t kMostOffered = 4;  // names that contain the word
constexpr std::size_t kMostLonger = 8;   // names that begin with the word

// Lower case, without separators.
std::string bare(std::string_view text) {
  std::string out = lower_case(std::string(text.substr(0, kLongestWord)));
  std::erase_if(out, [](unsigned char c) { return std::ispunct(c) || std::isspace(c); });
  return out;
}

// Optimal string alignment distance.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);  // of the words' first i letters
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min(std::min(last[j], row[j - 1]) + 1, replace);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::size_t difference(std::size_t a, std::size_t b) { return a > b ? a - b : b - a; }

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::string wanted = lower_case(std::string(word));
  std::string best;
  std::size_t best_distance = kLongestWord;
  for (const auto& candidate : candidates) {
    const std::size_t far = std::min(best_distance, std::max(word.size(), candidate.size()) / 3 + 1);
    // A difference in length is a lower bound of the distance.
    if (difference(word.size(), candidate.size()) >= far) continue;
    const std::size_t d = distance(wanted, lower_case(candidate));
    if (d < far) {
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
  // "zero3" means ZeRO-3, although ZeRO2 is nearer in edit distance.
  const std::string wanted = bare(word);
  std::vector<std::string> same;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(same),
               [&](const std::string& candidate) { return bare(candidate) == wanted; });
  if (!same.empty() && !wanted.empty()) return fmt::format("did you mean \"{}\"?", fmt::join(same, "\" or \""));
  // "a100" means "a100-40", although "h100" is nearer in edit distance.
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
