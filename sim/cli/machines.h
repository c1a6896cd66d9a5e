// Machines from the options of slmsim init, or from its questions.
#pragma once

#include <string>
#include <vector>

#include "sim/import/inventory/inventory.h"

namespace slmsim {

// The name of this machine.
inline constexpr const char* kHere = "here";

struct InitOptions {
  std::string folder = ".", name, ansible, ssh, token, stack;
  std::vector<std::string> gpus, sites, links, types, peers, prices, fablib, models, techniques;
  int batch = 0, sequence = 0;
  bool force = false, token_given = false;
  std::string command;
};

struct Pair {
  std::string key, value;
};

// Parses KEY=VALUE of an option; `form` is its format for messages. Throws InputError.
Pair pair_of(const std::string& option, const std::string& text, const char* form);

// Place of errors in an option's words.
Place word_place(const std::string& option);

// The machine of this name. Throws InputError with the nearest one.
Machine& machine_called(Inventory& inventory, const std::string& option, const std::string& name);

// From a list, from --gpu, from nvidia-smi or, on a terminal without options, from questions, which complete the options.
Inventory machines_of(InitOptions& options);

// Adds the links of --link.
void add_links(const InitOptions& options, Inventory& inventory);

// Adds the prices of --price: of a machine, or of a GPU in all machines.
void add_prices(const InitOptions& options, Inventory& inventory);

}  // namespace slmsim
