#include "sim/scenario/scenario.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/base/suggest.h"

namespace slmsim {
namespace {

// Defaults of a scenario that does not say otherwise.
constexpr double kDefaultDelta = 0.1;
constexpr double kDefaultMatrixEfficiency = 0.6;  // typical of large cuBLAS products inside training steps
constexpr double kDefaultMemoryEfficiency = 0.8;  // typical of streaming kernels
constexpr Seconds kDefaultLaunch{5e-6};           // typical of a CUDA kernel launch
constexpr double kDefaultUsableShare = 0.9;       // XLA_PYTHON_CLIENT_MEM_FRACTION of JAX in the study's time
constexpr Bytes kDefaultFramework{600 * kMebi};   // typical of a CUDA context with cuBLAS and NCCL
constexpr std::size_t kMostGroups = 1024;

class ScenarioReader {
 public:
  ScenarioReader(const Node& node, Reading& reading) : node_(node), fields_(node, "", reading), reading_(reading) {}

  Scenario read(const std::string& fallback_name) {
    scenario_.name = fields_.name("name", fallback_name);
    scenario_.description = fields_.text("description", "");
    if (const Node* platform = fields_.child("platform", true))
      scenario_.platform = read_platform(*platform, "platform", reading_);
    read_models();
    if (const Node* techniques = fields_.child("techniques")) {
      scenario_.techniques = read_techniques(*techniques, "techniques", reading_);
    } else {
      for (const auto& spec : technique_table())
        if (spec.usual)
          scenario_.techniques.push_back(
              {.technique = spec.technique, .gradient_collective = {}, .gathered = {}, .startup = {}});
    }
    read_training();
    scenario_.nccl = read_nccl(section("nccl"));
    read_software();
    read_selection();
    scenario_.plan = read_plan_rules(section("plan"), scenario_.platform, reading_);
    read_groups();
    fields_.done();
    return std::move(scenario_);
  }

 private:
  // A section that may be missing reads as an empty map.
  Fields section(const std::string& key) {
    const Node* found = fields_.child(key);
    return Fields(found ? *found : empty_, key, reading_);
  }

  void read_models() {
    const auto models = fields_.list("models");
    if (models.empty() && !fields_.has("models") && fields_.is_map())
      fields_.error("models", "the file has no \"models\"; it is required");
    for (std::size_t i = 0; i < models.size(); ++i) {
      // Hugging Face's config.json is named after its folder.
      const std::filesystem::path file = models[i]->place.source ? models[i]->place.source->name : "";
      const std::string folder = file.parent_path().filename().string();
      auto model =
          read_transformer(*models[i], fmt::format("models.{}", i), is_name(folder) ? folder : "model", reading_);
      const bool twice = std::any_of(scenario_.models.begin(), scenario_.models.end(),
                                     [&](const auto& m) { return m.name == model.name; });
      if (twice && !model.name.empty())
        reading_.error(models[i]->named_at.source ? models[i]->named_at : models[i]->place,
                       fmt::format("two models are named \"{}\"; names must differ", model.name));
      scenario_.models.push_back(std::move(model));
    }
  }

  void read_training() {
    if (!fields_.child("training", true)) return;
    Fields fields = section("training");
    Training& t = scenario_.training;
    t.batch = static_cast<int>(fields.integer("batch", {1, 1 << 20}));
    t.epochs = static_cast<int>(fields.integer("epochs", {1, 1'000'000}));
    t.blocks_per_epoch = fields.number("blocks_per_epoch", {1, 1e12});
    t.precision = static_cast<Precision>(fields.choice("precision", precision_names(), 0));
    t.gradient_precision = static_cast<Precision>(
        fields.choice("gradient_precision", precision_names(), static_cast<std::size_t>(t.precision)));
    t.rematerialisation = fields.flag("rematerialisation", false);
    t.iteration_overhead = fields.quantity<Seconds>("iteration_overhead", {{0}, {60}}, Seconds{0});
    t.control_round_trips = fields.number("control_round_trips", {0, 10'000}, 0.0);
    fields.done();
    for (const auto& options : scenario_.techniques) {
      if (options.micro_batches <= t.batch) continue;
      fields.error("batch", fmt::format("a batch of {} cannot be cut into the {} micro-batches of {}; choose "
                                        "at most as many as sequences",
                                        t.batch, options.micro_batches, name_of(options.technique)));
    }
  }

  void read_software() {
    Fields fields = section("software");
    fields.text("stack", "");
    Efficiency& e = scenario_.efficiency;
    for (const auto& name : architecture_names()) e.matrix[name] = kDefaultMatrixEfficiency;
    if (const Node* matrix = fields.child("matrix_efficiency")) {
      Fields rates(*matrix, "software.matrix_efficiency", reading_);
      for (const auto& name : architecture_names())
        e.matrix[name] = rates.number(name, {1e-4, 1.0}, kDefaultMatrixEfficiency);
      rates.done();
    }
    e.memory = fields.number("memory_efficiency", {1e-3, 1.0}, kDefaultMemoryEfficiency);
    e.launch = fields.quantity<Seconds>("kernel_launch", {{0}, {0.1}}, kDefaultLaunch);
    const Node* framework = fields.child("framework");
    scenario_.stack = read_stack(Fields(framework ? *framework : empty_, "software.framework", reading_));
    scenario_.memory.usable_share = fields.number("usable_memory", {0.05, 1.0}, kDefaultUsableShare);
    scenario_.memory.framework = fields.quantity<Bytes>("framework_memory", {{0}, {64 * kGibi}}, kDefaultFramework);
    fields.done();
  }

  void read_selection() {
    Fields fields = section("selection");
    SelectionRules& s = scenario_.selection;
    s.algorithm = static_cast<Algorithm>(fields.choice("algorithm", algorithm_names(), 1));
    s.objective = static_cast<Objective>(fields.choice("objective", objective_names(), 0));
    s.delta = fields.number("delta", {1e-9, 1.0}, kDefaultDelta);
    s.epsilon_epochs = static_cast<int>(fields.integer("epsilon_epochs", {1, 1000}, 1));
    fields.done();
  }

  // "all", "each", the name of a VM or GPU, or a list of such names.
  void read_groups() {
    if (!fields_.has("groups")) {
      fields_.ignore("groups");
      add_all({});
      add_each({});
    }
    for (const Node* item : fields_.list("groups")) {
      if (item->kind == Node::Kind::kScalar && item->scalar == "all") {
        add_all(item->place);
      } else if (item->kind == Node::Kind::kScalar && item->scalar == "each") {
        add_each(item->place);
      } else if (item->kind == Node::Kind::kScalar) {
        add_named(item->place, {item}, true);
      } else if (item->kind == Node::Kind::kSequence) {
        std::vector<const Node*> names;
        for (const auto& name : item->items) names.push_back(&name);
        add_named(names.empty() ? item->place : names.front()->place, names, false);
      } else {
        reading_.error(item->place,
                       "groups: expected \"all\", \"each\", a VM's name, or a list of names such as [gat, amst]");
      }
    }
  }

  void add_all(const Place& place) {
    Group group;
    for (const auto& vm : scenario_.platform.vms) add_vm(group, vm);
    add(std::move(group), place);
  }

  void add_each(const Place& place) {
    const auto& vms = scenario_.platform.vms;
    for (const auto& vm : vms) {
      Group group;
      add_vm(group, vm);
      if (vms.size() > 1 || scenario_.groups.empty()) add(std::move(group), place);
    }
  }

  static void add_vm(Group& group, const Vm& vm) {
    group.names.push_back(vm.name);
    for (int i = 0; i < vm.device_count; ++i) group.devices.push_back(vm.first_device + i);
  }

  // `words`: whether "all" and "each" would have been understood here.
  void add_named(const Place& place, const std::vector<const Node*>& names, bool words) {
    const Platform& platform = scenario_.platform;
    Group group;
    for (const Node* node : names) {
      if (node->kind != Node::Kind::kScalar) {
        reading_.error(node->place, fmt::format("groups: {} inside a group; a group lists names of VMs and GPUs",
                                                kind_name(node->kind)));
        return;
      }
      const auto vm =
          std::find_if(platform.vms.begin(), platform.vms.end(), [&](const Vm& v) { return v.name == node->scalar; });
      const auto device = std::find_if(platform.devices.begin(), platform.devices.end(),
                                       [&](const Device& d) { return d.name == node->scalar; });
      if (vm != platform.vms.end()) {
        add_vm(group, *vm);
      } else if (device != platform.devices.end()) {
        group.names.push_back(device->name);
        group.devices.push_back(static_cast<int>(device - platform.devices.begin()));
      } else {
        reading_.error(node->place, fmt::format("groups: there is no VM or GPU \"{}\"; {}", node->scalar.substr(0, 64),
                                                did_you_mean(node->scalar, known_names(words))));
        return;
      }
    }
    if (std::set<int>(group.devices.begin(), group.devices.end()).size() != group.devices.size()) {
      reading_.error(place, "groups: a GPU is in one group twice; name each VM or GPU once");
      return;
    }
    if (group.devices.empty()) {
      reading_.error(place, "groups: a group without GPUs; name at least one");
      return;
    }
    add(std::move(group), place);
  }

  std::vector<std::string> known_names(bool words) const {
    std::vector<std::string> names;
    if (words) names = {"all", "each"};
    for (const auto& vm : scenario_.platform.vms) names.push_back(vm.name);
    for (const auto& device : scenario_.platform.devices) names.push_back(device.name);
    return names;
  }

  void add(Group group, const Place& place) {
    const auto same = [&](const Group& other) { return other.devices == group.devices; };
    if (group.devices.empty() || std::any_of(scenario_.groups.begin(), scenario_.groups.end(), same)) return;
    if (scenario_.groups.size() == kMostGroups)
      reading_.error(place, fmt::format("more than {} groups; name those that matter", kMostGroups));
    if (scenario_.groups.size() < kMostGroups) scenario_.groups.push_back(std::move(group));
  }

  const Node& node_;
  Node empty_ = [] {
    Node node;
    node.kind = Node::Kind::kMap;
    return node;
  }();
  Fields fields_;
  Reading& reading_;
  Scenario scenario_;
};

}  // namespace

double Training::iterations() const { return std::ceil(blocks_per_epoch * epochs / batch); }

const std::vector<std::string>& algorithm_names() {
  static const std::vector<std::string> kNames = {"paper", "amended"};
  return kNames;
}

const std::vector<std::string>& objective_names() {
  static const std::vector<std::string> kNames = {"time", "gpu_hours", "tflops_per_gpu"};
  return kNames;
}

Scenario read_scenario(const Node& linked, const std::string& name) {
  Reading reading;
  Scenario scenario = ScenarioReader(linked, reading).read(name);
  reading.check();
  scenario.parameters = std::move(reading.parameters);
  return scenario;
}

Scenario load_scenario(const std::filesystem::path& file, const Overrides& overrides) {
  ScenarioFile scenario(file);
  std::vector<Override> parsed;
  for (const auto& text : overrides) parsed.push_back(parse_override(text));
  return read_scenario(scenario.link(parsed), scenario.name());
}

}  // namespace slmsim
