// What a job costs: money by the prices of its VMs or GPUs, energy by what its boards may draw.
#pragma once

#include <optional>
#include <string>

#include "sim/scenario/scenario.h"

namespace slmsim {

inline constexpr double kJoulesPerKwh = 3.6e6;

struct Bill {
  std::optional<double> cost;  // in `currency`; nothing where a price is not stated
  std::string currency;        // ISO 4217
  std::optional<Joules>
      energy;  // of the GPUs' boards at full power or their limit, an upper bound; nothing where a GPU does not state it
};

// Of a job of this length on these GPUs. Where `plan.dollars_per_hour` names all of them, they are paid for; else each VM
// that holds any of them, whole, since nobody rents half a VM.
Bill bill_of(const Scenario& scenario, const Group& group, Seconds job);

}  // namespace slmsim
