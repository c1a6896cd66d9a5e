// Unmeasured inputs of a prediction, listed with its result, each with the program that measures it.
//
// They come from two lists that reading a scenario leaves: values whose file marks them as typical, inferred or guessed
// (Scenario::parameters), and defaults of keys that are properties of a machine or its software (Scenario::defaults, by
// FileKey::measured_by). Marking a key there is enough: FileKey::matters_to and Fields::owned_by state the rest.
#pragma once

#include <string>
#include <vector>

#include "sim/predict/predict.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

struct Assumption {
  // The predictions it bears on: those with a GPU in one of its VMs (all, where it has none); with GPUs in several VMs; in
  // several VMs of one site; at several sites.
  enum class Reach { kAnyVm, kSeveralVms, kOneSite, kSeveralSites };

  std::string about;    // the key that would state it, the first of several: "software.stack"
  std::string text;     // a sentence with the value, its interval and what would replace it
  std::string measure;  // the program that measures it; empty where only the user knows it
  Reach reach = Reach::kAnyVm;
  std::vector<std::string> vms = {};
  const Technique* technique = nullptr;  // only for this technique
  Use use = Use::kAny;                   // is_of_plan: only for such plans
  std::vector<std::string> more = {};    // other keys that it covers
};

// VMs with a GPU for which `is_meant` is true.
template <class Meant>
std::vector<std::string> vms_with(const Platform& platform, Meant is_meant) {
  std::vector<std::string> out;
  for (const auto& device : platform.devices) {
    const std::string& vm = platform.vms[device.vm].name;
    if (is_meant(device.gpu) && (out.empty() || out.back() != vm)) out.push_back(vm);
  }
  return out;
}

// All assumptions, each once: shares of the peak taken from a related GPU, precisions that a GPU lacks, an unnamed software
// stack, VMs that do not say how their GPUs reach each other, and one sentence per VM type, site, link and section of the
// scenario for values neither stated for nor measured on this cluster.
std::vector<Assumption> assumptions_of(const Scenario& scenario);

// The ones that bear on a prediction.
std::vector<Assumption> assumptions_of(const std::vector<Assumption>& all, const Scenario& scenario,
                                       const Prediction& prediction);

// The ones that bear on any of several predictions, each once.
std::vector<Assumption> assumptions_of(const Scenario& scenario, const std::vector<const Prediction*>& predictions);

// The same, those first whose part of an iteration takes the largest share of the time in any of the predictions: the
// network's where it waits for transfers, the GPUs' where it computes.
std::vector<Assumption> assumptions_by_time(const Scenario& scenario,
                                            const std::vector<const Prediction*>& predictions);

// "assumed: ... | ...", without a newline; empty where there are none.
std::string assumed_line(const std::vector<Assumption>& assumptions);

// Values of a scenario that say nothing about its own cluster: those whose files mark them as typical, inferred or guessed, and
// defaults of keys that a program measures. Adds one sentence per VM type, link, site, technique and section, and measuring
// program, with the predictions it bears on.
std::vector<Assumption> unmeasured_of(const Scenario& scenario);

}  // namespace slmsim
