// The FABRIC study by slices: the scenario of each, and the runs that match the study's facts.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/validation/fabric_rows.h"

namespace slmsim {

using StudyRuns = std::vector<std::pair<FabricRow, Candidate>>;

struct FabricSlice {
  std::string name;            // "GAT-AMST"
  std::filesystem::path file;  // of its scenario
  Scenario scenario;
  StudyRuns rows;
  std::vector<Pilot> pilots;  // measured figures of its rows
};

// In the order of the table; `root` holds scenarios/, `reference` is fabric.csv. Throws InputError.
std::vector<FabricSlice> read_fabric_slices(const std::filesystem::path& root, const std::filesystem::path& reference);

}  // namespace slmsim
