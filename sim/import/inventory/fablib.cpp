#include "sim/import/inventory/fablib.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "sim/base/text.h"
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

// Whether a component is a GPU. FABlib prints the model None for those of a running slice.
bool is_gpu(const SliceRecord& component) {
  const std::string type = component.at("type");
  return model_of(component).starts_with("GPU_") || type == "GPU" ||
         (type.empty() && component.at("model").empty() && component.at("details").find("NVIDIA") != std::string::npos);
}

// The GPU by its model or by its PCI name in the details; empty where neither is known.
std::string gpu_of(const SliceRecord& component) {
  if (std::string gpu = gpu_called(model_of(component)); !gpu.empty()) return gpu;
  const std::string details = component.at("details");
  // FABRIC's are the first: it has RTX 6000, and no RTX 8000.
  const auto known = gpus_in_brackets(details);
  return known.empty() ? gpu_called(details) : known.front();
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
  SliceReader(const SliceTables& tables, const StatedGpus& stated) : tables_(tables), stated_(stated) {}

  Inventory read() {
    for (const auto& node : tables_.nodes) add_node(node);
    for (const auto& component : tables_.components) add_component(component);
    require_names();
    for (const auto& network : tables_.networks) add_network(network);
    leave_out_the_rest();
    return std::move(out_);
  }

 private:
  Machine* find(const std::string& name) {
    const auto at = std::ranges::find_if(out_.machines, [&](const auto& m) { return m.name == name; });
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
                      name = component.at("name"), key = node + "/" + name;
    if (seen_.contains(key)) return;
    Machine* machine = find(node);
    if (!machine) {
      if (!is_gpu(component)) return;
      throw InputError(
          component.place,
          fmt::format("component \"{}\" belongs to no listed node; give the list of nodes (list_nodes) too",
                      printable(name)));
    }
    if (is_gpu(component)) {
      const std::string gpu = gpu_of(component);
      // A notebook may show the component again, with its name.
      if (gpu.empty()) {
        unnamed_.emplace(key, &component);
        return;
      }
      unnamed_.erase(key);
      machine->gpus.push_back(gpu);
    }
    seen_.insert(key);
    for (const auto& nic : kNics) {
      if (model != nic.model) continue;
      const BytesPerSecond rate{nic.gbps * 125e6};
      if (machine->nic && *machine->nic >= rate) continue;
      machine->nic = rate;
      machine->nic_source = fmt::format("FABlib: {}", model);
    }
  }

  // GPUs without a known name are errors, except on nodes whose GPUs are stated.
  void require_names() {
    std::vector<Error> errors;
    for (const auto& [key, component] : unnamed_) {
      const std::string node = key.substr(0, key.find('/')), name = key.substr(key.find('/') + 1);
      if (stated_.nodes.contains(node) || (stated_.others && find(node)->gpus.empty())) {
        unnamed_nodes_.insert(node);
        continue;
      }
      const std::string details = component->at("details"), model = component->at("model");
      const std::string what = !model.empty()    ? no_such_gpu(plain_model(model), gpu_list())
                               : details.empty() ? "no model is stated"
                                                 : fmt::format("no model is stated, and no GPU is called \"{}\"",
                                                               printable(details).substr(0, 64));
      errors.push_back({component->place, fmt::format("component \"{}\" of node \"{}\": {}; give --gpu {}=TYPE:COUNT",
                                                      printable(name), printable(node), what, printable(node))});
    }
    if (!errors.empty()) throw InputError(std::move(errors));
  }

  static std::string plain_model(const std::string& model) {
    return model.starts_with("GPU_") ? model.substr(4) : model;
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
      const bool keep = stated_.any() && tables_.components.empty();
      if (keep || !machine.gpus.empty() || stated_.nodes.contains(machine.name) ||
          unnamed_nodes_.contains(machine.name))
        return false;
      out_.remarks.push_back(fmt::format("{} has no GPU and is skipped", machine.name));
      return true;
    });
    for (auto a = routed_.begin(); a != routed_.end(); ++a) {
      for (auto b = std::next(a); b != routed_.end(); ++b) connect(*a, *b, "FABNet", 0);
    }
    std::set<std::string> left;
    for (const auto& machine : out_.machines) left.insert(machine.site);
    std::erase_if(out_.connections, [&](const auto& c) { return !left.contains(c.from) || !left.contains(c.to); });
    // Without a network in the files, the distance is known all the same.
    for (auto a = left.begin(); a != left.end(); ++a) {
      for (auto b = std::next(a); b != left.end(); ++b) {
        if (fabric_rtt(*a, *b)) connect(*a, *b, "", 0);
      }
    }
    for (auto& connection : out_.connections) {
      connection.rtt = fabric_rtt(connection.from, connection.to);
      if (connection.rtt) connection.rtt_source = "distance of the cities, light in fibre over 1.5 great circles";
    }
  }

  const SliceTables& tables_;
  const StatedGpus& stated_;
  std::set<std::string> seen_, routed_, unnamed_nodes_;
  std::map<std::string, const SliceRecord*> unnamed_;  // GPUs without a known name, by NODE/COMPONENT
  Inventory out_;
};

struct City {
  const char* site;
  double north, east;  // degrees
};

// Cities of FABRIC's sites (portal.fabric-testbed.net, resources), to a tenth of a degree.
constexpr City kCities[] = {
    {"AMST", 52.4, 4.9},    {"ATLA", 33.8, -84.4},   {"BRIS", 51.5, -2.6},   {"CERN", 46.2, 6.1},
    {"CLEM", 34.7, -82.8},  {"DALL", 32.8, -96.8},   {"EDC", 40.1, -88.2},   {"EDUKY", 38.0, -84.5},
    {"FIU", 25.8, -80.4},   {"GATECH", 33.8, -84.4}, {"GAT", 33.8, -84.4},   {"GPN", 39.1, -94.6},
    {"HAWI", 21.3, -157.8}, {"INDI", 39.8, -86.2},   {"KANS", 39.1, -94.6},  {"LOSA", 34.1, -118.2},
    {"MASS", 42.2, -72.6},  {"MAX", 39.0, -76.9},    {"MICH", 42.3, -83.7},  {"NCSA", 40.1, -88.2},
    {"NEWY", 40.7, -74.0},  {"PRIN", 40.3, -74.7},   {"PSC", 40.4, -80.0},   {"RENC", 35.9, -79.0},
    {"RUTG", 40.5, -74.4},  {"SALT", 40.8, -111.9},  {"SEAT", 47.6, -122.3}, {"SRI", 37.5, -122.2},
    {"STAR", 41.9, -87.6},  {"TACC", 30.4, -97.7},   {"TOKY", 35.7, 139.7},  {"UCSD", 32.9, -117.2},
    {"UTAH", 40.8, -111.9}, {"WASH", 38.9, -77.0}};

const City* city_of(const std::string& site) {
  std::string name = site;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto* at = std::ranges::find_if(kCities, [&](const City& c) { return name == c.site; });
  return at == std::end(kCities) ? nullptr : at;
}

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
  } else if (has("model") || (has("pci_address") && has("type"))) {
    components.push_back(std::move(record));
  } else if (has("site")) {
    nodes.push_back(std::move(record));
  }
}

Inventory read_fablib(const std::vector<std::string>& files, const StatedGpus& stated) {
  SliceTables tables;
  for (const auto& file : files) {
    const std::string text = read_text(file);
    const auto first = text.find_first_not_of(" \t\r\n");
    const char begin = first == std::string::npos ? ' ' : text[first];
    const auto second = first == std::string::npos ? first : text.find_first_not_of(" \t\r\n", first + 1);
    // "[name]" begins an INI file.
    const bool is_section =
        begin == '[' && second != std::string::npos && std::isalpha(static_cast<unsigned char>(text[second]));
    if (begin == '{' || (begin == '[' && !is_section)) {
      read_fablib_json(file, tables);
    } else if (begin == '<' && text.find("<graphml") != std::string::npos) {
      read_fablib_graph(file, text, tables);
    } else if (begin == '<') {
      read_fablib_html(Place{std::make_shared<const Source>(Source{file, text}), 0, 0}, text, tables);
    } else {
      read_fablib_text(file, text, tables);
    }
  }
  const Place place = whole_of(files.front());
  if (tables.nodes.empty())
    throw InputError(place,
                     "there are no nodes with sites in it; export the slice by slice.save(\"slice.graphml\"), or "
                     "by list_nodes, list_components, list_networks and list_interfaces with output=\"json\"");
  Inventory out = SliceReader(tables, stated).read();
  if (out.machines.empty())
    throw InputError(place, tables.components.empty()
                                ? "there are no components in it, and so no GPUs; give list_components too, or "
                                  "--gpu NODE=TYPE:COUNT"
                                : "none of its nodes has a GPU");
  return out;
}

std::optional<Seconds> fabric_rtt(const std::string& site, const std::string& other) {
  const City *a = city_of(site), *b = city_of(other);
  if (!a || !b) return std::nullopt;
  constexpr double kRadian = std::numbers::pi / 180, kEarth = 6.371e6, kLightInFibre = 2e8, kDetour = 1.5;
  constexpr double kLeast = 0.5e-3;  // between two sites in one city
  const double p = a->north * kRadian, q = b->north * kRadian, turn = (a->east - b->east) * kRadian;
  const double cosine = std::sin(p) * std::sin(q) + std::cos(p) * std::cos(q) * std::cos(turn);
  const double way = kEarth * std::acos(std::clamp(cosine, -1.0, 1.0));
  return Seconds{std::max(kLeast, 2 * kDetour * way / kLightInFibre)};
}

}  // namespace slmsim
