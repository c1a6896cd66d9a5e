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

// `words` without the program's name; `token` comes from the environment variable kTokenVariable. Throws UsageError with the
// valid form.
inline constexpr const char* kTokenVariable = "SLMSIM_NETPROBE_TOKEN";
Options parse_options(const std::vector<std::string>& words, const std::string& token = "");
// The words as a profile may show them: without the token.
std::string without_token(const std::vector<std::string>& words);
extern const char* const kHelp;

}  // namespace slmsim::calibrate::netprobe
