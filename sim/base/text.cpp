#include "sim/base/text.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"

namespace slmsim {

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
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
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

namespace {

constexpr std::size_t kLongestWord = 64;  // a longer "name" is not a typing mistake
constexpr std::size_t kListedNames = 24;
constexpr std::size_t kLeastPart = 3;    // shorter words occur in too many names by chance
constexpr std::size_t kFewNames = 12;    // for an error that may refer to a page
constexpr std::size_t kMostOffered = 4;  // names that contain the word
constexpr std::size_t kMostLonger = 8;   // names that begin with the word

// Lower case, without separators; an o after a digit is a zero.
std::string bare(std::string_view text) {
  std::string out = lower_case(std::string(text.substr(0, kLongestWord)));
  std::erase_if(out, [](unsigned char c) { return std::ispunct(c) || std::isspace(c); });
  for (std::size_t i = 1; i < out.size(); ++i) {
    if (out[i] == 'o' && std::isdigit(static_cast<unsigned char>(out[i - 1]))) out[i] = '0';
  }
  return out;
}

std::size_t difference(std::size_t a, std::size_t b) { return a > b ? a - b : b - a; }

bool is_digit(unsigned char c) { return std::isdigit(c) != 0; }

// Runs of letters and of digits, in lower case; separators end a run.
std::vector<std::string> runs_of(std::string_view text) {
  std::vector<std::string> runs;
  bool ended = true;
  for (const char c : lower_case(std::string(text))) {
    if (std::ispunct(static_cast<unsigned char>(c)) || std::isspace(static_cast<unsigned char>(c))) {
      ended = true;
      continue;
    }
    if (ended || is_digit(static_cast<unsigned char>(c)) != is_digit(static_cast<unsigned char>(runs.back().back())))
      runs.emplace_back();
    runs.back() += c;
    ended = false;
  }
  return runs;
}

// Whether the words differ by one swap of neighbours.
bool is_swap(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin());
  return a.end() - x > 1 && *x == y[1] && x[1] == *y && std::equal(x + 2, a.end(), y + 2);
}

constexpr std::string_view kVowels = "aeiouy";

// Whether one letter is typed for another: by its key's neighbour, or, in words of five and more, one like it in sound.
// Words of one or two letters are no words but marks: h100 and g100 differ.
bool is_slip(char a, char b, std::size_t length) {
  constexpr std::size_t kWord = 3, kLong = 5;
  if (length < kWord) return false;
  for (const std::string_view row : {"qwertyuiop", "asdfghjkl", "zxcvbnm"}) {
    const std::size_t at = row.find(a), other = row.find(b);
    if (at != std::string_view::npos && other != std::string_view::npos && difference(at, other) == 1) return true;
  }
  if (length < kLong) return false;
  for (const std::string_view alike :
       {kVowels, std::string_view("ck"), std::string_view("dt"), std::string_view("fv")}) {
    if (alike.find(a) != std::string_view::npos && alike.find(b) != std::string_view::npos) return true;
  }
  return false;
}

// Whether two words are the same that differ by one letter, at `at` of the longer one. Words of less than six letters
// that begin or end differently are others (neo, neox), but for a doubled letter, a plural and an end left out (cubi).
bool is_extra(const std::string& longer, std::size_t at, bool left_out) {
  constexpr std::size_t kLong = 6;
  const char extra = longer[at];
  const bool doubled = (at > 0 && longer[at - 1] == extra) || (at + 1 < longer.size() && longer[at + 1] == extra);
  if (doubled || longer.size() >= kLong) return true;
  const bool short_word = longer.size() + 1 < kLong;
  if (at + 1 == longer.size())
    return extra == 's' || (left_out && (!short_word || kVowels.find(extra) != std::string_view::npos));
  return at > 0;
}

constexpr std::size_t kOther = kLongestWord;  // more mistakes than any word may have

// Mistakes that lead from a run as typed to a known one (insert, drop, slip, swap neighbours); kOther where
// they are different words. Digits may only be swapped.
std::size_t mistakes(const std::string& a, const std::string& b) {
  if (a == b) return 0;
  if (is_swap(a, b)) return 1;
  if (is_digit(static_cast<unsigned char>(a.front())) || is_digit(static_cast<unsigned char>(b.front()))) return kOther;
  const std::size_t length = std::max(a.size(), b.size());
  const std::string &shorter = a.size() < b.size() ? a : b, &longer = a.size() < b.size() ? b : a;
  if (longer == shorter + "es") return 1;
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);  // of the words' first i letters
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = a[i - 1], y = b[j - 1];
      const bool repeated = (i > 1 && x == a[i - 2]) || (i < a.size() && x == a[i]) || (j > 1 && y == b[j - 2]) ||
                            (j < b.size() && y == b[j]);  // "ncll" for "nccl"
      const std::size_t cost = x == y ? 0 : repeated || is_slip(x, y, length) ? 1 : kOther;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + cost});
      if (i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  if (last.back() == 1 && longer.size() > shorter.size()) {
    const auto at = std::mismatch(shorter.begin(), shorter.end(), longer.begin()).second - longer.begin();
    if (!is_extra(longer, static_cast<std::size_t>(at), a.size() < b.size())) return kOther;
  }
  return last.back();
}

// Mistakes in the whole of a word; kOther for another word. Numbers must agree, and what follows them: an rtx3060 or
// an rtx3080ti is no rtx3080.
std::size_t mistakes_in(std::string_view word, std::string_view candidate) {
  auto a = runs_of(word), b = runs_of(candidate);
  if (a.size() != b.size()) {  // a separator more or less
    a = runs_of(bare(word));
    b = runs_of(bare(candidate));
  }
  if (a.size() != b.size() || a.empty()) return kOther;
  std::size_t count = 0, letters = 0;
  for (std::size_t i = 0; i < a.size() && count < kOther; ++i) {
    count += mistakes(a[i], b[i]);
    letters += std::max(a[i].size(), b[i].size());
  }
  constexpr std::size_t kEach = 5;  // letters to a mistake
  return count <= std::max<std::size_t>(1, letters / kEach) ? count : kOther;
}

// Whether a name goes on after a part of it: at a separator, or after four letters of a word by three more (arch,
// architecture). A number that goes on, or has a suffix, is another number.
bool goes_on(std::string_view name, std::size_t end, std::size_t length) {
  constexpr std::size_t kBeginning = 4, kMore = 3;
  if (end == name.size()) return true;
  const auto before = static_cast<unsigned char>(name[end - 1]), after = static_cast<unsigned char>(name[end]);
  if (!std::isalnum(before) || !std::isalnum(after)) return true;
  if (is_digit(before) || is_digit(after)) return !is_digit(before);
  std::size_t letters = 0;
  while (letters < length && std::isalpha(static_cast<unsigned char>(name[end - 1 - letters]))) ++letters;
  std::size_t more = 0;
  while (end + more < name.size() && std::isalpha(static_cast<unsigned char>(name[end + more]))) ++more;
  return letters >= kBeginning && more >= kMore;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return "";
  std::string best;
  std::size_t least = kOther;
  for (const auto& candidate : candidates) {
    if (const std::size_t count = mistakes_in(word, candidate); count < least) {
      best = candidate;
      least = count;
    }
  }
  return best;
}

std::vector<std::string> that_contain(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() < kLeastPart || word.size() > kLongestWord) return {};
  const std::string wanted = lower_case(std::string(word));
  std::vector<std::string> begin, contain;
  for (const auto& candidate : candidates) {
    const std::string name = lower_case(candidate);
    const std::size_t at = name.find(wanted);
    if (at == std::string::npos || !goes_on(name, at + wanted.size(), wanted.size())) continue;
    if (at > 0 && std::isalnum(static_cast<unsigned char>(name[at - 1])) &&
        is_digit(name[at - 1]) == is_digit(name[at]))
      continue;  // within a word: "opt" in "adopt"
    (at == 0 ? begin : contain).push_back(candidate);
  }
  return begin.empty() ? contain : begin;
}

namespace {

// Without blanks around them.
std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == ',')
      out.emplace_back();
    else if (c != ' ')
      out.back() += c;
  }
  return out;
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names, std::string_view page) {
  std::vector<std::string> candidates;  // each once
  for (const auto& name : names) {
    if (std::ranges::find(candidates, name) == candidates.end()) candidates.push_back(name);
  }
  // A list without its brackets.
  if (const auto parts = split_at_commas(word); parts.size() > 1) {
    const auto is_known = [&](const std::string& part) { return std::ranges::find(names, part) != names.end(); };
    if (std::ranges::all_of(parts, is_known)) return fmt::format("did you mean [{}]?", fmt::join(parts, ", "));
  }
  // "zero3" means ZeRO-3, "epoch" epochs.
  const std::string wanted = bare(word);
  const auto is_plural = [](const std::string& one, const std::string& other) {
    return !one.empty() && !is_digit(static_cast<unsigned char>(one.back())) && other == one + "s";
  };
  std::vector<std::string> same;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(same), [&](const std::string& candidate) {
    const std::string name = bare(candidate);
    return name == wanted || is_plural(wanted, name) || is_plural(name, wanted);
  });
  if (!same.empty() && !wanted.empty()) return fmt::format("did you mean \"{}\"?", fmt::join(same, "\" or \""));
  // "a100" means "a100-40".
  if (const auto longer = that_contain(word, candidates);
      !longer.empty() &&
      longer.size() <=
          (lower_case(longer.front()).starts_with(lower_case(std::string(word))) ? kMostLonger : kMostOffered))
    return fmt::format("did you mean \"{}\"?", fmt::join(longer, "\" or \""));
  if (const std::string best = nearest(word, candidates); !best.empty())
    return fmt::format("did you mean \"{}\"?", best);
  if (candidates.empty()) return "nothing is known by any name here";
  if (!page.empty() && candidates.size() > kFewNames)
    return fmt::format("{} lists the {} known ones", page, candidates.size());
  const std::size_t shown = std::min(candidates.size(), kListedNames);
  return fmt::format("known are: {}{}",
                     fmt::join(candidates.begin(), candidates.begin() + static_cast<long>(shown), ", "),
                     shown < candidates.size() ? ", ..." : "");
}

std::string_view line_of(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace slmsim
