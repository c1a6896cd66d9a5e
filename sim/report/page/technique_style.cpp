#include "sim/report/page/page.h"
#include <sstream>
#include <string_view>

#include <fmt/format.h>

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

// One tile of matplotlib's hatch, whose letters are all the same.
std::string tile(char hatch) {
  switch (hatch) {
    case '/':
      return "M0 8L8 0M-2 2L2 -2M6 10L10 6";
    case '\\':
      return "M0 0L8 8M-2 6L2 10M6 -2L10 2";
    case '|':
      return "M4 0V8";
    case '-':
      return "M0 4H8";
    case '+':
      return "M4 0V8M0 4H8";
    case 'x':
      return "M0 0L8 8M0 8L8 0";
    case 'o':
      return "M2 4a2 2 0 1 0 4 0a2 2 0 1 0 -4 0";
    default:  // dots and stars
      return "M3.4 4a.6 .6 0 1 0 1.2 0a.6 .6 0 1 0 -1.2 0";
  }
}

}  // namespace

std::string technique_style() {
  std::string out, all;
  const auto& table = technique_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const FigureStyle& style = table[i]->style;
    out += fmt::format(".t{} {{ fill: {}; }} ", i,
                       *style.hatch ? fmt::format("url(#technique{})", i) : std::string(style.fill));
    out += fmt::format(".lt{} {{ stroke: {}; stroke-dasharray: {}; }}\n", i, style.line, dashes(style.dash));
    all += fmt::format("{}.t{}, .lt{}", i == 0 ? "" : ", ", i, i);
  }
  // In dark mode light and dark are exchanged, and hues stay.
  return out +
         fmt::format("@media (prefers-color-scheme: dark) {{ {} {{ filter: invert(1) hue-rotate(180deg); }} }}\n", all);
}

std::string technique_hatches() {
  std::string out = "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>\n";
  const auto& table = technique_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const FigureStyle& style = table[i]->style;
    if (!*style.hatch) continue;
    out += fmt::format(
        "<pattern id=\"technique{}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><rect width=\"8\" "
        "height=\"8\" style=\"fill:{};stroke:none\"/><path d=\"{}\" style=\"stroke:#000;stroke-width:1;fill:none\"/>"
        "</pattern>\n",
        i, style.fill, tile(*style.hatch));
  }
  return out + "</defs></svg>\n";
}

}  // namespace slmsim
