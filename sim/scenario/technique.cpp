#include "sim/scenario/technique.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/suggest.h"

namespace slmsim {
namespace {

constexpr int kMostMicroBatches = 4096;
constexpr Bytes kDdpBucket{25 * kMebi};  // bucket_cap_mb of torch.nn.parallel.DistributedDataParallel

// `mesh: [2, 2]`, or `mesh: 4` for one axis.
void read_mesh(Fields& fields, TechniqueOptions& options, Reading& reading) {
  constexpr double kMost = 1 << 20;
  const auto items = fields.list("mesh");
  for (const Node* item : items) {
    const auto value = item->kind == Node::Kind::kScalar ? parse_number(item->scalar) : std::nullopt;
    if (value && *value == std::floor(*value) && *value >= 1 && *value <= kMost) {
      options.mesh.push_back(static_cast<int>(*value));
    } else {
      reading.error(item->place,
                    fmt::format("{}: GPUs along one or two axes are expected, such as [2, 2]", fields.path_of("mesh")));
    }
  }
  if (items.size() > 2)
    fields.error("mesh", fmt::format("{} has {} axes; one or two are possible", fields.path_of("mesh"), items.size()));
}

MegatronOptions read_megatron(Fields& fields) {
  constexpr Range<std::int64_t> kDegrees{1, 8192};
  MegatronOptions m;
  m.tensor = static_cast<int>(fields.integer("tensor", kDegrees, 0));
  m.pipeline = static_cast<int>(fields.integer("pipeline", kDegrees, 1));
  m.data = static_cast<int>(fields.integer("data", kDegrees, 1));
  m.chunks = static_cast<int>(fields.integer("chunks", {1, 1024}, 1));
  m.sequence_parallel = fields.flag("sequence_parallel", false);
  if (fields.has("recompute")) m.recompute = static_cast<Recompute>(fields.choice("recompute", recompute_names()));
  return m;
}

TechniqueOptions read_options(Technique technique, const Node* node, const std::string& path, Reading& reading) {
  TechniqueOptions options;
  options.technique = technique;
  options.bucket = kDdpBucket;
  if (!node || node->kind == Node::Kind::kNull) return options;
  Fields fields(*node, path, reading);
  options.micro_batches = static_cast<int>(fields.integer("micro_batches", {1, kMostMicroBatches}, 0));
  options.startup = fields.quantity<Seconds>("startup", {{0.0}, {86400.0}}, Seconds{0});
  if (technique == Technique::kShard || technique == Technique::kPipeshard)
    options.planner = static_cast<Planner>(fields.choice("planner", planner_names(), 0));
  if (technique == Technique::kShard || technique == Technique::kPipeshard)
    options.tensor = static_cast<int>(fields.integer("tensor", {1, 1024}, 0));
  if (technique == Technique::kData || technique == Technique::kZero2) {
    options.batch_split = static_cast<BatchSplit>(fields.choice("batch_split", batch_split_names(), 0));
    options.hierarchical = fields.flag("hierarchical", false);
  }
  if (technique == Technique::kShard) {
    read_mesh(fields, options, reading);
    if (fields.has("memory_limit"))
      options.memory_limit = fields.quantity<Bytes>("memory_limit", {{kMebi}, {1e6 * kGibi}});
  }
  if (technique == Technique::kPipeshard) {
    options.schedule = static_cast<Schedule>(fields.choice("schedule", schedule_names(), 0));
    options.split = static_cast<StageSplit>(fields.choice("split", stage_split_names(), 0));
    const Node* stages = fields.child("stages");
    options.choose_stages =
        stages ? stages->kind == Node::Kind::kScalar && stages->scalar == "auto" : options.planner == Planner::kSlmsim;
    if (!options.choose_stages) options.stages = static_cast<int>(fields.integer("stages", {2, 1024}, 0));
  }
  if (technique == Technique::kZero2) {
    if (fields.has("gradient_collective")) {
      options.gradient_collective =
          static_cast<GradientCollective>(fields.choice("gradient_collective", gradient_collective_names()));
    }
    if (fields.has("gathered")) options.gathered = static_cast<Precision>(fields.choice("gathered", precision_names()));
  }
  if (technique == Technique::kDdp) options.bucket = fields.quantity<Bytes>("bucket", {{1024}, {1e15}}, kDdpBucket);
  if (technique == Technique::kMegatron) options.megatron = read_megatron(fields);
  fields.done();
  return options;
}

}  // namespace

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> kNames = {"1f1b", "gpipe"};
  return kNames;
}

const std::vector<std::string>& gradient_collective_names() {
  static const std::vector<std::string> kNames = {"reduce-scatter", "all-reduce"};
  return kNames;
}

const std::vector<std::string>& stage_split_names() {
  static const std::vector<std::string> kNames = {"flops", "speed"};
  return kNames;
}

const std::vector<std::string>& batch_split_names() {
  static const std::vector<std::string> kNames = {"even", "speed"};
  return kNames;
}

const std::vector<std::string>& planner_names() {
  static const std::vector<std::string> kNames = {"alpa", "slmsim"};
  return kNames;
}

const std::vector<std::string>& recompute_names() {
  static const std::vector<std::string> kNames = {"none", "selective", "full"};
  return kNames;
}

const std::vector<TechniqueSpec>& technique_table() {
  static const std::vector<TechniqueSpec> kTable = {
      {Technique::kData, "Data", "data parallel: every GPU a replica, one all-reduce of the gradients per iteration"},
      {Technique::kZero2, "ZeRO2", "data parallel with gradients and optimizer state divided over the GPUs"},
      {Technique::kShard, "Shard", "Alpa's intra-operator parallelism: operators divided over all GPUs"},
      {Technique::kPipeshard, "Pipeshard",
       "Alpa's inter-operator parallelism: stages on VMs, operators divided inside"},
      {Technique::kDdp, "DDP", "PyTorch: replicas, gradients all-reduced in buckets during the backward pass", false},
      {Technique::kMegatron, "Megatron", "Megatron-LM: tensor, pipeline and data parallelism", false},
      {Technique::kDeepSpeed1, "ZeRO-1", "DeepSpeed: optimizer state divided over the GPUs", false},
      {Technique::kDeepSpeed2, "ZeRO-2", "DeepSpeed: optimizer state and gradients divided", false},
      {Technique::kDeepSpeed3, "ZeRO-3", "DeepSpeed: parameters divided as well, gathered layer by layer", false},
      {Technique::kOffload1, "ZeRO-1-CPU", "ZeRO-1 with the optimizer and its state in host memory", false},
      {Technique::kOffload2, "ZeRO-2-CPU", "ZeRO-2 with the optimizer and its state in host memory", false},
      {Technique::kOffload3, "ZeRO-3-CPU", "ZeRO-3 with the optimizer and its state in host memory", false},
      {Technique::kInfinity, "Infinity", "ZeRO-3 with the optimizer's state on drives", false},
      {Technique::kInfinityParameters, "Infinity-P", "ZeRO-3 with the optimizer's state and parameters on drives",
       false},
  };
  return kTable;
}

std::vector<std::string> technique_names() {
  std::vector<std::string> names;
  for (const auto& spec : technique_table()) names.emplace_back(spec.name);
  return names;
}

std::string name_of(Technique technique) {
  const auto& table = technique_table();
  return std::find_if(table.begin(), table.end(), [&](const auto& spec) { return spec.technique == technique; })->name;
}

std::vector<TechniqueOptions> read_techniques(const Node& node, const std::string& path, Reading& reading) {
  std::vector<TechniqueOptions> out;
  const std::size_t errors_before = reading.errors.size();
  const auto add = [&](const std::string& name, const Place& place, const Node* options) {
    const auto& table = technique_table();
    const auto spec = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
    if (spec == table.end()) {
      reading.error(place, fmt::format("{}: unknown technique \"{}\"; {}", path, name.substr(0, 64),
                                       did_you_mean(name, technique_names())));
      return;
    }
    if (std::any_of(out.begin(), out.end(), [&](const auto& o) { return o.technique == spec->technique; })) {
      reading.error(place, fmt::format("{}: \"{}\" is listed twice; name each technique once", path, name));
      return;
    }
    out.push_back(read_options(spec->technique, options, path + "." + name, reading));
  };
  switch (node.kind) {
    case Node::Kind::kMap:
      for (const auto& entry : node.entries) add(entry.key, entry.place, &entry.value);
      break;
    case Node::Kind::kSequence:
      for (const auto& item : node.items) {
        if (item.kind == Node::Kind::kScalar) {
          add(item.scalar, item.place, nullptr);
        } else {
          reading.error(item.place, fmt::format("{}: {} in the list of names; to give options write {} as a map", path,
                                                kind_name(item.kind), path));
        }
      }
      break;
    case Node::Kind::kScalar:
      add(node.scalar, node.place, nullptr);
      break;
    case Node::Kind::kNull:
      break;
  }
  if (out.empty() && reading.errors.size() == errors_before) {
    reading.error(node.place,
                  fmt::format("{} is empty; name at least one of {}", path, fmt::join(technique_names(), ", ")));
  }
  return out;
}

}  // namespace slmsim
