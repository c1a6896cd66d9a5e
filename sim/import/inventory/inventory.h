// A user's machines as inventories of other programs list them.
//
// Nothing is guessed here: missing values stay empty; setup.h writes a platform and marks the values it assumes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/unit.h"

namespace slmsim {

struct Machine {
  std::string name;               // as in its file
  std::string site;               // empty: not stated
  std::vector<std::string> gpus;  // names of platforms/gpus, one each
  int count = 0;                  // number of GPUs, where its file states one; 0: not stated
  std::optional<BytesPerSecond> nic;
  std::string nic_source;            // source of the NIC's rate
  std::string nic_by_link;           // instead: the site to which a link carries that rate
  std::optional<Watts> power_limit;  // for each GPU, below its board's full power
  std::string type;                  // its VM's type; empty: not stated
  std::optional<double> price;       // USD per hour, with all its GPUs
  std::string path_host;  // "client" or "server" of the measured path that has its kernel's settings; empty: none
  std::string path;       // that path's file
  Place place;
};

// A link between two sites, by their names.
struct SiteLink {
  std::string from, to;
  std::optional<Seconds> rtt;
  std::string rtt_source;
  std::optional<BytesPerSecond> bandwidth;
  std::string bandwidth_source;
  std::string path;          // a measured path's file, which contains all of this
  std::string bandwidth_of;  // path, pair or connection, as a platform's link; "" where not stated
};

struct Inventory {
  std::vector<Machine> machines;
  std::vector<SiteLink> connections;
  std::vector<std::string> remarks;  // items left out, with reasons
};

// Parses "a10:2", "a10" or "t4,t4,a30:2", with names as gpu_called takes them. Throws InputError at `place`.
std::vector<std::string> read_gpus(const std::string& text, const Place& place);

// Variables of a host in an inventory: gpus (or gpu with gpu_count or slots), site (location, region), nic, vm_type. Others are
// ignored. `places` are those of the values.
struct HostVariables {
  std::map<std::string, std::string> values;
  std::map<std::string, Place> places;
};
Machine read_host(const std::string& name, const HostVariables& variables, const Place& place);

// Reads an Ansible inventory, as INI or YAML; plain lists of hosts and MPI's hostfiles ("node1 slots=4") are INI too. Hosts
// without GPUs are skipped with a remark.
Inventory read_ansible(const std::string& file);

// Reads an ssh configuration: each Host without a pattern is a machine, and a comment in its block, such as "gpus=a10:2
// site=lab", adds the variables that ssh lacks.
Inventory read_ssh_config(const std::string& file);

// GPUs that the user states beside an inventory.
struct StatedGpus {
  bool others = false;          // for every machine without GPUs
  std::set<std::string> nodes;  // for these, whatever the inventory says

  bool any() const { return others || !nodes.empty(); }
};

// Reads FABlib's export of a FABRIC slice, possibly from several files; see fablib.h. Nodes without GPUs are skipped with a
// remark, except those of `stated`. Errors: no file lists components, or a GPU has no known name, and `stated` lacks it.
Inventory read_fablib(const std::vector<std::string>& files, const StatedGpus& stated = {});

// Reads a text file. Throws InputError where it cannot be read or is larger than any inventory (kMaxFileBytes).
std::string read_text(const std::string& file);

// Turns a name into a valid platform key: other characters become "-".
std::string key_name(const std::string& name);

// Finds the GPU of platforms/gpus for a name: as `slmsim list gpus` prints it, its title, the name in NVIDIA's driver ("Tesla
// T4", "NVIDIA A100-SXM4-40GB"), FABRIC's ("GPU_TeslaT4"), or lspci's ("NVIDIA Corporation GA100GL [A30 PCIe] (rev a1)").
// Empty where no GPU has this name, or where several have lspci's.
std::string gpu_called(const std::string& text);

// GPUs of a name in brackets, as lspci prints it, in its order: "TU102GL [Quadro RTX 6000/8000]" has two.
std::vector<std::string> gpus_in_brackets(const std::string& text);

// All names, those of folders near the current one first.
const std::vector<std::string>& gpu_list();

// The full name: "NVIDIA GeForce RTX 3090"; empty where there is no such GPU.
std::string gpu_title(const std::string& name);

// Makes a platform and a scenario for `slmsim run` from machines, as YAML with comments. Missing values are assumed, marked
// with provenance `typical` and the command that measures them, and listed.

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
