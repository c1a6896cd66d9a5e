// The settings that `slmsim plan` may change, and its objective: a scenario's `plan` section.
//
//   plan:
//     objective: time                  # time, gpu_hours, dollars; of whole jobs cost, energy, deadline, p90
//     allow: [nccl, tcp, batch]        # settings of NCCL, kernels' TCP settings, larger batches; none by default
//     inner_steps: [50, 500]           # steps between two exchanges to try: they change the training
//     fragments: [1, 4]                # likewise: parts of the model exchanged in turn
//     compress: [bf16, powersgd]       # likewise: compression of gradients before the exchange
//     dollars_per_hour: {a30: 0.45}    # of a GPU, by its name; needed for dollars
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/platform/platform.h"
#include "sim/scenario/technique.h"

namespace slmsim {

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

}  // namespace slmsim
