#include "sim/report/page/markup.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

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
  const auto is_shown = [](double end) { return end <= 1 + 1e-9; };
  for (const char* look : {"rim", "whisker"}) {
    out += fmt::format("<line x1=\"{:.3f}%\" x2=\"{:.3f}%\" y1=\"8\" y2=\"8\" class=\"{}\"/>",
                       100 * std::min(1.0, ends.low), 100 * std::min(1.0, ends.high), look);
    for (const double end : {ends.low, ends.high})
      if (is_shown(end))
        out += fmt::format("<line x1=\"{0:.3f}%\" x2=\"{0:.3f}%\" y1=\"4\" y2=\"12\" class=\"{1}\"/>", 100 * end, look);
  }
  return out;
}

// Two slanted strokes across a bar.
std::string gap_at(double place) {
  return fmt::format(
      "<svg x=\"{:.3f}%\" width=\"14\" height=\"16\" overflow=\"visible\"><path d=\"M0 16L5 0h7L7 16z\" class=\"gap\"/>"
      "<path d=\"M0 16L5 0M7 16L12 0\" class=\"edge\"/></svg>",
      100 * place);
}

// Places of labels in the order of `wanted`, shares of the height from the top: each near the wanted one and no two closer than
// `apart`.
std::vector<double> spread_apart(const std::vector<double>& wanted, double apart) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](auto a, auto b) { return wanted[a] < wanted[b]; });
  std::vector<double> out(wanted.size());
  double next = -INFINITY;
  for (const std::size_t i : order) next = (out[i] = std::max(wanted[i], next)) + apart;
  next = 1;
  std::ranges::reverse(order);
  for (const std::size_t i : order) next = (out[i] = std::min(out[i], next)) - apart;
  return out;
}

std::string sample(const std::string& look, int width) {
  const bool line = look.starts_with("line");
  return fmt::format(
      "<svg width=\"{0}\" height=\"12\" aria-hidden=\"true\">{1}</svg>", width,
      line ? fmt::format("<line x1=\"0\" x2=\"{}\" y1=\"6\" y2=\"6\" class=\"{}\"/>", width, look)
           : fmt::format("<rect x=\"1\" y=\"1\" width=\"{}\" height=\"10\" class=\"{}\"/>", width - 2, look));
}

constexpr double kMostSteps = 5;

struct Unit {
  double seconds;
  const char* name;
  std::vector<double> steps;
};
const std::vector<Unit>& units() {
  static const std::vector<Unit> kUnits = {{1e-6, "us", {1, 2, 5, 10, 20, 50, 100, 200, 500}},
                                           {1e-3, "ms", {1, 2, 5, 10, 20, 50}},
                                           {1, "s", {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30}},
                                           {60, "min", {1, 2, 5, 10, 20, 30}},
                                           {3600, "h", {1, 2, 3, 6, 12}},
                                           {86400, "d", {1, 2, 5, 10, 20, 50, 100, 200}},
                                           {365 * 86400.0, "y", {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}}};
  return kUnits;
}

std::vector<Tick> ticks_every(double step, double most, double unit, const std::string& name) {
  std::vector<Tick> out;
  for (double i = 0; i * step <= most; ++i)
    out.push_back({i * step / most, i == 0 || name.empty() ? fmt::format("{:g}", i * step / unit)
                                                           : fmt::format("{:g} {}", i * step / unit, name)});
  return out;
}

}  // namespace

std::string escaped(const std::string& text) {
  static const std::map<char, const char*> kEntities = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string out;
  for (const char c : printable(text)) {
    const auto entity = kEntities.find(c);
    out += entity == kEntities.end() ? std::string(1, c) : entity->second;
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

void stack(Bar& bar, double share, const std::string& look, const std::string& hint) {
  const double from = bar.parts.empty() ? 0 : bar.parts.back().from + bar.parts.back().length;
  bar.parts.push_back({from, share, look, hint});
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
    if (bar.gap >= 0) out += gap_at(bar.gap);
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
  for (const auto& [look, text] : entries) out += fmt::format("<li>{} {}</li>", sample(look, 28), escaped(text));
  return out + "</ul>\n";
}

std::string html_folded(const std::string& title, const std::string& anchor, const std::string& body) {
  return fmt::format("<details class=\"folded\"><summary>{}</summary>\n<div{}>{}</div></details>\n", escaped(title),
                     anchor.empty() ? "" : fmt::format(" id=\"{}\"", anchor), body);
}

std::string html_chart(const LogChart& chart) {
  const LogAxis x = axis_of(chart.curves, &Curve::x), y = axis_of(chart.curves, &Curve::y);
  constexpr double kApart = 0.11;     // two lines of text, of the chart's height
  constexpr std::size_t kShort = 11;  // letters that a phone has room for beside the chart
  const bool fit = static_cast<double>(chart.curves.size()) * kApart <= 1;
  const bool brief = std::ranges::all_of(chart.curves, [](const Curve& curve) { return curve.text.size() <= kShort; });
  std::string out = fmt::format(
      "<p class=\"axis\">{}</p>\n<div class=\"chart{}\"><svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" "
      "role=\"img\" aria-label=\"{}\">",
      escaped(chart.y_label),
      !fit    ? " bare"
      : brief ? ""
              : " long",
      escaped(chart.title));
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
  if (fit) {
    std::vector<double> ends;
    for (const auto& curve : chart.curves) ends.push_back(1 - y(curve.y.back()));
    const std::vector<double> places = spread_apart(ends, kApart);
    for (std::size_t i = 0; i < places.size(); ++i)
      out += fmt::format("<span class=\"at-end\" style=\"top:{:.3f}%\">{}<span>{}</span></span>", 100 * places[i],
                         sample(chart.curves[i].look, 18), escaped(chart.curves[i].text));
  }
  out += fmt::format("</div>\n<p class=\"axis below\">{}</p>\n", escaped(chart.x_label));
  if (fit && brief) return out;
  std::vector<LegendEntry> entries;
  for (const auto& curve : chart.curves) entries.push_back({curve.look, curve.text});
  return out + (fit ? "<div class=\"on-phone\">" + html_legend(entries) + "</div>\n" : html_legend(entries));
}

std::vector<Tick> linear_ticks(double most) {
  if (!(most > 0)) return {};
  const double rough = most / kMostSteps, power = std::pow(10, std::floor(std::log10(rough)));
  const double factor = rough / power;
  return ticks_every(power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10), most, 1, "");
}

std::vector<Tick> duration_ticks(double most) {
  for (const Unit& unit : units()) {
    for (const double step : unit.steps) {
      if (most > 0 && step * unit.seconds * kMostSteps >= most)
        return ticks_every(step * unit.seconds, most, unit.seconds, unit.name);
    }
  }
  return {};
}

}  // namespace slmsim
