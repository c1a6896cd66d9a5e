// A run as one page for a browser: the verdict first, then what it rests on. The page loads nothing: style and charts are
// inside it, and its content security policy forbids the rest.
#pragma once

#include <string>
#include <vector>

#include "sim/page/sections.h"

namespace slmsim {

// The style sheet of all that the sections hold, and the SVG patterns that it names, which the page must hold.
std::string page_style();
std::string page_hatches();

// HTML that is well-formed XML too. `timelines`: HTML per model, of the pick's iteration. `made_by`: program and command. `stopped`:
// what the page lacks since it was stopped, in words; empty where it is whole.
std::string to_html(const std::vector<ModelReport>& reports, const std::vector<std::string>& timelines,
                    const std::string& made_by, const std::string& stopped = "");

}  // namespace slmsim
