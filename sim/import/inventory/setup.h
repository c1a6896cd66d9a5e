// Makes a platform and a scenario for `slmsim run` from machines, as YAML with comments. Missing values are assumed, marked
// with provenance `typical` and the command that measures them, and listed.
#pragma once

#include <string>
#include <vector>

#include "sim/import/inventory/inventory.h"

namespace slmsim {

struct SetupRequest {
  std::string name;     // of platform and scenario
  std::string command;  // the command that made them, for a comment
  Inventory inventory;
  std::vector<std::string> models, techniques;  // as in a scenario
  int batch = 0;                                // sequences per iteration; 0: not stated
};

struct Setup {
  std::string platform, scenario;    // texts of platform.yaml and scenario.yaml, which belong in one folder
  std::vector<std::string> assumed;  // one line each: name, value, measuring program
  int machines = 0, gpus = 0, sites = 0;
};

// Throws InputError where a machine has no GPU or an unknown VM type.
Setup set_up(const SetupRequest& request);

// The most likely VM type of machines with these GPUs: workstation (GeForce and TITAN cards), nvlink-server (SXM modules) or
// campus-server.
std::string usual_vm_type(const std::vector<std::string>& gpus);

}  // namespace slmsim
