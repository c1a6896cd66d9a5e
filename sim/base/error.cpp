#include "sim/base/error.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/text.h"

namespace slmsim {
namespace {

constexpr std::size_t kShownLineLength = 160;  // longer lines are cut so that the error stays readable

// A text from a file may be as long as the file.
std::string_view shortened(std::string_view text) {
  constexpr std::size_t kMost = 600;
  return text.substr(0, kMost);
}

// Number of UTF-8 letters: bytes that do not continue one.
int letters(std::string_view text) {
  return static_cast<int>(std::ranges::count_if(text, [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

std::string_view shown_line(const Place& place) {
  return place.source && place.line > 0 ? line_of(place.source->text, place.line) : std::string_view{};
}

bool is_inside(const Place& place, std::string_view line) {
  return place.column >= 1 && static_cast<std::size_t>(place.column) <= line.size() + 1;
}

// Drops repetitions of an error inside a YAML anchor, which every key that uses the anchor reports under its own path.
std::vector<Error> told_once(std::vector<Error> errors) {
  std::set<std::tuple<std::string, int, int, std::string>> told;
  std::erase_if(errors, [&](const Error& one) {
    if (!one.place.source || one.place.column == 0) return false;
    const std::size_t path = one.text.find(": ");
    const bool is_path = path != std::string::npos && one.text.find(' ') > path;
    const std::string what = is_path ? one.text.substr(path) : one.text;
    return !told.emplace(one.place.source->name, one.place.line, one.place.column, what).second;
  });
  return errors;
}

// Keeps the first errors only.
std::vector<Error> bounded(std::vector<Error> errors) {
  constexpr std::size_t kMost = 50;
  if (errors.size() <= kMost) return errors;
  const std::size_t more = errors.size() - kMost;
  errors.resize(kMost);
  errors.push_back({{}, fmt::format("and {} more errors", more)});
  return errors;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(
      out, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return out;
}

int letter_column(const Place& place) {
  const std::string_view shown = shown_line(place);
  return is_inside(place, shown) ? letters(shown.substr(0, static_cast<std::size_t>(place.column - 1))) + 1
                                 : place.column;
}

std::string to_string(const Error& error) {
  std::string out = error.place.source ? printable(shortened(error.place.source->name)) : "slmsim";
  const std::string_view shown = shown_line(error.place);
  const bool inside = is_inside(error.place, shown);
  const int column = letter_column(error.place);
  if (error.place.line > 0) out += fmt::format(":{}:{}", error.place.line, column);
  out += fmt::format(": error: {}", printable(shortened(error.text)));
  if (!inside || shown.empty() || shown.size() > kShownLineLength) return out;
  return out + fmt::format("\n  {}\n  {:>{}}", printable(shown), '^', column);
}

InputError::InputError(std::vector<Error> errors)
    : std::runtime_error(errors.empty() ? "invalid input" : errors.front().text),
      errors_(bounded(told_once(std::move(errors)))) {}

InputError::InputError(Place place, std::string text)
    : InputError(std::vector<Error>{{std::move(place), std::move(text)}}) {}

}  // namespace slmsim
