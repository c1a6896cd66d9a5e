// Laws that hold for every scenario, whatever its numbers.
//
// Enters: a scenario with its predictions. Leaves: what is wrong with them, in words. A law that needs more predictions
// makes few, and is tried on one scenario of several if they are expensive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/predict/predict.h"
#include "tests/random/draw.h"

namespace slmsim {

struct RandomCase {
  std::uint64_t seed = 0;
  Json document;
  Scenario scenario;
  std::vector<Prediction> predictions;
};

using Faults = std::vector<std::string>;

struct Law {
  const char* name;
  const char* says;
  int one_in;  // scenarios
  void (*check)(const RandomCase&, CaseDice&, Faults&);
};
const std::vector<Law>& laws();

// A scenario of a document, as if it lay among the shipped ones. Throws InputError.
Scenario scenario_of(const Json& document);
std::vector<Prediction> predicted(const Scenario& scenario);
// "Shard on v0+v1 (m0)".
std::string which(const Prediction& p);
double relative(double a, double b);
// Relative difference allowed between predictions of figures that differ in their last digits: the reported uncertainty
// of either, or a thousandth.
double known_to_within(const Prediction& a, const Prediction& b);

void parts_add_up(const RandomCase& drawn, CaseDice& dice, Faults& faults);
void bytes_are_equal_twice(const RandomCase& drawn, CaseDice& dice, Faults& faults);
void names_change_nothing(const RandomCase& drawn, CaseDice& dice, Faults& faults);
void units_change_nothing(const RandomCase& drawn, CaseDice& dice, Faults& faults);
void small_changes_stay_small(const RandomCase& drawn, CaseDice& dice, Faults& faults);
void more_is_not_slower(const RandomCase& drawn, CaseDice& dice, Faults& faults);
void memory_follows_its_laws(const RandomCase& drawn, CaseDice& dice, Faults& faults);
void bytes_are_conserved(const RandomCase& drawn, CaseDice& dice, Faults& faults);
void engines_agree(const RandomCase& drawn, CaseDice& dice, Faults& faults);
void a_point_is_a_run(const RandomCase& drawn, CaseDice& dice, Faults& faults);
void a_plan_is_no_worse(const RandomCase& drawn, CaseDice& dice, Faults& faults);
void the_largest_model_fits(const RandomCase& drawn, CaseDice& dice, Faults& faults);

}  // namespace slmsim
