#include "tests/validation/study.h"

#include <set>
#include <utility>

namespace slmsim {

std::vector<Parameter> fitted_values(const std::vector<const Scenario*>& scenarios) {
  std::vector<Parameter> out;
  std::set<std::pair<std::string, std::string>> counted;
  for (const Scenario* scenario : scenarios) {
    for (const auto& parameter : scenario->parameters) {
      const bool inferred = parameter.provenance == Provenance::kInferred;
      if (inferred && counted.emplace(parameter.value, parameter.source).second) out.push_back(parameter);
    }
  }
  return out;
}

}  // namespace slmsim
