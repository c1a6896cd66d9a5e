#include "calibrate/gpu/runner.h"

#include <algorithm>
#include <utility>

#include "calibrate/common/text.h"

namespace slmsim::calibrate {
namespace {

constexpr double kLeastOfUnit = 0.02;  // s
// Many units end early, since they are precise enough; those that need longer may take the others' share.
constexpr double kGenerosity = 3;

std::vector<std::string>& section_of(Outcome& outcome, Section section) {
  return section == Section::kKernels    ? outcome.kernels
         : section == Section::kLaunches ? outcome.launches
                                         : outcome.transfers;
}

}  // namespace

Outcome run_units(const std::vector<Unit>& units, Journal& journal, const Control& control) {
  Outcome outcome;
  const double start = control.now();
  std::size_t open = 0, done = 0;
  for (const auto& unit : units) open += journal.find(unit.key) ? 0 : 1;
  const double to_do = static_cast<double>(open);
  for (const auto& unit : units) {
    if (const auto line = journal.find(unit.key)) {
      section_of(outcome, unit.section).push_back(*line);
      continue;
    }
    const double elapsed = control.now() - start, left = control.time_limit - elapsed;
    if (left <= 0) {
      outcome.left_out.push_back(unit.key + ": the time was up");
      continue;
    }
    if (control.stop()) {
      outcome.interrupted = true;
      return outcome;
    }
    const double rate = done > 0 ? elapsed / static_cast<double>(done) : control.most_of_unit;
    control.progress(unit.key, static_cast<double>(done) / to_do, std::min(left, rate * static_cast<double>(open)));
    try {
      const double share =
          std::clamp(kGenerosity * left / static_cast<double>(open), kLeastOfUnit, control.most_of_unit);
      std::string line = unit.measure(share);
      journal.add(unit.key, line);
      section_of(outcome, unit.section).push_back(std::move(line));
    } catch (const LeftOut& reason) {
      outcome.left_out.push_back(unit.key + ": " + reason.what());
    } catch (const WrongResult& reason) {
      outcome.left_out.push_back(unit.key + ": WRONG: " + reason.what());
      ++outcome.wrong;
    }
    ++done;
    --open;
  }
  return outcome;
}

}  // namespace slmsim::calibrate
