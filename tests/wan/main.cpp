// wan: real TCP over emulated wide-area paths, measured by hand (docs/validation/network.md).
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "tests/wan/command.h"

namespace slmsim::wan {

void add_table_options(CLI::App& command, TableOptions& options, const std::string& repeats) {
  command.add_option("--repeats", options.repeats, repeats)->check(CLI::Range(1, 99))->capture_default_str();
  command.add_option("--output", options.output, "file, instead of standard output");
}

void write_table(const TableOptions& options, const std::function<void(std::ostream&)>& write) {
  std::ofstream file;
  if (!options.output.empty()) file.open(options.output);
  std::ostream& out = options.output.empty() ? std::cout : file;
  write(out);
  if (!out) throw std::runtime_error("cannot write " + options.output);
}

}  // namespace slmsim::wan

int main(int argc, char** argv) {
  using namespace slmsim::wan;
  CLI::App app{"Real TCP over emulated wide-area paths; needs Linux, root and /dev/net/tun"};
  app.require_subcommand(1);
  const std::vector<Command> commands = {
      add_tcp(app),
#ifdef WAN_HAS_GLOO
      add_collectives(app),
#endif
      add_nic(app),
      add_relay(app),
  };
  CLI11_PARSE(app, argc, argv);
  std::string line = "wan";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  try {
    for (const Command& command : commands) {
      if (command.app->parsed()) command.run(line);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wan: %s\n", error.what());
    return 1;
  }
}
