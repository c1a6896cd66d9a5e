// The command line.
#pragma once

#include <string>
#include <vector>

#include "calibrate/netprobe/measure.h"

namespace slmsim::calibrate::netprobe {

struct Options {
  enum class Verb { kHelp, kVersion, kServer, kClient };
  Verb verb = Verb::kHelp;
  int port = 0;
  // server
  std::string bind;
  bool once = false;
  // client
  std::string host, output, name;
  Request request;
};

// `words` without the program's name. Throws UsageError that says what would be right.
Options parse_options(const std::vector<std::string>& words);
extern const char* const kHelp;

}  // namespace slmsim::calibrate::netprobe
