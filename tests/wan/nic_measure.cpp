// Measures how flows to a near and to a far host share a NIC and prints the table of tests/wan/results/nic_sharing.csv.
#include <cstdio>
#include <fstream>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tests/wan/nic_table.h"
#include "tests/wan/provenance.h"

namespace {

using slmsim::wan::Sharing;

std::vector<Sharing> points() {
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

std::vector<std::string> comments(int argc, char** argv) {
  return {slmsim::wan::provenance("nic_measure", argc, argv),
          "CUBIC connections without end from one host through one NIC to a near and to a far host (tests/wan/nic.h);",
          "Mbit/s of payload, medians; sizes in bytes"};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace slmsim::wan;
  int repeats = 3;
  double from = 3, until = 9;
  std::string output, only;
  CLI::App app{"Measures how flows to a near and to a far host share a NIC"};
  app.add_option("--repeats", repeats, "of each point")->check(CLI::Range(1, 99))->capture_default_str();
  app.add_option("--from", from, "count bytes from here, s after the start")->capture_default_str();
  app.add_option("--until", until, "until here, s")->capture_default_str();
  app.add_option("--queueing", only, "only this: kernel, fifo or fair");
  app.add_option("--output", output, "file, instead of standard output");
  CLI11_PARSE(app, argc, argv);
  try {
    std::ofstream file;
    if (!output.empty()) file.open(output);
    std::ostream& out = output.empty() ? std::cout : file;
    write_sharing_header(out, comments(argc, argv));
    for (const Sharing& what : points()) {
      if (!only.empty() && what.queueing != only) continue;
      std::vector<Shares> samples;
      for (int repeat = 0; repeat < repeats; ++repeat) samples.push_back(share(what, from, until));
      const SharingRow row = row_of(what, samples);
      write_row(out, row);
      fmt::print(stderr, "{} {} ms, {} near, {} far, wmem {}: near {:.0f}, far {:.0f} Mbit/s ({:.0f} to {:.0f})\n",
                 what.queueing, what.far_rtt, what.near_connections, what.far_connections, what.wmem, row.near, row.far,
                 row.far_least, row.far_most);
    }
    if (!out) throw std::runtime_error("cannot write " + output);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nic_measure: %s\n", error.what());
    return 1;
  }
}
