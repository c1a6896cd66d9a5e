#include "sim/import/inventory/fablib.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/import/inventory/inventory.h"
#include "sim/platform/gpu.h"

namespace slmsim {
namespace {

// One port's rate; FABlib, Node.add_component.
struct NicModel {
  const char* model;
  double gbps;
};
constexpr NicModel kNics[] = {{"NIC_Basic", 100},          {"NIC_ConnectX_5", 25},
                              {"NIC_ConnectX_6", 100},     {"NIC_ConnectX_7_100", 100},
                              {"NIC_ConnectX_7_400", 400}, {"NIC_BlueField_2_ConnectX_6", 100},
                              {"NIC_OpenStack", 10}};

// Model and type as FABlib prints them ("GPU_TeslaT4") or as the information model does (type GPU, model "Tesla T4").
std::string model_of(const SliceRecord& component) {
  std::string model = component.at("model");
  const std::string type = component.at("type");
  if (type == "SharedNIC") return "NIC_Basic";
  const std::string prefix = type == "SmartNIC" ? "NIC_" : type == "GPU" ? "GPU_" : "";
  if (prefix.empty() || model.starts_with(prefix)) return model;
  for (char& c : model) {
    if (c == '-') c = '_';
  }
  std::erase(model, ' ');
  return prefix + model;
}

// Components and interfaces are named NODE-NAME where their node is not given.
std::string node_of(const SliceRecord& record, const std::vector<Machine>& machines) {
  if (std::string node = record.at("node"); !node.empty()) return node;
  const std::string name = record.at("name");
  std::string out;
  for (const auto& machine : machines) {
    if (name.starts_with(machine.name + "-") && machine.name.size() > out.size()) out = machine.name;
  }
  return out;
}

std::string kind_of_network(const SliceRecord& network) {
  std::string type = network.at("type");
  if (const auto dot = type.rfind('.'); dot != std::string::npos) type = type.substr(dot + 1);  // ServiceType.L2STS
  return type;
}

class SliceReader {
 public:
  // `keep`: keep nodes without GPUs too.
  SliceReader(const SliceTables& tables, bool keep) : tables_(tables), keep_(keep) {}

  Inventory read() {
    for (const auto& node : tables_.nodes) add_node(node);
    for (const auto& component : tables_.components) add_component(component);
    for (const auto& network : tables_.networks) add_network(network);
    leave_out_the_rest();
    return std::move(out_);
  }

 private:
  Machine* find(const std::string& name) {
    const auto at =
        std::find_if(out_.machines.begin(), out_.machines.end(), [&](const auto& m) { return m.name == name; });
    return at == out_.machines.end() ? nullptr : &*at;
  }

  void add_node(const SliceRecord& node) {
    const std::string name = node.at("name"), site = node.at("site");
    if (site.empty()) throw InputError(node.place, fmt::format("node \"{}\" has no site", printable(name)));
    if (const Machine* known = find(name)) {
      // A script may print a list and then each node.
      if (known->site == site) return;
      throw InputError(node.place, fmt::format("node \"{}\" is at {} and at {}; give files of one slice",
                                               printable(name), printable(known->site), printable(site)));
    }
    Machine machine;
    machine.name = name;
    machine.site = site;
    machine.type = "fabric-slice";
    machine.place = node.place;
    out_.machines.push_back(std::move(machine));
  }

  void add_component(const SliceRecord& component) {
    const std::string node = node_of(component, out_.machines), model = model_of(component),
                      name = component.at("name");
    if (!seen_.insert(node + "/" + name).second) return;
    Machine* machine = find(node);
    if (!machine) {
      if (!model.starts_with("GPU_")) return;
      throw InputError(
          component.place,
          fmt::format("component \"{}\" belongs to no listed node; give the list of nodes (list_nodes) too",
                      printable(name)));
    }
    if (model.starts_with("GPU_")) {
      const std::string gpu = gpu_called(model);
      if (gpu.empty())
        throw InputError(component.place, no_such_gpu(model.substr(4), gpu_list()));
      machine->gpus.push_back(gpu);
    }
    for (const auto& nic : kNics) {
      if (model != nic.model) continue;
      const BytesPerSecond rate{nic.gbps * 125e6};
      if (machine->nic && *machine->nic >= rate) continue;
      machine->nic = rate;
      machine->nic_source = fmt::format("FABlib: {}", model);
    }
  }

  // Adds a network: the sites of the nodes with an interface in it, and the lowest rate that any interface states.
  void add_network(const SliceRecord& network) {
    const std::string name = network.at("name"), kind = kind_of_network(network);
    std::set<std::string> sites;
    double gbps = 0;
    for (const auto& interface : tables_.interfaces) {
      if (interface.at("network") != name) continue;
      const Machine* machine = find(node_of(interface, out_.machines));
      if (!machine) continue;
      sites.insert(machine->site);
      const auto rate = parse_number(interface.at("bandwidth"));
      if (rate && *rate > 0) gbps = gbps > 0 ? std::min(gbps, *rate) : *rate;
    }
    if (kind == "L2Bridge" || sites.size() < 2) {
      if (kind.starts_with("FABNet") && sites.empty() && !network.at("site").empty()) sites = {network.at("site")};
      if (kind.starts_with("FABNet")) routed_.insert(sites.begin(), sites.end());
      return;
    }
    for (auto a = sites.begin(); a != sites.end(); ++a) {
      for (auto b = std::next(a); b != sites.end(); ++b) connect(*a, *b, kind, gbps);
    }
  }

  void connect(const std::string& a, const std::string& b, const std::string& kind, double gbps) {
    for (const auto& known : out_.connections) {
      if ((known.from == a && known.to == b) || (known.from == b && known.to == a)) return;
    }
    SiteLink connection;
    connection.from = a;
    connection.to = b;
    if (gbps > 0) {
      connection.bandwidth = BytesPerSecond{gbps * 125e6};
      connection.bandwidth_source = fmt::format("FABlib: {}, the slower interface", kind);
    }
    out_.connections.push_back(std::move(connection));
  }

  void leave_out_the_rest() {
    std::erase_if(out_.machines, [&](const Machine& machine) {
      if (keep_ || !machine.gpus.empty()) return false;
      out_.remarks.push_back(fmt::format("{} has no GPU and is skipped", machine.name));
      return true;
    });
    for (auto a = routed_.begin(); a != routed_.end(); ++a) {
      for (auto b = std::next(a); b != routed_.end(); ++b) connect(*a, *b, "FABNet", 0);
    }
    std::set<std::string> left;
    for (const auto& machine : out_.machines) left.insert(machine.site);
    std::erase_if(out_.connections, [&](const auto& c) { return !left.contains(c.from) || !left.contains(c.to); });
    for (auto& connection : out_.connections) {
      connection.rtt = fabric_rtt(connection.from, connection.to);
      if (connection.rtt) connection.rtt_source = "distance of the cities, light in fibre over 1.5 great circles";
    }
  }

  const SliceTables& tables_;
  bool keep_;
  std::set<std::string> seen_, routed_;
  Inventory out_;
};

}  // namespace

void SliceTables::add(SliceRecord record) {
  const auto has = [&](const char* key) { return record.cells.contains(key); };
  if (!has("name")) return;
  // Slivers (list_slivers()) repeat nodes and networks.
  if (has("type") && has("state") && !has("model") && !has("layer") && !has("cores")) return;
  if (has("layer") || (has("subnet") && has("gateway"))) {
    networks.push_back(std::move(record));
  } else if (has("network") && !has("model")) {
    interfaces.push_back(std::move(record));
  } else if (has("model")) {
    components.push_back(std::move(record));
  } else if (has("site")) {
    nodes.push_back(std::move(record));
  }
}

Inventory read_fablib(const std::vector<std::string>& files, bool gpus_told) {
  SliceTables tables;
  for (const auto& file : files) {
    const std::string text = read_text(file);
    const auto first = text.find_first_not_of(" \t\r\n");
    const char begin = first == std::string::npos ? ' ' : text[first];
    if (begin == '{' || begin == '[') {
      read_fablib_json(file, tables);
    } else if (begin == '<' && text.find("<graphml") != std::string::npos) {
      read_fablib_graph(file, text, tables);
    } else if (begin == '<') {
      read_fablib_html(Place{std::make_shared<const Source>(Source{file, text}), 0, 0}, text, tables);
    } else {
      read_fablib_text(file, text, tables);
    }
  }
  const Place place{std::make_shared<Source>(Source{files.front(), ""}), 0, 0};
  if (tables.nodes.empty())
    throw InputError(place,
                     "there are no nodes with sites in it; export the slice by slice.save(\"slice.graphml\"), or "
                     "by list_nodes, list_components, list_networks and list_interfaces with output=\"json\"");
  Inventory out = SliceReader(tables, gpus_told && tables.components.empty()).read();
  if (out.machines.empty())
    throw InputError(place, tables.components.empty()
                                ? "there are no components in it, and so no GPUs; give list_components too, or "
                                  "--gpu NODE=TYPE:COUNT"
                                : "none of its nodes has a GPU");
  return out;
}

}  // namespace slmsim
