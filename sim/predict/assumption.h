// What a prediction rests on that nobody measured or stated: to be told beside its result, each with what measures it.
//
// It comes from two lists that reading a scenario leaves: values whose file says that they are typical, inferred elsewhere or
// guessed (Scenario::parameters), and defaults of keys that are properties of somebody's machine or software
// (Scenario::defaults, by FileKey::measured_by). A key that is marked there is told here; there is no list of keys.
#pragma once

#include <string>
#include <vector>

#include "sim/predict/predict.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

struct Assumption {
  // On which predictions it bears: on those with a GPU in one of its VMs (or all, where it has none); with GPUs in several
  // VMs; in several VMs of one site; at several sites.
  enum class Bears { kAnyVm, kSeveralVms, kOneSite, kSeveralSites };

  std::string about;    // the key that would state it, of several the first: "software.stack"
  std::string text;     // a sentence with the value, its interval and what would replace it
  std::string measure;  // the program that measures it; empty where it is for the user to say
  Bears bears = Bears::kAnyVm;
  std::vector<std::string> vms = {};
  const Technique* technique = nullptr;  // of this one only
  bool (*needs)(const Plan&) = nullptr;  // of plans that it matters to; absent: all
  std::vector<std::string> more = {};    // other keys that it tells of
};

// Each once: shares of the peak that are taken from kin, precisions that a GPU lacks, a software stack that was not named, VMs
// that do not say how their GPUs reach each other, and in one sentence per VM type, site, link and section of the scenario what
// is no statement and no measurement of this cluster.
std::vector<Assumption> assumptions_of(const Scenario& scenario);

// Those that bear on a prediction.
std::vector<Assumption> assumptions_of(const std::vector<Assumption>& all, const Scenario& scenario,
                                       const Prediction& prediction);

// Those that bear on one of several, each once.
std::vector<Assumption> assumptions_of(const Scenario& scenario, const std::vector<const Prediction*>& predictions);

// "assumed: ... | ...", without a line's end; empty where there are none.
std::string assumed_line(const std::vector<Assumption>& assumptions);

}  // namespace slmsim
