// A run as one self-contained page for a browser: four tiles and one comparison of the choices, then the evidence,
// folded. The page loads nothing: style and
// charts are inside it, and its content security policy forbids the rest.
#pragma once

#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/platform/platform.h"
#include "sim/report/page/sections.h"

namespace slmsim {

// The style sheet for the sections, and the SVG patterns that it names, which the page must include.
std::string page_style();
std::string page_hatches();

// HTML that is also well-formed XML. `timelines`: HTML per model, of the pick's iteration. `made_by`: program and command.
// `stopped`: a sentence on missing parts of a stopped run; empty where it is complete.
std::string to_html(const std::vector<ModelReport>& reports, const std::vector<std::string>& timelines,
                    const std::string& made_by, const std::string& stopped = "");

// How the page draws techniques: with their own looks (Technique::looks), as in the figures.

// Classes of a technique's curve by its place in the table: "lt3".
std::string technique_style();

// One iteration as bars over time: a row per GPU and per connection between VMs.

// HTML. Parts too close together to be seen are drawn as one; with many rows only the first are shown.
std::string timeline_bars(const TaskGraph& graph, const Timeline& timeline, const Platform& platform);

// Timelines of an iteration of the pick, and of the best technique on most GPUs if the pick uses fewer; simulates both again.
std::string timelines_of(const ModelReport& report);

}  // namespace slmsim
