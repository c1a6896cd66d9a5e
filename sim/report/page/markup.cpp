#include "sim/report/page/markup.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace slmsim {
namespace {

double logarithm(double value) { return std::log10(std::max(value, 1e-300)); }

struct LogAxis {
  double low = 0, high = 1;  // powers of ten

  // 0 to 1 between the ends.
  double operator()(double value) const { return (logarithm(value) - low) / (high - low); }
};

LogAxis axis_of(const std::vector<Curve>& curves, std::vector<double> Curve::*values) {
  double least = INFINITY, most = 0;
  for (const auto& curve : curves) {
    for (const double value : curve.*values) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  if (most <= 0) return {};
  constexpr double kRoom = 0.05;
  return {logarithm(least) - kRoom, logarithm(most) + kRoom};
}

// Powers of ten inside the axis; where there are fewer than two, also twice and five times them.
std::vector<double> ticks_of(const LogAxis& axis) {
  std::vector<double> decades, more;
  for (double power = std::floor(axis.low); power <= axis.high; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double at = power + std::log10(factor);
      if (at < axis.low || at > axis.high) continue;
      more.push_back(factor * std::pow(10.0, power));
      if (factor == 1) decades.push_back(more.back());
    }
  }
  return decades.size() < 2 ? more : decades;
}

// With a rim that is visible on dark and hatched bars.
std::string whisker(const Whisker& ends) {
  std::string out;
  for (const char* look : {"rim", "whisker"}) {
    out += fmt::format("<line x1=\"{:.3f}%\" x2=\"{:.3f}%\" y1=\"8\" y2=\"8\" class=\"{}\"/>", 100 * ends.low,
                       100 * ends.high, look);
    for (const double end : {ends.low, ends.high})
      out += fmt::format("<line x1=\"{0:.3f}%\" x2=\"{0:.3f}%\" y1=\"4\" y2=\"12\" class=\"{1}\"/>", 100 * end, look);
  }
  return out;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                       std::size_t numeric) {
  // On a narrow screen a wider table scrolls under its first column.
  const auto line = [&](const std::vector<std::string>& cells, const char* tag) {
    std::string out = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      out += fmt::format("<{}{}>{}</{}>", tag, i >= numeric ? " class=\"n\"" : "", escaped(cells[i]), tag);
    return out + "</tr>\n";
  };
  std::string out = fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table of "
      "{}\"><table><thead>\n{}</thead><tbody>\n",
      escaped(head.front()), line(head, "th"));
  for (const auto& row : rows) out += line(row, "td");
  return out + "</tbody></table></div>\n";
}

std::string html_bars(const std::vector<Bar>& bars, const BarAxis& axis, const std::string& title) {
  std::string out = fmt::format("<div class=\"bars\" role=\"group\" aria-label=\"{}\">\n", escaped(title)), grid;
  for (const Tick& tick : axis.ticks)
    grid += fmt::format("<line x1=\"{0:.3f}%\" x2=\"{0:.3f}%\" y1=\"0\" y2=\"16\" class=\"grid\"/>", 100 * tick.at);
  for (const auto& bar : bars) {
    out += fmt::format("<div class=\"bar{}\"><span class=\"label\">{}</span>", bar.strong ? " strong" : "",
                       escaped(bar.label));
    const std::string more = bar.whisker ? ", " + bar.whisker->text : "";
    out += fmt::format("<svg width=\"100%\" height=\"16\" role=\"img\" aria-label=\"{}: {}\">{}", escaped(bar.label),
                       escaped(bar.text + more), grid);
    for (const auto& part : bar.parts) {
      const std::string hint = part.hint.empty() ? "" : fmt::format("<title>{}</title>", escaped(part.hint));
      out += fmt::format("<rect x=\"{:.3f}%\" y=\"1\" width=\"{:.3f}%\" height=\"14\" class=\"{}\">{}</rect>",
                         100 * part.from, 100 * std::max(0.0, part.length), part.look, hint);
    }
    if (bar.mark >= 0)
      out += fmt::format("<line x1=\"{0:.3f}%\" x2=\"{0:.3f}%\" y1=\"0\" y2=\"16\" class=\"mark\"/>", 100 * bar.mark);
    if (bar.whisker) out += whisker(*bar.whisker);
    out += fmt::format("</svg><span class=\"text\">{}</span></div>\n", escaped(bar.text));
  }
  if (!axis.ticks.empty()) {
    // A text at an end of the axis stays inside.
    constexpr double kEnd = 0.06;
    out += "<div class=\"bar ticks\"><div class=\"scale\">";
    for (const auto& [at, text] : axis.ticks)
      out += fmt::format("<span style=\"left:{:.3f}%\"{}>{}</span>", 100 * at,
                         at < kEnd       ? " class=\"begin\""
                         : at > 1 - kEnd ? " class=\"end\""
                                         : "",
                         escaped(text));
    out += fmt::format("</div><span class=\"text\">{}</span></div>\n", escaped(axis.label));
  }
  return out + "</div>\n";
}

std::string html_legend(const std::vector<LegendEntry>& entries) {
  std::string out = "<ul class=\"legend\">";
  for (const auto& [look, text] : entries) {
    const bool line = look.starts_with("line");
    out += fmt::format("<li><svg width=\"28\" height=\"12\" aria-hidden=\"true\">{}</svg> {}</li>",
                       line ? fmt::format("<line x1=\"0\" x2=\"28\" y1=\"6\" y2=\"6\" class=\"{}\"/>", look)
                            : fmt::format("<rect x=\"1\" y=\"1\" width=\"26\" height=\"10\" class=\"{}\"/>", look),
                       escaped(text));
  }
  return out + "</ul>\n";
}

std::string html_chart(const LogChart& chart) {
  const LogAxis x = axis_of(chart.curves, &Curve::x), y = axis_of(chart.curves, &Curve::y);
  std::string out = fmt::format(
      "<p class=\"axis\">{}</p>\n<div class=\"chart\"><svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" "
      "role=\"img\" aria-label=\"{}\">",
      escaped(chart.y_label), escaped(chart.title));
  for (const double tick : ticks_of(x))
    out += fmt::format("<line x1=\"{0:.3f}\" x2=\"{0:.3f}\" y1=\"0\" y2=\"100\" class=\"grid\"/>", 100 * x(tick));
  for (const double tick : ticks_of(y))
    out += fmt::format("<line x1=\"0\" x2=\"100\" y1=\"{0:.3f}\" y2=\"{0:.3f}\" class=\"grid\"/>", 100 - 100 * y(tick));
  for (const double mark : chart.marks)
    out += fmt::format("<line x1=\"{0:.3f}\" x2=\"{0:.3f}\" y1=\"0\" y2=\"100\" class=\"change\"/>", 100 * x(mark));
  for (const auto& curve : chart.curves) {
    std::string points;
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      points += fmt::format("{}{:.3f},{:.3f}", i == 0 ? "" : " ", 100 * x(curve.x[i]), 100 - 100 * y(curve.y[i]));
    out += fmt::format("<polyline points=\"{}\" class=\"{}\"><title>{}</title></polyline>", points, curve.look,
                       escaped(curve.text));
  }
  out += "</svg>";
  for (const double tick : ticks_of(x))
    out += fmt::format("<span class=\"xtick\" style=\"left:{:.3f}%\">{:g}</span>", 100 * x(tick), tick);
  for (const double tick : ticks_of(y))
    out += fmt::format("<span class=\"ytick\" style=\"top:{:.3f}%\">{:g}</span>", 100 - 100 * y(tick), tick);
  out += fmt::format("</div>\n<p class=\"axis below\">{}</p>\n", escaped(chart.x_label));
  std::vector<LegendEntry> entries;
  for (const auto& curve : chart.curves) entries.push_back({curve.look, curve.text});
  return out + html_legend(entries);
}

}  // namespace slmsim
