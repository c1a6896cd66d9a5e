// A run as one self-contained page for a browser: the verdict first, then its evidence. The page loads nothing: style and
// charts are inside it, and its content security policy forbids the rest.
#pragma once

#include <string>
#include <vector>

#include "sim/report/page/sections.h"

namespace slmsim {

// The style sheet for the sections, and the SVG patterns that it names, which the page must include.
std::string page_style();
std::string page_hatches();

// HTML that is also well-formed XML. `timelines`: HTML per model, of the pick's iteration. `made_by`: program and command.
// `stopped`: a sentence on missing parts of a stopped run; empty where it is complete.
std::string to_html(const std::vector<ModelReport>& reports, const std::vector<std::string>& timelines,
                    const std::string& made_by, const std::string& stopped = "");

}  // namespace slmsim
