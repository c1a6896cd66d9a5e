// Measurements of paths and of local SGD over slow links, compared with predictions. Nothing is fitted to them.
//
// Input: a folder with
//   iperf.csv      path, rtt_ms, connections, mbit_s: rate of all TCP connections together over ten seconds between
//                  two VMs with Linux's default buffers. A VM's egress is limited to kCloudEgress.
//   localsgd.csv   technique, rate, inner_steps, seconds_per_inner_step: of a GPT-2 of 30 M parameters on four L40S, each in
//                  a machine of its own whose NIC is shaped to that rate. An inner step without exchange is given as
//                  measured (kInnerStep); the exchange is predicted.
// Other columns are ignored.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/unit.h"
#include "sim/fit/measured_step.h"

namespace slmsim {

// Google's limit for a VM that sends to external addresses (cloud.google.com/compute/docs/network-bandwidth: 7 Gbit/s).
inline constexpr BytesPerSecond kCloudEgress{7e9 / 8};
inline constexpr Seconds kInnerStep{0.0246};

struct PathRow {
  std::string path;
  Seconds rtt;
  int connections = 0;
  BytesPerSecond measured, predicted;

  Comparison judged() const { return {measured.value, predicted.value}; }
};

struct RoundRow {
  std::string technique, rate;
  int inner_steps = 0;
  Seconds measured, predicted;  // per inner step

  Comparison judged() const { return {measured.value, predicted.value}; }
};

struct WanValidation {
  std::vector<PathRow> paths;    // in the tables' order
  std::vector<RoundRow> rounds;  // in the tables' order
  ErrorSummary path_errors, round_errors;
};

// Throws InputError with file and line where a table is invalid.
WanValidation validate_wan(const std::filesystem::path& folder);

}  // namespace slmsim
