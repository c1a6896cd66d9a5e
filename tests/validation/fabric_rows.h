// The FABRIC study's published facts as in its table, and the matching runs of the slices' scenarios.
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
  std::string scenario() const;  // of the slice: "gat-amst"
  // All of its figures, as of a pilot run; the noise of published figures is their rounding.
  std::vector<Pilot> pilots(const Candidate& candidate) const;
};

// Throws InputError.
std::vector<FabricRow> read_fabric_rows(const std::filesystem::path& reference);

// The matching run of its slice's scenario; nothing where there is none.
std::optional<Candidate> candidate_of(const FabricRow& row, const Scenario& scenario);

}  // namespace slmsim
