// Subcommands of `wan`, which measures over emulated paths. Each adds its options and, if it was given, runs.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>

namespace slmsim::wan {

inline constexpr std::int64_t kMega = 1'000'000, kMebi = 1 << 20;

struct Command {
  CLI::App* app = nullptr;
  // `line`: the command line, for the first comment of a table.
  std::function<void(const std::string& line)> run;
};

Command add_tcp(CLI::App& app);
Command add_collectives(CLI::App& app);
Command add_nic(CLI::App& app);
Command add_relay(CLI::App& app);

// Options of a measured table.
struct TableOptions {
  int repeats = 3;
  std::string output;
};
void add_table_options(CLI::App& command, TableOptions& options, const std::string& repeats = "of each point");
// Calls `write` with the file of --output, or with standard output.
void write_table(const TableOptions& options, const std::function<void(std::ostream&)>& write);

}  // namespace slmsim::wan
