// Everything a run is asked for. After load_scenario no name is unresolved and no number is out of range.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/cost/optimizer.h"
#include "sim/model/transformer.h"
#include "sim/platform/platform.h"
#include "sim/scenario/framework.h"
#include "sim/scenario/group.h"
#include "sim/scenario/job.h"
#include "sim/scenario/link.h"
#include "sim/scenario/nccl.h"
#include "sim/scenario/plan_rules.h"
#include "sim/scenario/stack.h"
#include "sim/scenario/technique.h"

namespace slmsim {

// How long a job is, as its scenario states it.
enum class Extent { kEpochs, kSamples, kTokens };

struct Training {
  int batch = 0;  // sequences per optimizer step, over all GPUs
  // A job that is stated in samples or tokens is one pass over as many.
  Extent extent = Extent::kEpochs;
  int epochs = 0;
  double blocks_per_epoch = 0;  // sequences in one pass over the data
  double tokens = 0;            // of the whole job, where they are what is stated
  // Micro-batches of every technique that does not say its own; 0: each technique's default.
  int gradient_accumulation = 0;
  Precision precision = Precision::kFp16;
  Precision gradient_precision = Precision::kFp16;  // of stored and exchanged gradients
  UpdateRule optimizer = UpdateRule::kAdam;
  std::optional<Lora> lora;  // adapters that alone are trained
  bool rematerialisation = false;
  Seconds iteration_overhead;  // launching an iteration on every GPU
  // Control messages between the driver, on the group's first VM, and its farthest VM in each iteration, one
  // after the other: placing the batch, launching, fetching the loss.
  double control_round_trips = 0;

  // Optimizer steps of the whole job; a last, smaller batch counts as one.
  double steps() const;
  Update update() const { return {precision, gradient_precision, optimizer}; }

  bool operator==(const Training&) const = default;
};

// Optimizer steps of a job of this technique (steps_factor).
double steps_of_job(const Training& training, const TechniqueOptions& options);

struct MemoryRules {
  double usable_share = 0;  // of the device memory that the framework's pool takes (XLA: 0.9)
  Bytes framework;          // CUDA context, kernels, workspaces

  bool operator==(const MemoryRules&) const = default;
};

enum class Algorithm { kPaper, kAmended };
enum class Objective { kTime, kGpuHours, kTflopsPerGpu };
const std::vector<std::string>& algorithm_names();
const std::vector<std::string>& objective_names();

struct SelectionRules {
  Algorithm algorithm = Algorithm::kAmended;
  Objective objective = Objective::kTime;
  double delta = 0;        // a lead must exceed this share to decide
  int epsilon_epochs = 1;  // epochs of the trial runs that measure performance

  bool operator==(const SelectionRules&) const = default;
};

struct Scenario {
  std::string name;
  std::string description;
  Platform platform;
  std::vector<Transformer> models;
  std::vector<TechniqueOptions> techniques;
  std::vector<Group> groups;
  Training training;
  Nccl nccl;
  Software software;
  Framework framework;
  MemoryRules memory;
  SelectionRules selection;
  PlanRules plan;
  std::optional<JobRules> job;        // nothing: iterations only
  std::vector<Parameter> parameters;  // every value that states its provenance
  std::vector<Parameter> defaults;    // what nobody stated of this machine and software (Reading::defaults)

  bool operator==(const Scenario&) const = default;
};

// From a linked tree; `name` is used where it has none of its own. Throws InputError with everything that is wrong.
Scenario read_scenario(const Node& linked, const std::string& name);
// For describe(): what read_scenario asks for.
void describe_scenario(const Node& sample, Reading& reading);
// Throws InputError with everything that is wrong with the file and what it names.
Scenario load_scenario(const std::filesystem::path& file, const Overrides& overrides = {});
Scenario load_scenario(const ScenarioText& text, const Overrides& overrides = {});

}  // namespace slmsim
