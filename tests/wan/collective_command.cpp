// wan collectives: Gloo's over emulated wide-area paths, as the table of tests/wan/results/collectives.csv.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gloo/config.h>

#include "tests/wan/collective.h"
#include "tests/wan/command.h"
#include "tests/wan/provenance.h"

namespace slmsim::wan {
namespace {

// Linux' defaults before 6.18: 6 MiB to receive, 4 MiB to send.
CollectiveCase usual(const std::string& collective, int ranks, double rtt, std::int64_t bytes) {
  const Case path{.rtt = rtt, .rate = 400, .wmem = 4 * kMebi, .rmem = 6 * kMebi, .bytes = bytes};
  return {collective, ranks, path};
}

std::vector<CollectiveCase> collective_points() {
  std::vector<CollectiveCase> all;
  for (const std::int64_t bytes : {std::int64_t{4}, 64 * kMega}) all.push_back(usual("localsend", 4, 0.1, bytes));
  for (const double rtt : {0.1, 20.2, 57.4, 103.0}) {
    for (const int size : {1, 4, 16, 64}) all.push_back(usual("allreduce", 4, rtt, size * kMega));
    for (const char* collective : {"allgather", "reducescatter", "sendrecv"}) {
      for (const int size : {1, 16, 64}) all.push_back(usual(collective, 4, rtt, size * kMega));
    }
    for (const int size : {1, 16, 64}) all.push_back(usual("allreduce", 8, rtt, size * kMega));
    for (const int size : {4, 64}) all.push_back(usual("allgather", 8, rtt, size * kMega));
    all.push_back(usual("reducescatter", 8, rtt, 16 * kMega));
    // A quarter of the rate, where the machine's own speed matters less.
    for (const char* collective : {"allreduce", "allgather", "reducescatter"}) {
      CollectiveCase what = usual(collective, 4, rtt, 16 * kMega);
      what.path.rate = 100;
      all.push_back(what);
    }
    if (rtt < 50) all.push_back(usual("allreduce", 4, rtt, 256 * kMega));
    all.push_back(usual("sendrecv", 4, rtt, 256 * kMega));
  }
  for (const double rtt : {57.4, 103.0}) {
    for (CollectiveCase what : {usual("allgather", 4, rtt, 64 * kMega), usual("allreduce", 4, rtt, 64 * kMega)}) {
      what.path.wmem = 16 * kMebi;
      what.path.rmem = 32 * kMebi;
      all.push_back(what);
    }
  }
  for (const double rtt : {0.1, 57.4, 103.0}) {
    // Without HyStart, which ends CUBIC's slow start where connections queue behind each other.
    for (const char* collective : {"allreduce", "allgather", "reducescatter"}) {
      for (const int size : {16, 64}) {
        CollectiveCase what = usual(collective, 4, rtt, size * kMega);
        what.path.congestion = "reno";
        all.push_back(what);
      }
    }
  }
  return all;
}

std::string setting(const std::string& path) {
  std::ifstream file("/proc/sys/" + path);
  std::string value;
  std::getline(file, value);
  return value;
}

std::vector<std::string> collective_comments(const std::string& line) {
  return {
      provenance(line, fmt::format(", Gloo {}.{}.{} (Debian libgloo-dev)", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR,
                                   GLOO_VERSION_PATCH)),
      "Gloo's collectives, half of the ranks in each of two network namespaces joined by tests/wan/relay; allreduce:",
      "ring; allgather: ring; reducescatter: halving and doubling, the only one that this version has; sendrecv: from",
      "the first rank of one host to the first of the other. Seconds from a common start to the last rank's end; sizes",
      fmt::format("in bytes; net.core.wmem_max = {}; localsend: from a host's first rank to its second.",
                  setting("net/core/wmem_max")),
      "forward_10_s: when a tenth of the run's bytes had reached the second host; backward_10_s: the first"};
}

struct CollectiveOptions : TableOptions {
  int ranks = 0;
  double rtt = 0, wmem = 0, rate = 0;
  std::string only, congestion;
};

bool is_wanted(const CollectiveCase& what, const CollectiveOptions& options) {
  if (!options.only.empty() && what.collective != options.only) return false;
  if (options.rtt > 0 && what.path.rtt != options.rtt) return false;
  if (options.ranks > 0 && what.ranks != options.ranks) return false;
  if (options.wmem > 0 && static_cast<double>(what.path.wmem) != options.wmem * kMebi) return false;
  if (options.rate > 0 && what.path.rate != options.rate) return false;
  return options.congestion.empty() || what.path.congestion == options.congestion;
}

void measure_collective(const CollectiveOptions& options, const std::string& line, std::ostream& out) {
  write_collective_header(out, collective_comments(line));
  const auto all = collective_points();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const CollectiveCase& what = all[i];
    if (!is_wanted(what, options)) continue;
    std::vector<CollectiveSample> cold, warm;
    double path_rtt = INFINITY;
    for (int repeat = 0; repeat < options.repeats; ++repeat) {
      const ColdAndWarm both = collective(what, 1000 * i + static_cast<std::uint64_t>(repeat));
      cold.push_back(both.cold);
      warm.push_back(both.warm);
      path_rtt = std::min(path_rtt, both.path_rtt);
    }
    for (const auto& [state, samples] : {std::pair{"cold", cold}, std::pair{"warm", warm}}) {
      const CollectiveRow row = row_of(what, state, path_rtt, samples);
      write_row(out, row);
      fmt::print(stderr, "{}/{} {} {} ranks, {} ms, {} B, {}: {:.4f} s ({:.4f} to {:.4f})\n", i + 1, all.size(),
                 what.collective, what.ranks, what.path.rtt, what.path.bytes, state, row.median, row.least, row.most);
    }
  }
}

}  // namespace

Command add_collectives(CLI::App& app) {
  auto* command = app.add_subcommand("collectives", "measure Gloo's collectives");
  auto options = std::make_shared<CollectiveOptions>();
  add_table_options(*command, *options);
  command->add_option("--collective", options->only,
                      "only this: allreduce, allgather, reducescatter, sendrecv or localsend");
  command->add_option("--rtt", options->rtt, "only at this round trip, ms");
  command->add_option("--ranks", options->ranks, "only with this number of ranks");
  command->add_option("--rate", options->rate, "only at this rate, Mbit/s");
  command->add_option("--wmem", options->wmem, "only with this send buffer, MiB");
  command->add_option("--congestion", options->congestion, "only with this congestion control: cubic or reno");
  return {command, [options](const std::string& line) {
            write_table(*options, [&](std::ostream& out) { measure_collective(*options, line, out); });
          }};
}

}  // namespace slmsim::wan
