// Makes a platform and a scenario for `slmsim run` from machines, as YAML with comments. Missing values are assumed, marked
// with provenance `typical` and the command that measures them, and listed.
#pragma once

#include <string>
#include <vector>

#include "sim/import/inventory/inventory.h"

namespace slmsim {

// A value as a scenario writes it, and the reason for it in a comment; empty: none.
struct Chosen {
  std::string value, why = {};
};

struct SetupRequest {
  std::string name;     // of platform and scenario
  std::string command;  // the command that made them, for a comment
  Inventory inventory;
  std::vector<Chosen> models;      // names, or files beside the scenario
  std::vector<Chosen> techniques;  // names, or "NAME: {options}"
  Chosen batch;                    // sequences per iteration
  Chosen micro_batch;              // sequences that a GPU computes at once; empty: as in the techniques
  Chosen precision{"fp16"}, stack{"eager"};
  Chosen gradient_precision;  // empty: as precision
  Chosen rematerialisation;   // empty: no
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
