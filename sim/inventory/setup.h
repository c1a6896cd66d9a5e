// From machines to a platform and a scenario that `slmsim run` takes, as YAML with comments. What nobody stated is assumed, is
// marked with provenance `typical` and the command that measures it, and is told.
#pragma once

#include <string>
#include <vector>

#include "sim/inventory/inventory.h"

namespace slmsim {

struct SetupRequest {
  std::string name;     // of platform and scenario
  std::string command;  // that asked for it, for a comment
  Inventory inventory;
  std::vector<std::string> models, techniques;  // as a scenario names them
  int batch = 0;                                // sequences per iteration; 0: not said
};

struct Setup {
  std::string platform, scenario;    // texts of platform.yaml and scenario.yaml, which lie in one folder
  std::vector<std::string> assumed;  // a line each: what, the value, what measures it
  int machines = 0, gpus = 0, sites = 0;
};

// Throws InputError where a machine has no GPU or a VM type that there is none of.
Setup set_up(const SetupRequest& request);

// The VM type that machines with these GPUs most likely are: workstation (GeForce and TITAN cards), nvlink-server (SXM modules)
// or campus-server.
std::string usual_vm_type(const std::vector<std::string>& gpus);

}  // namespace slmsim
