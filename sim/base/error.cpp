#include "sim/base/error.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace slmsim {
namespace {

constexpr std::size_t kShownLineLength = 160;  // longer lines are cut: an error must stay readable

std::string_view line_of(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// A text from a file may be as long as the file.
std::string_view shortened(std::string_view text) {
  constexpr std::size_t kMost = 600;
  return text.substr(0, kMost);
}

// UTF-8 letters: bytes that do not continue one.
int letters(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

// A reader needs the first errors, not ten thousand.
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
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return out;
}

std::string to_string(const Error& error) {
  const auto& [source, line, byte] = error.place;
  std::string out = source ? printable(shortened(source->name)) : "slmsim";
  const std::string_view shown = source && line > 0 ? line_of(source->text, line) : std::string_view{};
  const bool inside = byte >= 1 && static_cast<std::size_t>(byte) <= shown.size() + 1;
  const int column = inside ? letters(shown.substr(0, static_cast<std::size_t>(byte - 1))) + 1 : byte;
  if (line > 0) out += fmt::format(":{}:{}", line, column);
  out += fmt::format(": error: {}", printable(shortened(error.text)));
  if (!inside || shown.empty() || shown.size() > kShownLineLength) return out;
  return out + fmt::format("\n  {}\n  {:>{}}", printable(shown), '^', column);
}

InputError::InputError(std::vector<Error> errors)
    : std::runtime_error(errors.empty() ? "invalid input" : errors.front().text), errors_(bounded(std::move(errors))) {}

InputError::InputError(Place place, std::string text)
    : InputError(std::vector<Error>{{std::move(place), std::move(text)}}) {}

}  // namespace slmsim
