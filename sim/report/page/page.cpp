#include "sim/report/page/page.h"

#include <fmt/format.h>

#include "sim/predict/assumption.h"
#include "sim/report/phrases.h"
#include "sim/report/page/markup.h"

namespace slmsim {
namespace {

// Hues are Okabe and Ito's, which colour-blind readers can distinguish ("Color Universal Design", 2008); fills also differ by
// lightness or hatch, lines by dashes, so that the page works in grey.
constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1a1a1a; --faint: #5c5c5c; --line: #d5d5d5; --soft: #f3f6f9;
  --a: #0072b2; --b: #fbe3b0; --c: #cc79a7; --d: #ffffff; --e: #8fd3bd; --f: #cccccc; --dash: #1a1a1a; --light: #bfe0f5;
  --hot: #e69f00; --accent: #0b4f8a; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181c; --ink: #ececec; --faint: #a5adb5; --line: #3a4148;
  --soft: #1d242b; --f: #8a8a8a; --accent: #8cc4f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 16px; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: .2em 0; } h2 { font-size: 1.25rem; margin: 1.6em 0 .4em; } h3 { font-size: 1rem; margin: 1.4em 0 .3em; }
a { color: var(--accent); } h2 a { font-size: .875rem; font-weight: 400; margin-left: .5em; white-space: nowrap; } .model > summary { font-size: 1.25rem; font-weight: 700; margin: 1.2em 0 .2em; }
h2, .model, #inputs { scroll-margin-top: 8px; }
.verdict { border-left: 5px solid var(--accent); background: var(--soft); padding: 12px 16px; margin: 12px 0; }
.verdict p { margin: .4em 0; } .verdict .first { font-size: 1.15rem; font-weight: 600; }
.note, .axis { color: var(--faint); font-size: .875rem; } .axis { margin: .5em 0 .3em; } .below { text-align: center; margin-top: 1.8em; }
.bar { display: grid; grid-template-columns: 15em 1fr 11em; gap: 10px; align-items: center; font-size: .875rem; padding: 2px 0; }
.bar svg { display: block; background: var(--soft); } .strong { font-weight: 700; }
.scale { grid-column: 2; position: relative; height: 1.2em; font-size: .8rem; line-height: 1.2; color: var(--faint); } .ticks .text { font-size: .8rem; color: var(--faint); }
.scale span { position: absolute; transform: translateX(-50%); white-space: nowrap; } .scale .begin { transform: none; } .scale .end { transform: translateX(-100%); }
@media (max-width: 640px) { .bar { grid-template-columns: 1fr auto; gap: 0 8px; padding: 5px 0; } .bar .label { grid-column: 1; grid-row: 1; }
  .bar .text { grid-column: 2; grid-row: 1; } .bar svg { grid-column: 1 / 3; grid-row: 2; } .bar .scale { grid-column: 1 / 3; grid-row: 1; } .ticks .text { grid-column: 1 / 3; grid-row: 2; text-align: center; } }
rect { stroke: var(--ink); stroke-width: .5; fill: var(--b); }
.p0 { fill: var(--a); } .p1 { fill: url(#h1); } .p2 { fill: var(--c); } .p3 { fill: url(#h2); } .p4 { fill: url(#h3); } .p5 { fill: var(--f); }
.k0 { fill: var(--light); } .k1 { fill: var(--a); } .k2 { fill: #1a1a1a; } .k3 { fill: var(--paper); } .k4 { fill: var(--f); }
.k5 { fill: url(#h1); } .k6 { fill: var(--hot); } .k7 { fill: url(#h5); } .k8 { fill: url(#h2); } .k9 { fill: var(--faint); } .sparse { opacity: .45; }
.mark { stroke: var(--ink); stroke-width: 3; } .whisker { stroke: var(--ink); stroke-width: 1.5; } .rim { stroke: var(--paper); stroke-width: 4; } .grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.change { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 2 4; vector-effect: non-scaling-stroke; }
.line { fill: none; stroke-width: 2.2; vector-effect: non-scaling-stroke; stroke: var(--ink); } .thin { stroke-width: 1.4; }
.level { stroke: var(--faint); stroke-width: 4; }
.chart { position: relative; height: 300px; margin: 0 8px 0 56px; border-left: 1px solid var(--ink); border-bottom: 1px solid var(--ink); }
.chart svg { width: 100%; height: 100%; display: block; } .xtick, .ytick { position: absolute; font-size: .8rem; line-height: 1; color: var(--faint); }
.xtick { top: 100%; transform: translate(-50%, 6px); } .ytick { right: 100%; transform: translate(-6px, -50%); white-space: nowrap; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 18px; padding: 0; margin: .5em 0; font-size: .875rem; }
.wide { overflow-x: auto; margin: .6em 0; scrollbar-width: thin; /* a shade at the right as long as there is more */
  background: linear-gradient(to left, var(--paper) 40%, transparent) 100% 0 / 60px 100% no-repeat local, linear-gradient(to left, var(--line), transparent) 100% 0 / 24px 100% no-repeat scroll; } table { border-collapse: collapse; font-size: .875rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); overflow-wrap: normal; }
td:last-child:not(.n) { overflow-wrap: anywhere; min-width: 15em; } .n { text-align: right; white-space: nowrap; } summary { cursor: pointer; }
.wide th:first-child, .wide td:first-child { position: sticky; left: 0; background: var(--paper); }
@media (max-width: 640px) { .wide td:last-child:not(.n) { min-width: 0; } .inputs td:last-child { min-width: 12em; } }
footer { margin-top: 2em; border-top: 1px solid var(--line); }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } .wide { overflow: visible; } .bar, .chart, tr { break-inside: avoid; }
  rect, svg, .verdict { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
)";

constexpr const char* kHatches = R"html(<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>
<pattern id="h1" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" style="fill:var(--b);stroke:none"/><line x1="0" y1="0" x2="0" y2="6" style="stroke:var(--dash);stroke-width:1.5"/></pattern>
<pattern id="h2" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" style="fill:var(--d);stroke:none"/><circle cx="2" cy="2" r="1" style="fill:var(--dash)"/></pattern>
<pattern id="h3" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" style="fill:var(--e);stroke:none"/><path d="M0 0L6 6M6 0L0 6" style="stroke:var(--dash);stroke-width:1;fill:none"/></pattern>
<pattern id="h5" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" style="fill:var(--d);stroke:none"/><line x1="2" y1="0" x2="2" y2="5" style="stroke:var(--dash);stroke-width:1.5"/></pattern>
</defs></svg>
)html";

struct Section {
  std::string name, title, body;
};

// Sections with the evidence for a model's verdict.
std::vector<Section> evidence_of(const ModelReport& report, const std::string& timeline) {
  std::vector<Section> out = {{"comparison", "Comparison", comparison_section(report)},
                              {"memory", "Memory", memory_section(report)},
                              {"iteration", "Time of an iteration", breakdown_section(report)},
                              {"rtt", "Round-trip time", latency_section(report)}};
  if (std::string job = job_section(report); !job.empty()) out.push_back({"job", "The whole job", std::move(job)});
  if (!timeline.empty()) out.push_back({"timeline", "Timeline of an iteration", timeline});
  return out;
}

// By number, because a model's name may contain any character.
std::string anchor(std::size_t model, const std::string& section) { return fmt::format("m{}-{}", model, section); }

std::string verdict_of(const ModelReport& report, std::size_t index, const std::vector<Section>& evidence) {
  std::string links;
  for (const Section& one : evidence)
    links += fmt::format("{}<a href=\"#{}\">{}</a>", links.empty() ? "" : " \u00b7 ", anchor(index, one.name),
                         escaped(one.title));
  return fmt::format(
      "<div class=\"verdict\" id=\"{}\"><p class=\"first\">{}</p>\n<p>{}</p>\n<p>{}</p>\n<p "
      "class=\"note\">{}</p>\n<nav class=\"note\">{}</nav></div>\n",
      anchor(index, "verdict"), escaped(verdict_text(report)), escaped(near_text(report)), escaped(change_text(report)),
      escaped(workload_text(report)), links);
}

std::string sections_of(std::size_t index, const std::vector<Section>& evidence) {
  std::string out;
  for (const Section& one : evidence) {
    out += fmt::format("<section><h2 id=\"{}\">{}<a href=\"#{}\">\u2191 verdict</a></h2>\n{}</section>\n",
                       anchor(index, one.name), escaped(one.title), anchor(index, "verdict"), one.body);
  }
  return out;
}

}  // namespace

std::string page_style() { return kStyle + technique_style(); }

std::string page_hatches() { return kHatches + technique_hatches(); }

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
  std::string details;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const auto evidence = evidence_of(reports[i], timelines[i]);
    out += verdict_of(reports[i], i, evidence);
    // With several models only the first is open; a link to the inside of another opens it.
    const std::string inside = sections_of(i, evidence);
    details += reports.size() == 1 ? inside
                                   : fmt::format("<details class=\"model\"{}><summary>{}</summary>\n{}</details>\n",
                                                 i == 0 ? " open" : "", escaped(reports[i].model().name), inside);
  }
  out += "<p class=\"note\">Predicted by simulation; slmsim's README states the accuracy. Compared: " +
         escaped(compared_text(scenario)) + ".</p>\n" + details;
  std::string assumed;
  for (const auto& one : all_assumptions(reports.front().result))
    assumed += fmt::format("<li>{}</li>", escaped(one.text));
  if (!assumed.empty())
    out += fmt::format(
        "<details class=\"model\" id=\"assumed\"><summary>Assumed</summary>\n"
        "<p class=\"note\">Values that were neither stated nor measured for this cluster.</p>\n"
        "<ul>{}</ul>\n"
        "</details>\n",
        assumed);
  out += fmt::format("<details class=\"model inputs\" id=\"inputs\"><summary>Inputs</summary>\n{}</details>\n",
                     inputs_section(scenario));
  return out + fmt::format("</main>\n<footer><p class=\"note\">{}</p></footer>\n</body>\n</html>\n", escaped(made_by));
}

}  // namespace slmsim
