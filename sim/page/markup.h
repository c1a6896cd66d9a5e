// Pieces of a page: escaped text, tables, and charts whose lengths are shares of their width, so that their text keeps
// its size on a telephone.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/page/ticks.h"

namespace slmsim {

// Safe between tags and inside quotes, whatever the text holds.
std::string escaped(const std::string& text);

// Cells are text and are escaped. `numeric`: from this column on cells are set to the right.
std::string html_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                       std::size_t numeric);

// A horizontal bar of parts one after the other. Lengths are shares of the chart's width, 0 to 1; `look` is a class of
// the page's style sheet.
struct BarPart {
  double from = 0, length = 0;
  std::string look;
  std::string hint;  // shown under the pointer; may be empty
};
// An interval over a bar: its ends, and in words for whoever does not see it.
struct Whisker {
  double low = 0, high = 0;
  std::string text;
};
struct Bar {
  std::string label, text;  // before and behind it
  std::vector<BarPart> parts;
  double mark = -1;  // an upright line, if not negative
  std::optional<Whisker> whisker = {};
  bool strong = false;
};
// Under the bars, with a line through all of them at each tick.
struct BarAxis {
  std::string label;  // what it measures, with its unit
  std::vector<Tick> ticks;
};
struct LegendEntry {
  std::string look, text;
};
std::string html_bars(const std::vector<Bar>& bars, const BarAxis& axis, const std::string& title);
std::string html_legend(const std::vector<LegendEntry>& entries);

// Curves over two logarithmic axes.
struct Curve {
  std::string look, text;
  std::vector<double> x, y;
};
struct LogChart {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
  std::vector<double> marks;  // upright lines
};
std::string html_chart(const LogChart& chart);

}  // namespace slmsim
