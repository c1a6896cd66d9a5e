// The complete input of a run. After load_scenario all names are resolved and all numbers are in range.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/compute/roofline.h"
#include "sim/compute/transformer.h"
#include "sim/platform/nccl.h"
#include "sim/platform/platform.h"
#include "sim/scenario/group.h"
#include "sim/scenario/job.h"
#include "sim/scenario/link.h"
#include "sim/scenario/stack.h"
#include "sim/scenario/technique.h"

namespace slmsim {

// The settings that `slmsim plan` may change, and its objective: a scenario's `plan` section.
//
//   plan:
//     objective: time                  # time, gpu_hours, dollars; of whole jobs cost, energy, deadline, p90
//     allow: [nccl, tcp, batch]        # settings of NCCL, kernels' TCP settings, larger batches; none by default
//     inner_steps: [50, 500]           # steps between two exchanges to try: they change the training
//     fragments: [1, 4]                # likewise: parts of the model exchanged in turn
//     compress: [bf16, powersgd]       # likewise: compression of gradients before the exchange
//     dollars_per_hour: {a30: 0.45}    # of a GPU, by its name; needed for dollars

struct Scenario;

// The first three objectives concern iterations and start-up only. The others concern whole jobs, drawn by the
// scenario's `job` (sim/predict/job/outcome.h); without one, kCost and kEnergy are those of `run`. kCost: median, in the
// currency of the VMs. kEnergy: median. kDeadline: highest probability of ending before the lease does; ties by the
// shortest median. kP90: the time within which nine of ten jobs end.
enum class PlanObjective { kTime, kGpuHours, kDollars, kCost, kEnergy, kDeadline, kP90 };
inline constexpr bool is_of_whole_jobs(PlanObjective objective) { return objective >= PlanObjective::kCost; }
const std::vector<std::string>& plan_objective_names();

struct PlanRules {
  PlanObjective objective = PlanObjective::kTime;
  bool nccl = false;   // NCCL's environment variables
  bool tcp = false;    // sysctls
  bool batch = false;  // gradients may be accumulated over several batches, so that an update covers more sequences
  // For techniques with these options; empty: unchanged. Compressors by their number.
  std::vector<int> inner_steps, fragments, compress;
  std::map<std::string, double> dollars_per_hour;  // by the GPU's name

  bool operator==(const PlanRules&) const = default;
};

PlanRules read_plan_rules(Fields fields, const Platform& platform, Reading& reading);

// Throws InputError where values are listed that no technique accepts.
void check_varied(const PlanRules& rules, const std::vector<TechniqueOptions>& techniques);

// Throws InputError where an objective needs unstated input: prices, boards' power, a lease, failures.
void check_objective(PlanObjective objective, const Scenario& scenario);

// The unit in which a scenario states the length of a job.
enum class Extent { kEpochs, kSamples, kTokens };

struct Training {
  int batch = 0;  // sequences per optimizer step, over all GPUs
  // A job stated in samples or tokens is one pass over that amount.
  Extent extent = Extent::kEpochs;
  int epochs = 0;
  double blocks_per_epoch = 0;  // sequences in one pass over the data
  double tokens = 0;            // of the whole job, where stated in tokens
  // Micro-batches of every technique without its own setting; 0: each technique's default.
  int gradient_accumulation = 0;
  // Sequences that a GPU, or a pipeline, computes at once; the number of micro-batches follows from it. 0: not stated.
  int micro_batch = 0;
  Precision precision = Precision::kFp16;
  Precision gradient_precision = Precision::kFp16;  // of stored and exchanged gradients
  UpdateRule optimizer = UpdateRule::kAdam;
  std::optional<Lora> lora;  // adapters, which alone are trained
  bool rematerialisation = false;
  Seconds iteration_overhead;  // launching an iteration on every GPU
  // Consecutive control messages per iteration between the driver, on the group's first VM, and its farthest VM:
  // placing the batch, launching, fetching the loss.
  double control_round_trips = 0;

  // Optimizer steps of the whole job; a last, smaller batch counts as one.
  double steps() const;
  Update update() const { return {precision, gradient_precision, optimizer}; }

  bool operator==(const Training&) const = default;
};

// Optimizer steps of a job of this technique (steps_factor).
double steps_of_job(const Training& training, const TechniqueOptions& options);

struct MemoryRules {
  double usable_share = 0;  // of the device memory that the framework may take
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
  double delta = 0;        // a lead must exceed this share to be decisive
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
  std::vector<Parameter> defaults;    // unstated values of this machine and software (Reading::defaults)

  bool operator==(const Scenario&) const = default;

  NcclSetup nccl_setup() const { return {platform, nccl}; }
};

// "p100 has compute capability 6.0, and stack compiled needs 7.0", of the first of these GPUs for which the stack has no kernels;
// empty where it has them for all.
std::string too_old_gpu(const Scenario& scenario, const std::vector<int>& devices);

// Reads a linked tree; `name` is the default name. Throws InputError with all errors.
Scenario read_scenario(const Node& linked, const std::string& name);
// For describe(): the keys of read_scenario.
void describe_scenario(const Node& sample, Reading& reading);
// Throws InputError with all errors of the file and of the files that it names.
Scenario load_scenario(const std::filesystem::path& file, const Overrides& overrides = {});
Scenario load_scenario(const ScenarioText& text, const Overrides& overrides = {});

// Whether a word names the group, as --group and tables of runs have it: "all", or its names joined by + in any order.
bool is_group(const Scenario& scenario, const Group& group, const std::string& word);

// The scenario's model of this name. It exists: names of predictions and runs are the scenario's own.
inline const Transformer& model_named(const Scenario& scenario, const std::string& name) {
  return *std::ranges::find_if(scenario.models, [&](const Transformer& model) { return model.name == name; });
}

// The scenario that a word names, and filters on its contents.

// A scenario's file: the word itself, scenario.yaml in the folder that it names, or the shipped scenario of this name
// where neither exists.
std::string scenario_file(const std::string& word);

// Throws InputError where a key has two values, or one that excludes another: the first would have no effect.
void refuse_twice_overridden(const Overrides& overrides);

// Models, groups ("gat+amst", in any order, or "all") and techniques by their names; empty: all.
struct Filter {
  std::vector<std::string> models, groups, techniques;
};

// Reduces the scenario to what the filter names. Returns a sentence on names that it lacks, with those it has; empty where it
// has all.
std::string narrow(Scenario& scenario, const Filter& filter);

// The length and content of a training, in the terms of a scenario: sequences or tokens, epochs or one length.

// Reads a scenario's `training`. Tokens are converted to sequences by the models' sequence length, which must be equal
// where tokens are stated. Techniques are not read.
Training read_training(Fields& fields, const std::vector<Transformer>& models, Reading& reading);

// The first of the other paths that states in another way what `path` ("training.tokens") states; empty where none does.
std::string rival_of(const std::string& path, const std::vector<std::string>& others);

// Removes the statements of a scenario that `path` ("training.tokens") replaces when an override or an extending file
// states the job's length or the batch in another way.
void yield_to(Node& scenario, const std::string& path);

}  // namespace slmsim
