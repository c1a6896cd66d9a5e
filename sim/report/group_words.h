// Groups of GPUs by their sites' names.
#pragma once

#include <string>
#include <vector>

#include "sim/predict/algorithm.h"

namespace slmsim {

// "utah+boston": the sites, where a group is exactly the VMs of one or more of several sites and no other VM has such a name;
// else as group_text().
std::string group_words(const Platform& platform, const std::vector<std::string>& group);
// The same in a sentence: "utah and boston".
std::string group_sentence(const Platform& platform, const std::vector<std::string>& group);

// "Data on utah+boston".
std::string place_of(const Platform& platform, const Prediction& prediction);
std::string picked(const Platform& platform, const Selection& selection);

// "all 6 GPUs together, each pair of sites, each site": the groups that were tried, and, for a scenario that does not name
// them, those left out because there are too many.
std::string compared_text(const Scenario& scenario);

}  // namespace slmsim
