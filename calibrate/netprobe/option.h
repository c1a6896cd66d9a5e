// The command line.
#pragma once

#include <string>
#include <vector>

#include "calibrate/netprobe/measure.h"
#include "calibrate/netprobe/server.h"

namespace slmsim::calibrate::netprobe {

struct Options {
  enum class Verb { kHelp, kVersion, kServer, kClient };
  Verb verb = Verb::kHelp;
  int port = 0;
  // server
  std::string bind;
  Limits limits;
  // client
  std::string host, output, name, token;
  Request request;
  double watch = 0, every = 0;  // s; of --watch, 0: one profile
};

// `words` without the program's name; `token` is what the environment gives, kTokenVariable. Throws UsageError that says
// what would be right.
inline constexpr const char* kTokenVariable = "SLMSIM_NETPROBE_TOKEN";
Options parse_options(const std::vector<std::string>& words, const std::string& token = "");
// The words as a profile may tell them: without the token.
std::string without_token(const std::vector<std::string>& words);
extern const char* const kHelp;

}  // namespace slmsim::calibrate::netprobe
