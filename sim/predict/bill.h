// Cost of a job: money from the prices of its VMs or GPUs, energy from the power limits of its boards.
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
      energy;  // upper bound: the GPUs' boards at full power or at their limit; nothing where a GPU does not state it
};

// Bill of a job of this length on these GPUs. Where `plan.dollars_per_hour` names all of them, its prices apply; else every VM
// that holds any of them is paid for as a whole.
Bill bill_of(const Scenario& scenario, const Group& group, Seconds job);

}  // namespace slmsim
