// Parts of a page: escaped text, tables, and charts whose lengths are shares of their width, so that their text keeps its size
// on a phone.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace slmsim {

// Ticks of an axis under bars.
struct Tick {
  double at = 0;  // share of the axis' length, 0 to 1
  std::string text;
};

// From 0 to `most`, the axis' end, at multiples of 1, 2 or 5 times a power of ten; at most six.
std::vector<Tick> linear_ticks(double most);
// The same for durations in seconds, at round steps: 2 min, 6 h, 10 d.
std::vector<Tick> duration_ticks(double most);
// Safe between tags and inside quotes, whatever the text contains.
std::string escaped(const std::string& text);

// Cells are text and are escaped. `numeric`: cells are right-aligned from this column on.
std::string html_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                       std::size_t numeric);

// A horizontal bar of consecutive parts. Lengths are shares of the chart's width, 0 to 1; `look` is a class of the page's style
// sheet.
struct BarPart {
  double from = 0, length = 0;
  std::string look;
  std::string hint;  // tooltip; may be empty
};
// An interval over a bar: its ends, and its text for screen readers. One that ends beyond the axis has no end there.
struct Whisker {
  double low = 0, high = 0;
  std::string text;
};
struct Bar {
  std::string label, text;  // before and after it
  std::vector<BarPart> parts;
  double mark = -1;  // a vertical line, if not negative
  double gap = -1;   // where a part of the axis is left out, if not negative
  std::optional<Whisker> whisker = {};
  bool strong = false;
};
// Adds a part behind the others, with this share of the width.
void stack(Bar& bar, double share, const std::string& look, const std::string& hint);
// Axis under the bars, with a line through all of them at each tick.
struct BarAxis {
  std::string label;  // quantity with its unit
  std::vector<Tick> ticks;
};
struct LegendEntry {
  std::string look, text;
};
std::string html_bars(const std::vector<Bar>& bars, const BarAxis& axis, const std::string& title);
std::string html_legend(const std::vector<LegendEntry>& entries);

// A section that opens on request. `anchor`: id of its content, so that a link to it opens it; may be empty.
std::string html_folded(const std::string& title, const std::string& anchor, const std::string& body);

// Curves over two logarithmic axes, each with its text beside its right end; where they are too many, in a legend.
struct Curve {
  std::string look, text;
  std::vector<double> x, y;
};
struct LogChart {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
  std::vector<double> marks;  // vertical lines
};
std::string html_chart(const LogChart& chart);

}  // namespace slmsim
