// wan nic: how flows to a near and to a far host share a NIC, as the table of tests/wan/results/nic_sharing.csv.
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/wan/command.h"
#include "tests/wan/nic_table.h"
#include "tests/wan/provenance.h"

namespace slmsim::wan {
namespace {

std::vector<Sharing> nic_points() {
  std::vector<Sharing> all;
  for (const char* queueing : {"kernel", "fifo", "fair"}) {
    for (const double rtt : {20.2, 57.4, 103.0}) all.push_back({.queueing = queueing, .far_rtt = rtt});
    for (const auto& [near, far] : {std::pair{1, 4}, std::pair{4, 1}, std::pair{4, 4}}) {
      all.push_back({.queueing = queueing, .near_connections = near, .far_connections = far});
    }
    // The window lets the far connections have less than their share.
    for (const double rtt : {57.4, 103.0}) all.push_back({.queueing = queueing, .far_rtt = rtt, .wmem = 1 << 20});
  }
  return all;
}

std::vector<std::string> nic_comments(const std::string& line) {
  return {provenance(line),
          "CUBIC connections without end from one host through one NIC to a near and to a far host (tests/wan/nic.h);",
          "Mbit/s of payload, medians; sizes in bytes"};
}

struct NicOptions : TableOptions {
  double from = 3, until = 9;
  std::string only;
};

void measure_nic(const NicOptions& options, const std::string& line, std::ostream& out) {
  write_sharing_header(out, nic_comments(line));
  for (const Sharing& what : nic_points()) {
    if (!options.only.empty() && what.queueing != options.only) continue;
    std::vector<Shares> samples;
    for (int repeat = 0; repeat < options.repeats; ++repeat)
      samples.push_back(share(what, options.from, options.until));
    const SharingRow row = row_of(what, samples);
    write_row(out, row);
    fmt::print(stderr, "{} {} ms, {} near, {} far, wmem {}: near {:.0f}, far {:.0f} Mbit/s ({:.0f} to {:.0f})\n",
               what.queueing, what.far_rtt, what.near_connections, what.far_connections, what.wmem, row.near, row.far,
               row.far_least, row.far_most);
  }
}

}  // namespace

Command add_nic(CLI::App& app) {
  auto* command = app.add_subcommand("nic", "measure how flows to a near and to a far host share a NIC");
  auto options = std::make_shared<NicOptions>();
  add_table_options(*command, *options);
  command->add_option("--from", options->from, "count bytes from here, s after the start")->capture_default_str();
  command->add_option("--until", options->until, "until here, s")->capture_default_str();
  command->add_option("--queueing", options->only, "only this: kernel, fifo or fair");
  return {command, [options](const std::string& line) {
            write_table(*options, [&](std::ostream& out) { measure_nic(*options, line, out); });
          }};
}

}  // namespace slmsim::wan
