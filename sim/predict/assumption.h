// What a prediction rests on that nobody measured or stated: to be told beside its result.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

struct Assumption {
  std::string about;    // the key that would state it: "software.stack"
  std::string text;     // a sentence with the value, its interval and what would replace it
  std::string measure = {};  // the program that measures it; empty where it is for the user to say
  // Which groups it bears on: those with a GPU in one of these VMs, all where there are none; of a link those whose VMs are at
  // more than one site.
  std::vector<std::string> vms = {};
  bool of_link = false;
};

// Each once: shares of the peak that are taken from kin, precisions that a GPU lacks, a software stack that was not named, VMs
// that do not say how their GPUs reach each other, and what VM types and links state as typical or as fitted elsewhere, in one
// sentence per type and link.
std::vector<Assumption> assumptions_of(const Scenario& scenario);

// Those that bear on a group of VMs or GPUs, by names as in Group::names.
std::vector<Assumption> assumptions_of(const std::vector<Assumption>& all, const Scenario& scenario,
                                       const std::vector<std::string>& group);

// What a plan rests on beside that: what DeepSpeed's hooks around layers take where stage 3 of ZeRO runs and nobody stated it.
std::vector<Assumption> assumptions_of(const Plan& plan, const Scenario& scenario);

}  // namespace slmsim
