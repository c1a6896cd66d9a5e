// Measurements of paths and of local SGD over slow links, against this program's predictions. Nothing is fitted to them.
//
// Enters: a folder with
//   iperf.csv      path, rtt_ms, connections, mbit_s: what so many TCP connections together carried in ten seconds between
//                  two VMs with Linux's default buffers. A VM's way out is taken at kCloudEgress.
//   localsgd.csv   technique, rate, inner_steps, seconds_per_inner_step: of a GPT-2 of 30 M parameters on four L40S, each in
//                  a machine of its own whose NIC is shaped to that rate. What an inner step takes without any exchange was
//                  measured (kInnerStep) and is taken as given: what is predicted is the exchange.
// Other columns are passed over.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/unit.h"
#include "sim/validate/error_summary.h"

namespace slmsim {

// What Google lets a VM send to external addresses (cloud.google.com/compute/docs/network-bandwidth: 7 Gbit/s).
inline constexpr BytesPerSecond kCloudEgress{7e9 / 8};
inline constexpr Seconds kInnerStep{0.0246};

struct PathRow {
  std::string path;
  Seconds rtt;
  int connections = 0;
  BytesPerSecond measured, predicted;

  Judged judged() const { return {measured.value, predicted.value}; }
};

struct RoundRow {
  std::string technique, rate;
  int inner_steps = 0;
  Seconds measured, predicted;  // per inner step

  Judged judged() const { return {measured.value, predicted.value}; }
};

struct WanValidation {
  std::vector<PathRow> paths;    // as the tables have them
  std::vector<RoundRow> rounds;  // likewise
  ErrorSummary path_errors, round_errors;
};

// Throws InputError with file and line where a table does not read.
WanValidation validate_wan(const std::filesystem::path& folder);

}  // namespace slmsim
