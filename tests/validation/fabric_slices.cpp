#include "tests/validation/fabric_slices.h"

#include <algorithm>

namespace slmsim {

std::vector<FabricSlice> read_fabric_slices(const std::filesystem::path& root, const std::filesystem::path& reference) {
  std::vector<FabricSlice> out;
  for (const auto& row : read_fabric_rows(reference)) {
    auto at = std::find_if(out.begin(), out.end(), [&](const FabricSlice& s) { return s.name == row.slice; });
    if (at == out.end()) {
      const auto file = root / "scenarios" / (row.scenario() + ".yaml");
      out.push_back({row.slice, file, load_scenario(file), {}, {}});
      at = out.end() - 1;
    }
    const auto candidate = candidate_of(row, at->scenario);
    if (!candidate) continue;
    at->rows.emplace_back(row, *candidate);
    for (auto& pilot : row.pilots(*candidate)) at->pilots.push_back(std::move(pilot));
  }
  return out;
}

}  // namespace slmsim
