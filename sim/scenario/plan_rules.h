// What `slmsim plan` may change and what it looks for: a scenario's `plan` section.
//
//   plan:
//     objective: time                  # time, gpu_hours, dollars; of whole jobs cost, energy, deadline, p90
//     allow: [nccl, tcp, batch]        # settings of NCCL, kernels' TCP settings, larger batches; none by default
//     inner_steps: [50, 500]           # steps between two exchanges that may be tried: they change the training
//     fragments: [1, 4]                # likewise: parts of the model that are exchanged in turn
//     compress: [bf16, powersgd]       # likewise: how gradients are made smaller before they are exchanged
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

// The first three are of the iterations and the start-up alone. The others are of whole jobs as the scenario's `job` draws them
// (sim/job/outcome.h); without one kCost and kEnergy are what `run` tells. kCost: median, in the currency of the VMs.
// kEnergy: median. kDeadline: as likely as can be to end before the lease does, and of plans that are as likely the shortest
// median. kP90: nine of ten jobs end before it.
enum class PlanObjective { kTime, kGpuHours, kDollars, kCost, kEnergy, kDeadline, kP90 };
inline constexpr bool is_of_whole_jobs(PlanObjective objective) { return objective >= PlanObjective::kCost; }
const std::vector<std::string>& plan_objective_names();

struct PlanRules {
  PlanObjective objective = PlanObjective::kTime;
  bool nccl = false;   // NCCL's environment variables
  bool tcp = false;    // sysctls
  bool batch = false;  // gradients may be added up over several batches, so that an update sees more sequences
  // Of techniques that have them; empty: as they are. Compressors by their number.
  std::vector<int> inner_steps, fragments, compress;
  std::map<std::string, double> dollars_per_hour;  // by the GPU's name

  bool operator==(const PlanRules&) const = default;
};

PlanRules read_plan_rules(Fields fields, const Platform& platform, Reading& reading);

// Throws InputError where values are listed that none of the techniques takes.
void check_varied(const PlanRules& rules, const std::vector<TechniqueOptions>& techniques);

// Throws InputError where an objective needs what the scenario does not say: prices, boards' power, a lease, failures.
void check_objective(PlanObjective objective, const Scenario& scenario);

}  // namespace slmsim
