// How the page draws techniques: with their own looks (Technique::looks), as in the figures.
#pragma once

#include <string>

namespace slmsim {

// Classes of a technique by its place in the table: "t3" fills a bar, "lt3" draws a curve.
std::string technique_style();
// The hatches that those classes use, as SVG patterns.
std::string technique_hatches();

}  // namespace slmsim
