// The techniques by name and the options each understands. The plans themselves are made in
// sim/plan/techniques.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"
#include "sim/platform/gpu.h"

namespace slmsim {

enum class Technique {
  kData,
  kZero2,
  kShard,
  kPipeshard,
  // As PyTorch, Megatron-LM and DeepSpeed run them.
  kDdp,
  kMegatron,
  kDeepSpeed1,
  kDeepSpeed2,
  kDeepSpeed3,
  kOffload1,
  kOffload2,
  kOffload3,
  kInfinity,
  kInfinityParameters,
};

struct TechniqueSpec {
  Technique technique;
  const char* name;
  const char* summary;
  bool usual = true;  // predicted where a scenario names no techniques
};

// All techniques, in the order in which they are listed and reported.
const std::vector<TechniqueSpec>& technique_table();
std::vector<std::string> technique_names();
std::string name_of(Technique technique);

// The names of an option's values, in their order, are those that scenarios use.

// How a pipeline orders its micro-batches. kOneForwardOneBackward: a stage of p keeps at most p - s in flight
// (PipeDream-Flush, arXiv 2006.09503). kGpipe: all forward, then all backward (arXiv 1811.06965).
enum class Schedule { kOneForwardOneBackward, kGpipe };
const std::vector<std::string>& schedule_names();

// How ZeRO-2's GPUs come to own their part of the summed gradients.
enum class GradientCollective { kReduceScatter, kAllReduce };
const std::vector<std::string>& gradient_collective_names();

// How the layers of equal stages are cut: kFlops as Alpa does, equal FLOPs; kSpeed equal time on the GPUs each stage has.
enum class StageSplit { kFlops, kSpeed };
const std::vector<std::string>& stage_split_names();

// How replicas share a micro-batch: kEven as many sequences each; kSpeed so that the last one is done soonest, at least one
// each.
enum class BatchSplit { kEven, kSpeed };
const std::vector<std::string>& batch_split_names();

// Who divides operators and cuts stages. kAlpa: by Alpa's unitless costs, blind to distances. kSlmsim: by the times
// of this platform.
enum class Planner { kAlpa, kSlmsim };
const std::vector<std::string>& planner_names();

// What Megatron-LM computes anew in the backward pass: nothing, attention's softmax and dropout (Korthikanti et al., arXiv
// 2205.05198), or every layer.
enum class Recompute { kNone, kSelective, kFull };
const std::vector<std::string>& recompute_names();

// Degrees of Megatron-LM; tensor x pipeline x data GPUs. 0: tensor over all that pipeline and data leave.
struct MegatronOptions {
  int tensor = 0, pipeline = 1, data = 1;
  int chunks = 1;  // of layers per GPU: more than 1 is the interleaved schedule (arXiv 2104.04473)
  bool sequence_parallel = false;
  std::optional<Recompute> recompute;  // absent: by training.rematerialisation

  bool operator==(const MegatronOptions&) const = default;
};

struct TechniqueOptions {
  Technique technique = Technique::kData;
  int micro_batches =
      0;  // an iteration's sequences are cut into so many; 0: into the smallest that give every GPU work
  Schedule schedule = Schedule::kOneForwardOneBackward;
  std::optional<GradientCollective> gradient_collective;  // absent: as Alpa does, see plan_zero2
  std::optional<Precision> gathered;  // of the parameters ZeRO-2 gathers; absent: the training precision
  // Stages of a pipeline. 0: one per VM, or one per GPU inside a single VM.
  int stages = 0;
  bool choose_stages = false;  // as many as the inter-operator planner finds best
  Planner planner = Planner::kAlpa;
  std::vector<int> mesh;              // of Shard, GPUs along one or two axes; empty: the planner's
  std::optional<Bytes> memory_limit;  // of each GPU, for Shard's planner; absent: none (kSlmsim: what the GPUs have)
  Seconds startup;                    // once per job: compilation, building of stages
  // Degrees of Shard and of Pipeshard's stages: products are divided over so many neighbouring GPUs, sequences over the
  // rest. 0: as the planner likes.
  int tensor = 0;
  StageSplit split = StageSplit::kFlops;
  BatchSplit batch_split = BatchSplit::kEven;
  // Gradients are summed inside each VM, then between VMs by one GPU per part, then spread inside (Data, and ZeRO2 with
  // all-reduce).
  bool hierarchical = false;
  Bytes bucket;  // DDP: gradients that are reduced together
  MegatronOptions megatron;

  bool operator==(const TechniqueOptions&) const = default;
};

// Reads `techniques:`, a list of names or a map of names to options.
std::vector<TechniqueOptions> read_techniques(const Node& node, const std::string& path, Reading& reading);

}  // namespace slmsim
