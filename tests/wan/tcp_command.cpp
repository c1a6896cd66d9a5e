// wan tcp: real transfers over emulated wide-area paths, as the table of tests/wan/results/tcp.csv.
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/wan/command.h"
#include "tests/wan/provenance.h"
#include "tests/wan/table.h"

namespace slmsim::wan {
namespace {

constexpr std::int64_t kKilo = 1000;

struct Point {
  std::string group;
  Case what;
};

// Linux' defaults before 6.18: 6 MiB to receive, 4 MiB to send.
Case usual(double rtt, std::int64_t bytes) {
  return {.rtt = rtt, .rate = 400, .wmem = 4 * kMebi, .rmem = 6 * kMebi, .bytes = bytes};
}

Case warm(Case what, double timeouts = 0) {
  what.warm_up = 48 * kMega;
  what.pause_timeouts = timeouts;
  return what;
}

std::vector<Point> tcp_points() {
  std::vector<Point> all;
  const auto add = [&](const char* group, Case what) { all.push_back({group, std::move(what)}); };
  constexpr double kWide[] = {20.2, 57.4, 103};
  for (const std::int64_t bytes : {64 * kKilo, kMega, 32 * kMega}) {
    for (const int connections : {1, 4}) {
      Case what = usual(0.1, bytes);
      what.connections = connections;
      add("local", what);
    }
  }
  for (const double rtt : kWide) {
    for (const std::int64_t bytes : {64 * kKilo, kMega, 8 * kMega, 64 * kMega, 256 * kMega})
      add("cold", usual(rtt, bytes));
    for (const std::int64_t bytes : {64 * kKilo, kMega, 4 * kMega, 32 * kMega}) add("warm", warm(usual(rtt, bytes)));
    for (const std::int64_t bytes : {8 * kMega, 64 * kMega}) {
      Case what = usual(rtt, bytes);
      what.congestion = "reno";
      add("cold", what);
      // At this rate the receiver's autotuning of Linux 6.18 stalls in some runs; here it has nothing to tune.
      what.congestion = "cubic";
      what.rate = 800;
      what.rmem_initial = what.rmem;
      add("fast", what);
    }
    for (const std::int64_t wmem : {1, 16}) {
      Case what = usual(rtt, 32 * kMega);
      what.wmem = wmem * kMebi;
      what.rmem = 32 * kMebi;
      add("buffer", what);
      add("buffer", warm(what));
    }
    for (const int connections : {2, 4}) {
      Case what = usual(rtt, 16 * kMega);
      what.connections = connections;
      add("several", what);
      if (connections == 4) add("several", warm(what));
    }
  }
  // As many sockets as NCCL opens between VMs of some clouds: with each transfer after a pause, and none.
  for (const double rtt : {20.2, 103.0}) {
    for (const double timeouts : {0.0, 0.75, 1.5, 2.5}) {
      Case what = usual(rtt, 8 * kMebi);
      what.connections = 16;
      what.mtu = 9000;
      add("several", warm(what, timeouts));
      if (timeouts == 0) add("several", what);
    }
  }
  // The same between continents.
  for (const double rtt : {260.0, 476.0}) {
    for (const double timeouts : {0.0, 0.75, 1.5}) {
      Case what = usual(rtt, 8 * kMebi);
      what.rate = 342;
      what.connections = 16;
      what.mtu = 9000;
      add("far", warm(what, timeouts));
      if (timeouts == 0) add("far", what);
    }
  }
  for (const double rtt : {57.4, 103.0}) {
    for (const double timeouts : {0.5, 1.5, 2.5, 4.5, 8.0}) {
      Case what = warm(usual(rtt, 4 * kMega), timeouts);
      add("idle", what);
      what.congestion = "reno";
      add("idle", what);
    }
  }
  for (const std::int64_t bytes : {kMega, 8 * kMega}) {
    Case what = usual(57.4, bytes);
    what.mtu = 9000;
    add("jumbo", what);
  }
  // Pauses of 0.2 to 5 s, after which the window is larger than a receiver's first.
  for (const double rtt : {20.2, 103.0}) {
    for (const double timeouts : {0.75, 2.5, 8.0, 16.0}) {
      for (const std::int64_t bytes : {64 * kKilo, 4 * kMega}) {
        Case what = warm(usual(rtt, bytes), timeouts);
        what.mtu = 9000;
        add("restart", what);
      }
    }
  }
  // A full window waits longer than the path's round trip, and time-outs with it.
  for (const double rtt : {20.2, 57.4}) {
    for (const double timeouts : {0.55, 0.9, 1.5, 3.5}) {
      Case what = warm(usual(rtt, 4 * kMega), timeouts);
      what.rate = 100;
      add("queue", what);
    }
  }
  for (const char* congestion : {"reno", "cubic"}) {
    for (const double rtt : {20.2, 57.4}) {
      for (const auto& [loss, bytes] : {std::pair{1e-5, 64 * kMega}, std::pair{1e-4, 64 * kMega}}) {
        Case what = usual(rtt, bytes);
        what.congestion = congestion;
        what.loss = loss;
        add("loss", what);
      }
    }
  }
  // Many losses: 13 and 22 on one connection, 13 on each of four.
  for (const char* congestion : {"reno", "cubic"}) {
    for (const double rtt : {20.2, 57.4}) {
      for (const auto& [loss, bytes, connections] :
           {std::tuple{3e-4, 64 * kMega, 1}, std::tuple{1e-3, 32 * kMega, 1}, std::tuple{1e-3, 80 * kMega, 4}}) {
        Case what = usual(rtt, bytes);
        what.congestion = congestion;
        what.loss = loss;
        what.connections = connections;
        add("losses", what);
      }
    }
  }
  for (Case what : {usual(57.4, 8 * kMega), warm(usual(57.4, 8 * kMega)), warm(usual(57.4, 4 * kMega), 4.5)}) {
    what.congestion = "bbr";
    add("bbr", what);
  }
  return all;
}

std::vector<std::string> tcp_comments(const std::string& line) {
  return {provenance(line),
          "TCP over two network namespaces joined by tests/wan/relay; seconds from the first send() to the receiver's",
          "last byte; sizes in bytes, cwnd and ssthresh in segments; tcp_slow_start_after_idle = 1"};
}

struct TcpOptions : TableOptions {
  std::string group;
};

void measure_tcp(const TcpOptions& options, const std::string& line, std::ostream& out) {
  write_header(out, tcp_comments(line));
  const auto all = tcp_points();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [name, what] = all[i];
    if (!options.group.empty() && name != options.group) continue;
    std::vector<Sample> samples;
    const int times = what.loss > 0 ? 3 * options.repeats : options.repeats;  // chance decides which
    for (int repeat = 0; repeat < times; ++repeat)
      samples.push_back(transfer(what, 1000 * i + static_cast<std::uint64_t>(repeat)));
    const Row row = row_of(name, what, samples);
    write_row(out, row);
    fmt::print(stderr, "{}/{} {} {} ms: {:.4f} s ({:.4f} to {:.4f})\n", i + 1, all.size(), name, what.rtt, row.median,
               row.least, row.most);
  }
}

}  // namespace

Command add_tcp(CLI::App& app) {
  auto* command = app.add_subcommand("tcp", "measure TCP transfers");
  auto options = std::make_shared<TcpOptions>();
  add_table_options(*command, *options, "of each point, three times as many where packets are lost");
  command->add_option("--group", options->group, "only the points of this group");
  return {command, [options](const std::string& line) {
            write_table(*options, [&](std::ostream& out) { measure_tcp(*options, line, out); });
          }};
}

}  // namespace slmsim::wan
