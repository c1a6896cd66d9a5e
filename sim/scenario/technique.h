// A technique is one descriptor: everything the program knows of it, from reading its options to its looks in figures.
// Each, or its stages, has one file under sim/technique, and sim/technique/table.cpp lists them. Shared code uses the descriptor
// and names no technique.
//
// The functions use types of later rooms, which are only declared here.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"
#include "sim/compute/operator.h"
#include "sim/scenario/option.h"

namespace slmsim {

struct DeviceMemory;
struct ExportRequest;
struct TechniqueExports;
struct LowerRequest;
struct Lowered;
struct Plan;
struct PlanRequest;
struct PlanResult;
struct Scenario;
struct StoreMemory;
struct Technique;
struct Training;
struct Variation;
class TaskGraph;
struct StageCuts;

// Recomputation in the backward pass: nothing; attention's softmax and dropout (Korthikanti et al., arXiv 2205.05198);
// all operators of each layer except attention and every other product (torchtitan's selective activation checkpoints
// by operator, torch.utils.checkpoint's create_selective_checkpoint_contexts); or every layer.
enum class Recompute { kNone, kSelective, kOperators, kFull };
const std::vector<std::string>& recompute_names();  // "none", "selective", "operators", "full"

struct TechniqueOptions {
  const Technique* technique = nullptr;
  OptionValues values;

  template <class T>
  T get(const Option<T>& option) const {
    return values.get(option);
  }
  template <class T>
  void set(const Option<T>& option, const std::type_identity_t<T>& value) {
    values.set(option, value);
  }
  int micro_batches() const;
  Seconds startup() const;
  double steps_factor() const;
  Recompute recompute(bool rematerialisation) const;  // `recompute`, or by training.rematerialisation

  bool operator==(const TechniqueOptions&) const = default;
};

// The trial runs of the FABRIC study's Algorithm 1.
enum class Trial { kNone, kReplicas, kOperators, kPipeline, kFallback };

// The launcher of an iteration: each GPU's own process, or a driver that exchanges messages with the farthest GPU, from
// the group's first GPU or from the plan's first GPU.
enum class Launcher { kProcesses, kDriverOnFirst, kDriverOfPlan };

// Behaviour of a job when a GPU, a VM, a site or a link fails: all stop and return to the last checkpoint, or the
// remaining replicas continue, and failed ones rejoin with the others' parameters.
enum class AfterFailure { kRestart, kGoOn };

// Looks in figures: fill, line colour, marker, line style and hatch in matplotlib's notation. No two techniques share a
// marker, and two with the same hatch have fills of different lightness.
struct FigureStyle {
  const char* fill = "#eeeeee";
  const char* line = "#555555";
  const char* marker = "H";
  const char* dash = "0 1 3";  // "-", "--", "-.", or offset and lengths
  const char* hatch = "++";
};

struct Technique {
  const char* name;
  const char* summary;
  bool usual = false;  // predicted by default
  Trial trial = Trial::kNone;
  FigureStyle style = {};

  bool divides_batch = false;  // always: each GPU computes its own sequences, so a micro-batch has at least one per GPU
  bool trains_adapters = false;  // supports training.lora
  bool is_ring = false;          // the GPUs' order matters only by adjacency
  AfterFailure after_failure = AfterFailure::kRestart;

  // Options in addition to the common ones (common_options).
  std::vector<const OptionSpec*> options = {};
  // The number of micro-batches where the scenario does not state it.
  int (*micro_batches)(const PlanRequest&);
  // The plan on a group of GPUs, or the reason why it cannot run there.
  PlanResult (*plan)(const PlanRequest&);
  // The plan before its operators are divided: its stages with their operators and GPUs; where a planner cuts them, those that it
  // falls back to, or none. They depend neither on the micro-batches nor on the batch. Absent: `plan` itself takes little time.
  PlanResult (*outline)(const PlanRequest&) = nullptr;
  // The pipelines among which a planner chooses; without orders where none does.
  StageCuts (*cuts)(const PlanRequest&) = nullptr;

  Lowered (*lower)(const LowerRequest&);

  std::vector<DeviceMemory> (*memory)(const Plan&, const OperatorGraph&, const Scenario&);
  // Memory of hosts and drives, in bytes per GPU.
  StoreMemory (*stored)(const Plan&, const OperatorGraph&, const Scenario&) = nullptr;

  Launcher (*launcher)(const TechniqueOptions&);
  // The k-th smallest number of layers that it can divide, k from 1, linear in k; absent: k.
  std::int64_t (*layers_at)(const TechniqueOptions&, std::int64_t k) = nullptr;

  // Remarks on a plan's times, such as a change of the training; absent: none.
  std::vector<std::string> (*remarks)(const Plan&) = nullptr;
  // Whether steps with these options differ from those of plain data parallelism; absent: they do not.
  bool (*changes_training)(const TechniqueOptions&) = nullptr;

  // Variations for `slmsim plan` in addition to those of every technique; absent: none.
  std::vector<Variation> (*variations)() = nullptr;

  // How other programs run the plan, or why they cannot.
  TechniqueExports (*exports)(const ExportRequest&);
};

inline bool changes_training(const TechniqueOptions& options) {
  return options.technique->changes_training && options.technique->changes_training(options);
}

// Whether the technique of this name changes the training with its options.
inline bool one_changes_training(const std::vector<TechniqueOptions>& all, const std::string& name) {
  return std::any_of(all.begin(), all.end(),
                     [&](const TechniqueOptions& one) { return one.technique->name == name && changes_training(one); });
}

// All techniques, in the order in which they are listed and reported: sim/technique/table.cpp, which every program
// links.
const std::vector<const Technique*>& technique_table();
std::vector<std::string> technique_names();
// The technique of this name; nullptr where there is none.
const Technique* find_technique(const std::string& name);
// Its position in the table.
std::size_t position_of(const Technique& technique);

// `micro_batches`: number of micro-batches per iteration; 0: the technique's default. `startup`: once per job:
// compilation, building of stages. `steps_factor`: multiplies the job's optimizer steps. `recompute`: absent: by
// training.rematerialisation.
extern const Option<int> kMicroBatches;
extern const Option<Seconds> kStartup;
extern const Option<double> kStepsFactor;
extern const Option<std::optional<Recompute>> kRecompute;
const std::vector<const OptionSpec*>& common_options();
// The common options, then its own.
std::vector<const OptionSpec*> options_of(const Technique& technique);

// Reads `techniques:`, a list of names or a map of names to options.
std::vector<TechniqueOptions> read_techniques(const Node& node, const std::string& path, Reading& reading);

}  // namespace slmsim
