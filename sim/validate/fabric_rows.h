// The FABRIC study's published facts as its table has them, and which run of a slice's scenario each is.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/fit/pilot.h"

namespace slmsim {

// A row of fabric.csv.
struct FabricRow {
  std::string slice, gpus;  // "GAT-AMST", "2xA30": a VM of that GPU; four GPUs are both VMs
  int gpu_count = 0;
  std::string model, technique;
  std::optional<double> minutes, tflops_per_gpu;  // as published
  std::string status;                             // "ok", "oom", "ok?"

  bool two_vms() const { return gpu_count > 2; }
  bool fits() const { return status != "oom"; }
  std::string scenario() const;  // the slice's: "gat-amst"
  // Every figure of it, as of a pilot run; noise of published figures is their rounding.
  std::vector<Pilot> pilots(const Candidate& candidate) const;
};

// Throws InputError.
std::vector<FabricRow> read_fabric_rows(const std::filesystem::path& reference);

// The row's run among those of its slice's scenario; nothing where it has none.
std::optional<Candidate> candidate_of(const FabricRow& row, const Scenario& scenario);

}  // namespace slmsim
