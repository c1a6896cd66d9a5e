#include "sim/page/page.h"

#include <fmt/format.h>

#include "sim/page/looks.h"
#include "sim/page/markup.h"
#include "sim/predict/assumption.h"

namespace slmsim {
namespace {

// Fills differ by lightness and by hatch, lines by dashes, so that the page reads in grey; in the dark scheme the order
// of lightness is the same.
constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1a1a1a; --faint: #666666; --line: #d5d5d5; --soft: #f3f6f9;
  --a: #0b2440; --b: #9dc3e0; --c: #5a8fbd; --d: #e6eef5; --e: #c7d9e8; --f: #8a8a8a; --accent: #0b4f8a; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181c; --ink: #ececec; --faint: #a5adb5; --line: #3a4148;
  --soft: #1d242b; --a: #2c5f91; --b: #b5d6ee; --c: #6fa3d0; --d: #eef5fb; --e: #d0e3f2; --f: #9a9a9a; --accent: #8cc4f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 16px; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: .2em 0; } h2 { font-size: 1.25rem; margin: 1.6em 0 .4em; } h3 { font-size: 1rem; margin: 1.4em 0 .3em; }
.verdict { border-left: 5px solid var(--accent); background: var(--soft); padding: 12px 16px; margin: 12px 0; }
.verdict p { margin: .4em 0; } .verdict .first { font-size: 1.15rem; font-weight: 600; }
.note, .axis { color: var(--faint); font-size: .875rem; } .axis { margin: .5em 0 .3em; } .below { text-align: center; margin-top: 1.8em; }
.bar { display: grid; grid-template-columns: 13em 1fr 11em; gap: 10px; align-items: center; font-size: .875rem; padding: 2px 0; }
.bar svg { display: block; background: var(--soft); } .strong { font-weight: 700; }
@media (max-width: 640px) { .bar { grid-template-columns: 1fr auto; gap: 0 8px; padding: 5px 0; } .bar .label { grid-column: 1; grid-row: 1; }
  .bar .text { grid-column: 2; grid-row: 1; } .bar svg { grid-column: 1 / 3; grid-row: 2; } }
rect { stroke: var(--ink); stroke-width: .5; fill: var(--b); }
.p0 { fill: var(--a); } .p1 { fill: url(#h1); } .p2 { fill: var(--c); } .p3 { fill: url(#h2); } .p4 { fill: url(#h3); } .p5 { fill: var(--f); }
.k0 { fill: var(--d); } .k1 { fill: var(--c); } .k2 { fill: var(--a); } .k3 { fill: var(--paper); } .k4 { fill: var(--f); }
.k5 { fill: url(#h1); } .k6 { fill: url(#h3); } .k7 { fill: url(#h5); } .k8 { fill: url(#h2); } .sparse { opacity: .45; }
.mark { stroke: var(--ink); stroke-width: 3; } .grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.change { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 2 4; vector-effect: non-scaling-stroke; }
.line { fill: none; stroke-width: 2.2; vector-effect: non-scaling-stroke; stroke: var(--c); } .thin { stroke-width: 1.4; }
.level { stroke: var(--f); stroke-width: 4; }
.chart { position: relative; height: 260px; margin: 0 8px 0 56px; border-left: 1px solid var(--ink); border-bottom: 1px solid var(--ink); }
.chart svg { width: 100%; height: 100%; display: block; } .xtick, .ytick { position: absolute; font-size: .8rem; line-height: 1; color: var(--faint); }
.xtick { top: 100%; transform: translate(-50%, 6px); } .ytick { right: 100%; transform: translate(-6px, -50%); white-space: nowrap; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 18px; padding: 0; margin: .5em 0; font-size: .875rem; }
.wide { overflow-x: auto; margin: .6em 0; } table { border-collapse: collapse; font-size: .875rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); overflow-wrap: normal; }
td:last-child:not(.n) { overflow-wrap: anywhere; min-width: 15em; } .n { text-align: right; white-space: nowrap; } summary { cursor: pointer; }
@media (max-width: 640px) { .wide thead { display: none; } .wide tr { display: block; border-bottom: 1px solid var(--line); padding: 6px 0; }
  .wide td, .wide td:last-child:not(.n) { display: flex; gap: 8px; min-width: 0; padding: 1px 0; border: 0; text-align: left; white-space: normal; }
  .wide td::before { content: attr(data-label); flex: 0 0 8em; color: var(--faint); } .wide td:empty { display: none; } }
footer { margin-top: 2em; border-top: 1px solid var(--line); }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } .wide { overflow: visible; } .bar, .chart, tr { break-inside: avoid; }
  rect, svg, .verdict { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
)";

constexpr const char* kHatches = R"html(<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>
<pattern id="h1" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" style="fill:var(--b);stroke:none"/><line x1="0" y1="0" x2="0" y2="6" style="stroke:var(--a);stroke-width:2"/></pattern>
<pattern id="h2" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" style="fill:var(--d);stroke:none"/><circle cx="2" cy="2" r="1" style="fill:var(--a)"/></pattern>
<pattern id="h3" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" style="fill:var(--e);stroke:none"/><path d="M0 0L6 6M6 0L0 6" style="stroke:var(--a);stroke-width:1;fill:none"/></pattern>
<pattern id="h5" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" style="fill:var(--d);stroke:none"/><line x1="2" y1="0" x2="2" y2="5" style="stroke:var(--c);stroke-width:1.5"/></pattern>
</defs></svg>
)html";

std::string section(const std::string& title, const std::string& body) {
  return fmt::format("<section><h2>{}</h2>\n{}</section>\n", escaped(title), body);
}

}  // namespace

std::string to_html(const std::vector<ModelReport>& reports, const std::vector<std::string>& timelines,
                    const std::string& made_by) {
  const Scenario& scenario = reports.front().result.scenario;
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
      "data:\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<link rel=\"icon\" "
      "href=\"data:,\"/>\n";
  out += fmt::format("<title>slmsim: {}</title>\n<style>{}</style>\n</head>\n<body>\n", escaped(scenario.name),
                     kStyle + technique_style());
  out += kHatches + technique_hatches();
  out += fmt::format("<header><h1>{}</h1>\n<p class=\"note\">{}</p></header>\n<main>\n", escaped(scenario.name),
                     escaped(scenario.description));
  for (const auto& report : reports) {
    out += fmt::format("<div class=\"verdict\"><p class=\"first\">{}</p>\n<p>{}</p></div>\n",
                       escaped(verdict_text(report)), escaped(change_text(report)));
  }
  out += "<p class=\"note\">Predicted by simulation; how right such predictions are, slmsim's README tells.</p>\n";
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const ModelReport& report = reports[i];
    const std::string of = reports.size() > 1 ? report.model().name + ": " : "";
    out += section(of + "Comparison", comparison_section(report));
    out += section(of + "Memory", memory_section(report));
    out += section(of + "Time of an iteration", breakdown_section(report));
    out += section(of + "Round-trip time", latency_section(report));
    if (!timelines[i].empty()) out += section(of + "Timeline of an iteration", timelines[i]);
  }
  std::string assumed;
  for (const auto& one : all_assumptions(reports.front().result))
    assumed += fmt::format("<li>{}</li>", escaped(one.text));
  if (!assumed.empty())
    out += section("Assumed", fmt::format("<p class=\"note\">Nobody stated or measured these for this cluster.</p>\n"
                                          "<ul>{}</ul>\n",
                                          assumed));
  out += section("Inputs", inputs_section(scenario));
  return out + fmt::format("</main>\n<footer><p class=\"note\">{}</p></footer>\n</body>\n</html>\n", escaped(made_by));
}

}  // namespace slmsim
