// A technique is one descriptor: all that the program knows of it, from reading its options to how figures draw it. Each
// stands in a file of its own under sim/technique, and sim/technique/table.cpp lists them. Shared code asks the descriptor
// and names no technique.
//
// The functions take and give values of later rooms, which need not be known here.
#pragma once

#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"
#include "sim/model/operator.h"
#include "sim/scenario/option.h"

namespace slmsim {

struct DeviceMemory;
struct ExportRequest;
struct ExportWays;
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

// What the backward pass computes anew: nothing; attention's softmax and dropout (Korthikanti et al., arXiv 2205.05198); of
// each layer all operators but attention and every other product (torchtitan's selective activation checkpoints by operator,
// torch.utils.checkpoint's create_selective_checkpoint_contexts); or every layer.
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

// Which of the five trial runs of the FABRIC study's Algorithm 1 it is.
enum class Trial { kNone, kReplicas, kOperators, kPipeline, kFallback };

// Who launches an iteration: each GPU's own process, or a driver that exchanges messages with the farthest GPU, from the
// group's first GPU or from wherever the plan begins.
enum class Launcher { kProcesses, kDriverOnFirst, kDriverOfPlan };

// What becomes of a job when a GPU, a VM, a site or a link fails: all stop and go back to the last checkpoint, or the replicas
// that are left go on, and those that failed join again with the others' parameters.
enum class AfterFailure { kRestart, kGoOn };

// In figures: fill, line colour, marker, line style and hatch as matplotlib has them. No two techniques share a marker,
// and of two with the same hatch the fills differ in lightness.
struct Looks {
  const char* fill = "#eeeeee";
  const char* line = "#555555";
  const char* marker = "H";
  const char* dash = "0 1 3";  // "-", "--", "-.", or offset and lengths
  const char* hatch = "++";
};

struct Technique {
  const char* name;
  const char* summary;
  bool usual = false;  // predicted where a scenario names no techniques
  Trial trial = Trial::kNone;
  Looks looks = {};

  bool divides_batch = false;    // each GPU computes sequences of its own, so that a micro-batch has one for each
  bool trains_adapters = false;  // knows training.lora
  bool is_ring = false;          // the GPUs' order does not matter beyond who is next to whom
  AfterFailure after_failure = AfterFailure::kRestart;

  // Beside those that all have (common_options).
  std::vector<const OptionSpec*> options = {};
  // The number of micro-batches where the scenario leaves it open.
  int (*micro_batches)(const PlanRequest&);
  // The plan it follows on a group of GPUs, or why it cannot run there.
  PlanResult (*plan)(const PlanRequest&);

  Lowered (*lower)(const LowerRequest&);
  // Makes of a graph that `lower` gave for another request what it would give for this one, which differs in the network
  // between VMs only. False where that takes lowering anew; absent: it always does.
  bool (*lower_again)(TaskGraph&, const LowerRequest&) = nullptr;

  std::vector<DeviceMemory> (*memory)(const Plan&, const OperatorGraph&, const Scenario&);
  // Of hosts and drives, in bytes per GPU.
  StoreMemory (*stored)(const Plan&, const OperatorGraph&, const Scenario&) = nullptr;

  Launcher (*launcher)(const TechniqueOptions&);
  // The k-th smallest number of layers that it can divide, k from 1 on, linear in k; absent: k.
  std::int64_t (*layers_at)(const TechniqueOptions&, std::int64_t k) = nullptr;

  // What must be told beside a plan's times: that it changes the training; absent: nothing.
  std::vector<std::string> (*remarks)(const Plan&) = nullptr;
  // Whether steps with these options are others than those of plain data parallelism; absent: they are not.
  bool (*changes_training)(const TechniqueOptions&) = nullptr;

  // What `slmsim plan` may vary beside what it varies of every technique; absent: nothing.
  std::vector<Variation> (*variations)() = nullptr;

  // How other programs would run the plan, or why they cannot.
  ExportWays (*exports)(const ExportRequest&);
};

// All techniques, in the order in which they are listed and reported: sim/technique/table.cpp, which every program links.
const std::vector<const Technique*>& technique_table();
std::vector<std::string> technique_names();
// Of that name; nullptr where there is none.
const Technique* find_technique(const std::string& name);
// Its place in the table.
std::size_t position_of(const Technique& technique);

// `micro_batches`: an iteration's sequences are cut into so many; 0: as the technique has it. `startup`: once per job:
// compilation, building of stages. `steps_factor`: the job has so many times the optimizer steps that its epochs make.
// `recompute`: absent: by training.rematerialisation.
extern const Option<int> kMicroBatches;
extern const Option<Seconds> kStartup;
extern const Option<double> kStepsFactor;
extern const Option<std::optional<Recompute>> kRecompute;
const std::vector<const OptionSpec*>& common_options();
// Those that all techniques have, then its own.
std::vector<const OptionSpec*> options_of(const Technique& technique);

// Reads `techniques:`, a list of names or a map of names to options.
std::vector<TechniqueOptions> read_techniques(const Node& node, const std::string& path, Reading& reading);

}  // namespace slmsim
