// Which values of a scenario are unknown, and their priors. The widths are in one table here, with their sources;
// docs/commands/fit.md describes them.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/fit/unknown.h"
#include "sim/platform/network.h"

namespace slmsim {
namespace {

// Width of a value that is inferred or assumed and does not state its own range, by the end of its path: 80 % lie within this
// factor.
struct Width {
  const char* ending;
  double factor;
  double zero;  // probability that it is 0
  const char* source;
  bool typical = false;  // applies also where a file marks the value as typical
};

constexpr Width kWidths[] = {
    {".loss", 4, 0.25, "between measured paths of one pair of sites, losses differ by an order of magnitude"},
    {".rtt", 3, 0, "10 to 100 ms between unknown sites"},
    {".bandwidth", 3, 0, "0.3 to 10 Gbps of campuses, clouds and testbeds"},
    {".copy_rate", 1.7, 0, "0.6 to 1.7 GB/s per connection: NCCL over sockets, one core copying", true},
    {".startup", 1.6, 0, "the compile time of a model varies by this factor between hosts"},
    {".blocks_per_epoch", 1.15, 0, "how texts are packed into sequences"},
    {".control_round_trips", 2, 0, "drivers differ in the number of messages that wait for each other"},
    {".memory_efficiency", 1.2, 0, "0.65 to 0.95 of the data sheet's bandwidth, docs/validation/gpu.md"},
};
constexpr Width kOtherwise = {"", 1.5, 0, "inferred values of such studies vary by this factor between machines"};

// Defaults that depend on machine and software.
struct Default {
  const char* path;
  double value, factor;
  Dimension dimension;
  bool plain;  // a number without a unit
  const char* source;
};

constexpr Default kDefaults[] = {
    {"software.memory_efficiency", 0.8, 1.2, Dimension::kTime, true,
     "0.65 to 0.95 of the data sheet's bandwidth, docs/validation/gpu.md"},
    {"software.kernel_launch", 5e-6, 1.7, Dimension::kTime, false,
     "3 to 9 us from host to GPU, by CPU and virtualisation"},
    {"software.framework_memory", 600.0 * kMebi, 1.6, Dimension::kData, false,
     "CUDA context with its libraries: 0.4 to 1 GB by version and GPU"},
};

// A share of the peak in the GPU's file is for single products; whole steps of other software differ by more.
constexpr double kLeastEfficiencyFactor = 1.3;

const Width& width_of(const std::string& path) {
  const auto* at = std::ranges::find_if(kWidths, [&](const Width& w) { return path.ends_with(w.ending); });
  return at == std::end(kWidths) ? kOtherwise : *at;
}

Unknown log_normal(const std::string& path, double center, double factor, const ValueType& type) {
  Unknown out;
  out.paths = {path};
  out.prior = Unknown::Prior::kLogNormal;
  out.center = center;
  out.sigma = sigma_of_factor(factor);
  out.type = type;
  // Four standard deviations; nearer where the key's range is narrower.
  out.low = std::max(type.low, center * std::exp(-4 * out.sigma));
  out.high = std::min(type.high, center * std::exp(4 * out.sigma));
  return out;
}

std::optional<double> number_of(const Parameter& parameter) {
  if (parameter.type.kind != ValueType::Kind::kQuantity) return parse_number(parameter.value);
  const auto [value, problem] = parse_quantity(parameter.value, parameter.type.dimension);
  return problem.empty() ? std::optional(value) : std::nullopt;
}

// Half and twice an inferred whole number, as batches are commonly chosen.
std::vector<std::string> neighbours(double value, const ValueType& type) {
  std::vector<std::string> out;
  for (const double number : {value / 2, value, value * 2}) {
    if (number == std::round(number) && number >= type.low && number <= type.high)
      out.push_back(fmt::format("{:.0f}", number));
  }
  return out;
}

bool any_group(const Scenario& scenario, bool (*spans)(const Platform&, std::span<const int>)) {
  return std::ranges::any_of(scenario.groups,
                             [&](const Group& group) { return spans(scenario.platform, group.devices); });
}

// No prediction uses architectures or GPUs outside all groups; VMs' connections are not used within one.
bool matters(const Parameter& parameter, const Scenario& scenario) {
  if (parameter.path.find(".type.tcp.") != std::string::npos) return any_group(scenario, spans_vms);
  if (parameter.owner.scope != Scope::kMatrix) return true;
  return std::ranges::any_of(scenario.groups, [&](const Group& group) {
    return std::ranges::any_of(group.devices, [&](int device) {
      const Gpu& gpu = scenario.platform.devices[device].gpu;
      return gpu.name == parameter.key || gpu.architecture == parameter.key;
    });
  });
}

std::optional<Unknown> unknown_of(const Parameter& parameter) {
  Unknown out;
  const ValueType& type = parameter.type;
  if (parameter.between) {
    out.prior = parameter.log_scale ? Unknown::Prior::kLogUniform : Unknown::Prior::kUniform;
    out.low = parameter.between->low;
    out.high = parameter.between->high;
    out.source = "the scenario's range";
  } else if (!parameter.one_of.empty()) {
    out.prior = Unknown::Prior::kOneOf;
    out.words = parameter.one_of;
    out.source = "the scenario's list";
  } else {
    const Width& width = width_of(parameter.path);
    const bool guessed = parameter.provenance == Provenance::kInferred ||
                         parameter.provenance == Provenance::kAssumed ||
                         (parameter.provenance == Provenance::kTypical && width.typical);
    const auto value = number_of(parameter);
    // A kernel's figures have no single value to replace; the GPU's own efficiencies come with the software.
    if (!guessed || !value || *value <= 0 || type.kind == ValueType::Kind::kAny) return std::nullopt;
    if (type.kind == ValueType::Kind::kInteger) {
      out.prior = Unknown::Prior::kOneOf;
      out.words = neighbours(*value, type);
      out.source = "half to twice the inferred value";
    } else {
      out = log_normal(parameter.path, *value, parameter.spread > 0 ? 1 + parameter.spread : width.factor, type);
      out.spike = type.low > 0 ? 0 : width.zero;
      out.source = parameter.spread > 0 ? "its stated spread" : width.source;
    }
  }
  out.paths = {parameter.path};
  out.type = type;
  return out;
}

// Whether the linked scenario has a value at this path.
bool is_stated(const Node& linked, const std::string& path) {
  const Node* node = &linked;
  for (std::size_t begin = 0; node && begin <= path.size();) {
    const std::size_t dot = std::min(path.find('.', begin), path.size());
    node = node->find(path.substr(begin, dot - begin));
    begin = dot + 1;
  }
  return node != nullptr;
}

void add_defaults(const Node& linked, std::vector<Unknown>& out) {
  for (const Default& d : kDefaults) {
    if (is_stated(linked, d.path)) continue;
    ValueType type = ValueType::of(d.plain ? ValueType::Kind::kNumber : ValueType::Kind::kQuantity);
    type.dimension = d.dimension;
    type.high = d.plain ? 1 : d.value * 100;
    Unknown unknown = log_normal(d.path, d.value, d.factor, type);
    unknown.source = d.source;
    out.push_back(std::move(unknown));
  }
}

// From the data sheet's share where the software states no efficiency.
void add_efficiencies(const Scenario& scenario, std::vector<Unknown>& out) {
  std::set<std::string> seen;
  for (const auto& group : scenario.groups) {
    for (const int device : group.devices) {
      const Gpu& gpu = scenario.platform.devices[device].gpu;
      const auto& stated = scenario.software.matrix;
      const bool measured = gpu.kernels && gpu.kernels->knows_products();
      if (measured || stated.contains(gpu.name) || stated.contains(gpu.architecture)) continue;
      if (!seen.insert(gpu.name).second) continue;
      const MatrixEfficiency& share = efficiency_of(gpu, scenario.training.precision);
      const double sustained = scenario.software.matrix_of(gpu, scenario.training.precision);
      Unknown unknown = log_normal(fmt::format("software.matrix_efficiency.{}", gpu.name), sustained,
                                   std::max(kLeastEfficiencyFactor, 1 + share.spread), number_type(1e-4, 2));
      unknown.source = "the GPU's file; varies more between programs than between products";
      out.push_back(std::move(unknown));
    }
  }
}

void add_paths(const Scenario& scenario, const Node& linked, std::vector<Unknown>& out) {
  for (const auto& link : scenario.platform.links) {
    const auto at = [&](const char* key) { return fmt::format("platform.links.{}.{}", link.name, key); };
    if (!is_stated(linked, at("loss")) && !is_stated(linked, at("path"))) out.push_back(path_loss(at("loss")));
  }
}

// Buffers that a file marks as typical; VM types with equal ones share one statement.
void add_buffers(const Scenario& scenario, std::vector<Unknown>& out) {
  const std::string receive = ".net.ipv4.tcp_rmem", send = ".net.ipv4.tcp_wmem";
  std::map<std::string, std::vector<std::string>> paths;  // by receive buffer
  std::map<std::string, std::string> buffers;             // of each VM's `tcp`
  for (const auto& parameter : scenario.parameters) {
    if (parameter.provenance != Provenance::kTypical || parameter.between || !parameter.one_of.empty()) continue;
    const bool receives = parameter.path.ends_with(receive);
    if (!receives && !parameter.path.ends_with(send)) continue;
    const std::string tcp = parameter.path.substr(0, parameter.path.size() - receive.size());
    if (receives) buffers[tcp] = parameter.value;
    if (buffers.contains(tcp)) paths[buffers[tcp]].push_back(parameter.path);
  }
  for (auto& [written, at] : paths) {
    const auto [usual, problem] = parse_quantity(written, Dimension::kData);
    if (!problem.empty()) continue;
    out.push_back(socket_buffers(std::move(at), usual));
  }
}

}  // namespace

std::vector<Unknown> unknowns_of(const Scenario& scenario, const Node& linked) {
  std::vector<Unknown> out;
  std::vector<std::pair<std::string, std::string>> statements;  // for each in `out`
  for (const auto& parameter : scenario.parameters) {
    auto unknown = unknown_of(parameter);
    if (!unknown || !matters(parameter, scenario)) continue;
    const auto statement = std::pair{fmt::format("{}={}", parameter.key, parameter.value), parameter.source};
    const auto known = std::ranges::find(statements, statement);
    if (known != statements.end()) {
      out[known - statements.begin()].paths.push_back(parameter.path);
      continue;
    }
    statements.push_back(statement);
    out.push_back(std::move(*unknown));
  }
  add_efficiencies(scenario, out);
  if (any_group(scenario, spans_sites)) {
    add_paths(scenario, linked, out);
    add_buffers(scenario, out);
  }
  add_defaults(linked, out);
  return out;
}

}  // namespace slmsim
