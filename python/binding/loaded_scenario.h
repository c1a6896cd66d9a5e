// A scenario as Python holds it: an immutable value with the files that it was read from.
#pragma once

#include <memory>
#include <string>

#include "sim/scenario/link.h"
#include "sim/scenario/scenario.h"
#include "sim/search/verdict.h"

namespace slmsim::python {

class LoadedScenario {
 public:
  // `word`: a file, or the name of a shipped scenario. Throws InputError with all errors.
  LoadedScenario(const std::string& word, Overrides set);
  // With further overrides; of two for one key the later applies. Files are not read again, so that all scenarios from one
  // loading agree.
  LoadedScenario with(const Overrides& more) const;

  const std::string& file() const { return file_; }
  const Overrides& set() const { return set_; }
  const Scenario& scenario() const { return *scenario_; }
  // The requested part. Throws InputError where the scenario lacks something.
  Scenario narrowed(const Filter& filter) const;
  // For use on another thread: the scenario with overrides beyond its own, or nothing where they are invalid.
  std::function<std::optional<Scenario>(const Overrides& more)> reload(const Filter& filter) const;
  VerdictOptions verdict_options(const Filter& filter) const;

 private:
  LoadedScenario(std::string file, Overrides set, const std::shared_ptr<const ScenarioFile>& texts);

  std::string file_;
  Overrides set_;
  std::shared_ptr<const ScenarioFile> texts_;
  std::shared_ptr<const Scenario> scenario_;
};

}  // namespace slmsim::python
