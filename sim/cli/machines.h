// The machines that the options of slmsim init name, or that its questions find out.
#pragma once

#include <string>
#include <vector>

#include "sim/inventory/inventory.h"

namespace slmsim {

// What this machine is called.
inline constexpr const char* kHere = "here";

struct InitOptions {
  std::string folder = ".", name, ansible, ssh, token;
  std::vector<std::string> gpus, sites, links, types, peers, fablib, models, techniques;
  int batch = 0;
  bool force = false, token_given = false;
  std::string command;
};

struct Pair {
  std::string key, value;
};

// KEY=VALUE of an option; `form` is how it is written. Throws InputError.
Pair pair_of(const std::string& option, const std::string& text, const char* form);

// Where the words of an option are to blame.
Place word_place(const std::string& option);

// The machine of this name. Throws InputError with the nearest one.
Machine& machine_called(Inventory& inventory, const std::string& option, const std::string& name);

// From a list, from --gpu, from nvidia-smi or, on a terminal where nothing is named, by questions, which complete the options.
Inventory machines_of(InitOptions& options);

// What --link says.
void add_links(const InitOptions& options, Inventory& inventory);

}  // namespace slmsim
