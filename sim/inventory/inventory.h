// The machines that somebody has, as inventories of other programs list them: what is known of each, and what is not.
//
// Nothing is guessed here. What a file does not say stays empty; setup.h writes a platform of it and marks what it assumes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/unit.h"

namespace slmsim {

struct Machine {
  std::string name;               // as its file has it
  std::string site;               // empty: not said
  std::vector<std::string> gpus;  // names of platforms/gpus, one each
  std::optional<BytesPerSecond> nic;
  std::string nic_source;            // where that is from
  std::optional<Watts> power_limit;  // of each GPU, less than what its board may draw
  std::string type;                  // of its VM; empty: not said
  std::string path_host;  // "client" or "server" of the measured path that tells its kernel's settings; empty: none
  std::string path;       // that path's file
  Place place;
};

// Between two sites, by their names.
struct SiteLink {
  std::string from, to;
  std::optional<Seconds> rtt;
  std::string rtt_source;
  std::optional<BytesPerSecond> bandwidth;
  std::string bandwidth_source;
  std::string path;  // a measured path's file, which says all of this
};

struct Inventory {
  std::vector<Machine> machines;
  std::vector<SiteLink> connections;
  std::vector<std::string> remarks;  // what was left out, and why
};

// "a10:2", "a10" or "t4,t4,a30:2" in words that gpu_names.h knows. Throws InputError at `place`.
std::vector<std::string> read_gpus(const std::string& text, const Place& place);

// What the variables of a host in an inventory say of it: gpus (or gpu with gpu_count), site (location, region), nic, vm_type.
// Others are of no interest. `places` are those of the values.
struct HostVariables {
  std::map<std::string, std::string> values;
  std::map<std::string, Place> places;
};
Machine read_host(const std::string& name, const HostVariables& variables, const Place& place);

// An Ansible inventory, as INI or YAML; plain lists of hosts and MPI's hostfiles ("node1 slots=4") are INI too. Hosts without
// GPUs are left out, with a remark.
Inventory read_ansible(const std::string& file);

// An ssh configuration: each Host without a pattern is a machine, and a comment in its block with words such as
// "gpus=a10:2 site=lab" says what ssh does not.
Inventory read_ssh_config(const std::string& file);

// What FABRIC's FABlib exports of a slice, over several files if need be; see fablib.h. Nodes without GPUs are left out, with
// a remark; where no file tells of components, they are an error, unless their GPUs are told elsewhere.
Inventory read_fablib(const std::vector<std::string>& files, bool gpus_told = false);

// A text file as it is. Throws InputError where it cannot be read or is larger than any inventory (kMaxFileBytes).
std::string read_text(const std::string& file);

// A name that a platform's keys can have: other characters become "-".
std::string key_name(const std::string& name);

}  // namespace slmsim
