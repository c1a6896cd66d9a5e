// The command line of slmsim-calibrate.
#pragma once

#include <string>
#include <vector>

#include "calibrate/gpu/collective.h"
#include "calibrate/gpu/loop.h"

namespace slmsim::calibrate {

struct Options {
  enum class Verb { kHelp, kVersion, kAll, kGemm, kElementwise, kAdam, kCopy, kLaunch, kPeer, kNccl, kCompare, kInfo };
  Verb verb = Verb::kHelp;
  std::vector<std::string> shapes;
  std::string output, name;
  std::vector<std::string> precisions;  // all, unless named
  bool cublaslt = false;
  bool fresh = false;
  int device = 0;
  double time_limit = 540;  // s, for the whole run
  Rules rules;              // per point; its time limit is the run's remainder divided by the points left
  // nccl
  std::vector<Collective> collectives;
  double least = 1024, most = 1073741824;  // bytes in a message
  int gpus = 0;                            // of this host; 0: all
};

// `words` without the program's name. Throws UsageError with the valid form.
Options parse_options(const std::vector<std::string>& words);
extern const char* const kHelp;

}  // namespace slmsim::calibrate
