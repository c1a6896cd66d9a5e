#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "sim/report/page/page.h"
#include "sim/scenario/technique.h"

namespace slmsim {
namespace {

constexpr double kWidth = 2.2;  // of curves, in pixels; dashes are multiples of it

// matplotlib's names of dashes, or an offset and lengths, as SVG.
std::string dashes(std::string_view dash) {
  if (dash == "-") return "none";
  std::string text(dash == "--" ? "0 3.7 1.6" : dash == "-." ? "0 6.4 1.6 1 1.6" : dash);
  std::istringstream numbers(text);
  double number = 0;
  std::string out;
  numbers >> number;  // the offset
  while (numbers >> number) out += fmt::format("{}{:.1f}", out.empty() ? "" : " ", number * kWidth);
  return out;
}

}  // namespace

std::string technique_style() {
  std::string out, all;
  const auto& table = technique_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const FigureStyle& style = table[i]->style;
    out += fmt::format(".lt{} {{ stroke: {}; stroke-dasharray: {}; }}\n", i, style.line, dashes(style.dash));
    all += fmt::format("{}.lt{}", i == 0 ? "" : ", ", i);
  }
  // In dark mode light and dark are exchanged, and hues stay.
  return out +
         fmt::format("@media (prefers-color-scheme: dark) {{ {} {{ filter: invert(1) hue-rotate(180deg); }} }}\n", all);
}

}  // namespace slmsim
