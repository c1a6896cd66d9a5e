#include "sim/report/page/page.h"

#include <sstream>

#include <fmt/format.h>

#include "sim/report/page/markup.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

// Hues are Okabe and Ito's, which colour-blind readers can distinguish ("Color Universal Design", 2008); fills also differ by
// lightness or hatch, lines by dashes, so that the page works in grey.
constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1a1a1a; --faint: #5c5c5c; --line: #d5d5d5; --soft: #f3f6f9;
  --a: #0072b2; --b: #fbe3b0; --c: #cc79a7; --d: #ffffff; --e: #8fd3bd; --f: #cccccc; --dash: #1a1a1a; --light: #bfe0f5;
  --hot: #e69f00; --accent: #0b4f8a; --quiet: #c6d4e1; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181c; --ink: #ececec; --faint: #a5adb5; --line: #3a4148;
  --soft: #1d242b; --f: #8a8a8a; --accent: #8cc4f5; --quiet: #4d5c69; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 16px; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1rem; font-weight: 600; margin: 0; } h2 { font-size: 1.35rem; line-height: 1.3; margin: .6em 0 .5em; } h3 { font-size: 1rem; margin: 1.2em 0 .3em; }
header p { margin: 0; } a { color: var(--accent); } h2, .folded > div { scroll-margin-top: 8px; }
section.model { margin: 0 0 2em; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: 8px; margin: .6em 0; }
.tile { background: var(--soft); border-top: 4px solid var(--accent); padding: 8px 12px 10px; display: flex; flex-direction: column; gap: 2px; min-width: 0; }
.tile .name { font-size: .8rem; color: var(--faint); } .tile .value { font-size: 1.35rem; line-height: 1.25; font-weight: 700; } .tile .note { font-size: .8rem; line-height: 1.35; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: .8em 0; font-size: .9rem; } .facts dt { font-weight: 700; } .facts dd { margin: 0; min-width: 0; }
.folded { border-top: 1px solid var(--line); } .folded + :not(.folded) { border-top: 1px solid var(--line); } .folded > summary { padding: 7px 0; font-weight: 600; } .folded > div { padding: 0 0 12px; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em; }
.note, .axis { color: var(--faint); font-size: .875rem; } .axis { margin: .5em 0 .3em; } .below { text-align: center; margin-top: 1.8em; }
.bar { display: grid; grid-template-columns: 15em 1fr 11em; gap: 10px; align-items: center; font-size: .875rem; padding: 2px 0; }
.bar svg { display: block; background: var(--soft); } .strong { font-weight: 700; }
.scale { grid-column: 2; position: relative; height: 1.2em; font-size: .8rem; line-height: 1.2; color: var(--faint); } .ticks .text { font-size: .8rem; color: var(--faint); }
.scale span { position: absolute; transform: translateX(-50%); white-space: nowrap; } .scale .begin { transform: none; } .scale .end { transform: translateX(-100%); }
@media (max-width: 640px) { .tiles { grid-template-columns: 1fr 1fr; } .tile { padding: 6px 10px 8px; } .tile .value { font-size: 1.15rem; } .facts { grid-template-columns: 1fr; gap: 0; } .facts dd { margin: 0 0 .5em; }
  .bar { grid-template-columns: 1fr auto; gap: 0 8px; padding: 5px 0; } .bar .label { grid-column: 1; grid-row: 1; }
  .bar .text { grid-column: 2; grid-row: 1; } .bar svg { grid-column: 1 / 3; grid-row: 2; } .bar .scale { grid-column: 1 / 3; grid-row: 1; } .ticks .text { grid-column: 1 / 3; grid-row: 2; text-align: center; } }
rect { stroke: var(--ink); stroke-width: .5; fill: var(--b); }
.p0 { fill: var(--a); } .p1 { fill: url(#h1); } .p2 { fill: var(--c); } .p3 { fill: url(#h2); } .p4 { fill: url(#h3); } .p5 { fill: var(--f); }
.k0 { fill: var(--light); } .k1 { fill: var(--a); } .k2 { fill: #1a1a1a; } .k3 { fill: var(--paper); } .k4 { fill: var(--f); }
.k5 { fill: url(#h1); } .k6 { fill: var(--hot); } .k7 { fill: url(#h5); } .k8 { fill: url(#h2); } .k9 { fill: var(--faint); } .sparse { opacity: .45; }
.best { fill: var(--accent); } .other { fill: var(--quiet); } .room { fill: var(--paper); } .full { fill: url(#h1); } .gap { fill: var(--paper); } .edge { fill: none; stroke: var(--ink); stroke-width: 1; }
.mark { stroke: var(--ink); stroke-width: 3; } .whisker { stroke: var(--ink); stroke-width: 1.5; } .rim { stroke: var(--paper); stroke-width: 4; } .grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.change { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 2 4; vector-effect: non-scaling-stroke; }
.line { fill: none; stroke-width: 2.2; vector-effect: non-scaling-stroke; stroke: var(--ink); } .thin { stroke-width: 1.4; }
.level { stroke: var(--faint); stroke-width: 4; }
.chart { position: relative; height: 300px; margin: 0 11.5em 0 3.5rem; font-size: .8rem; border-left: 1px solid var(--ink); border-bottom: 1px solid var(--ink); }
.chart svg { width: 100%; height: 100%; display: block; } .xtick, .ytick { position: absolute; font-size: .8rem; line-height: 1; color: var(--faint); }
.at-end { position: absolute; left: 100%; margin-left: 6px; width: 11em; transform: translateY(-50%); line-height: 1.15; display: flex; gap: 4px; align-items: center; }
.chart.bare { margin-right: 8px; } .on-phone { display: none; }
.chart.long { margin-right: 17em; } .chart.long .at-end { width: 16.5em; }
@media (max-width: 640px) { .chart { margin-right: 8em; } .chart .at-end { width: 7.5em; font-size: .72rem; } .chart.long { margin-right: 8px; } .chart.long .at-end { display: none; } .on-phone { display: block; } }
.chart .at-end svg { flex: none; width: 18px; height: 12px; } .xtick { top: 100%; transform: translate(-50%, 6px); white-space: nowrap; } .ytick { right: 100%; transform: translate(-6px, -50%); white-space: nowrap; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 18px; padding: 0; margin: .5em 0; font-size: .875rem; }
.wide { overflow-x: auto; margin: .6em 0; scrollbar-width: thin; /* a shade at the right as long as there is more */
  background: linear-gradient(to left, var(--paper) 40%, transparent) 100% 0 / 60px 100% no-repeat local, linear-gradient(to left, var(--line), transparent) 100% 0 / 24px 100% no-repeat scroll; } table { border-collapse: collapse; font-size: .875rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); overflow-wrap: normal; }
td:last-child:not(.n) { overflow-wrap: anywhere; min-width: 15em; } .n { text-align: right; white-space: nowrap; } summary { cursor: pointer; }
.wide th:first-child, .wide td:first-child { position: sticky; left: 0; background: var(--paper); }
@media (max-width: 640px) { .wide td:last-child:not(.n) { min-width: 0; } .inputs td:last-child { min-width: 12em; } }
footer { margin-top: 2em; border-top: 1px solid var(--line); }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } .wide { overflow: visible; } .bar, .chart, tr { break-inside: avoid; }
  rect, svg, .tile { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
)";

constexpr const char* kHatches = R"html(<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>
<pattern id="h1" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" style="fill:var(--b);stroke:none"/><line x1="0" y1="0" x2="0" y2="6" style="stroke:var(--dash);stroke-width:1.5"/></pattern>
<pattern id="h2" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" style="fill:var(--d);stroke:none"/><circle cx="2" cy="2" r="1" style="fill:var(--dash)"/></pattern>
<pattern id="h3" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" style="fill:var(--e);stroke:none"/><path d="M0 0L6 6M6 0L0 6" style="stroke:var(--dash);stroke-width:1;fill:none"/></pattern>
<pattern id="h5" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" style="fill:var(--d);stroke:none"/><line x1="2" y1="0" x2="2" y2="5" style="stroke:var(--dash);stroke-width:1.5"/></pattern>
</defs></svg>
)html";

struct PageSection {
  const char *name, *title;
  std::string body;
};

// By number, because a model's name may contain any character.
std::string anchor(std::size_t model, const std::string& section) { return fmt::format("m{}-{}", model, section); }

// The first facts and the comparison, then their evidence, folded.
std::string model_html(const ModelReport& report, std::size_t index, const std::string& timeline) {
  std::string out = fmt::format("<section class=\"model\">\n<h2 id=\"{}\">{}</h2>\n", anchor(index, "verdict"),
                                escaped(verdict_text(report)));
  out += tiles_section(report, "slmsim report --intervals computes it") +
         fmt::format("<div id=\"{}\">\n<h3>Time of the job</h3>\n{}</div>\n", anchor(index, "comparison"),
                     comparison_section(report)) +
         facts_section(report) +
         fmt::format("<p class=\"note\">{} Compared: {}.</p>\n", escaped(workload_text(report)),
                     escaped(compared_text(report.result.scenario)));
  for (const PageSection& one :
       {PageSection{"figures", "All figures, and how the pick is made", figures_section(report)},
        PageSection{"memory", "Memory", memory_section(report)},
        PageSection{"iteration", "Time of an iteration", breakdown_section(report)},
        PageSection{"rtt", "Round-trip time", latency_section(report)},
        PageSection{"job", "The whole job, with failures", job_section(report)},
        PageSection{"timeline", "Timeline of an iteration", timeline}})
    if (!one.body.empty()) out += html_folded(one.title, anchor(index, one.name), one.body);
  return out + "</section>\n";
}

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

// Classes of techniques' curves by their places in the table, "lt3", with their own looks (Technique::looks), as in the figures.
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

}  // namespace

std::string page_style() { return kStyle + technique_style(); }

std::string page_hatches() { return kHatches; }

std::string to_html(const std::vector<ModelReport>& reports, const std::vector<std::string>& timelines,
                    const std::string& made_by, const std::string& stopped) {
  const Scenario& scenario = reports.front().result.scenario;
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
      "data:\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<link rel=\"icon\" "
      "href=\"data:,\"/>\n";
  out += fmt::format("<title>slmsim: {}</title>\n<style>{}</style>\n</head>\n<body>\n", escaped(scenario.name),
                     page_style());
  out += page_hatches();
  out += fmt::format("<header><h1>{}</h1>\n<p class=\"note\">{}</p>{}</header>\n<main>\n", escaped(scenario.name),
                     escaped(scenario.description),
                     stopped.empty() ? "" : fmt::format("\n<p class=\"note\">{}</p>", escaped(stopped)));
  if (reports.size() > 1) {
    out += "<nav class=\"note\">";
    for (std::size_t i = 0; i < reports.size(); ++i)
      out += fmt::format("{}<a href=\"#{}\">{}</a>", i == 0 ? "" : " \u00b7 ", anchor(i, "verdict"),
                         escaped(reports[i].model().name));
    out += "</nav>\n";
  }
  for (std::size_t i = 0; i < reports.size(); ++i) out += model_html(reports[i], i, timelines[i]);
  out += "<section class=\"model\">\n";
  const auto assumptions = all_assumptions(reports.front().result);
  std::string assumed;
  for (const auto& one : assumptions) assumed += fmt::format("<li>{}</li>", escaped(one.text));
  if (!assumed.empty())
    out += html_folded(
        fmt::format("Assumed: {} value{}", assumptions.size(), assumptions.size() == 1 ? "" : "s"), "assumed",
        "<p class=\"note\">Neither stated nor measured for this cluster.</p>\n<ul>" + assumed + "</ul>\n");
  out += html_folded("Inputs", "inputs", fmt::format("<div class=\"inputs\">{}</div>", inputs_section(scenario))) +
         "</section>\n<p class=\"note\">Predicted by simulation; slmsim's README states the accuracy.</p>\n";
  return out + fmt::format("</main>\n<footer><p class=\"note\">{}</p></footer>\n</body>\n</html>\n", escaped(made_by));
}

}  // namespace slmsim
