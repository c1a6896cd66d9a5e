#include "calibrate/gpu/runner.h"

#include <algorithm>
#include <utility>

#include "calibrate/common/text.h"

namespace slmsim::calibrate {
namespace {

constexpr double kLeastOfUnit = 0.02;  // s
// Many units reach their precision early; slower ones may take the others' share.
constexpr double kGenerosity = 3;

// Journal entry of a started measurement. A measurement that ends the program twice (an error that ends the GPU's context, a
// hang) is not tried a third time.
constexpr const char* kBegun = "!begun";
constexpr const char* kBegunAgain = "!begun again";
constexpr const char* kNotMeasured = "!";  // the program continued

bool is_done(const std::optional<std::string>& line) { return line && !line->starts_with("!"); }

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
  for (const auto& unit : units) open += is_done(journal.find(unit.key)) ? 0 : 1;
  const double to_do = static_cast<double>(open);
  for (const auto& unit : units) {
    const auto known = journal.find(unit.key);
    if (is_done(known)) {
      section_of(outcome, unit.section).push_back(*known);
      continue;
    }
    if (known == kBegunAgain) {
      outcome.left_out.push_back(unit.key + ": the program ended twice during this measurement");
      --open;
      continue;
    }
    const double elapsed = control.now() - start, left = control.time_limit - elapsed;
    if (left <= 0) {
      outcome.left_out.push_back(unit.key + ": time limit reached");
      outcome.unfinished = true;
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
      journal.add(unit.key, known == kBegun ? kBegunAgain : kBegun);
      std::string line = unit.measure(share);
      journal.add(unit.key, line);
      section_of(outcome, unit.section).push_back(std::move(line));
    } catch (const MeasurementSkip& reason) {
      outcome.left_out.push_back(unit.key + ": " + reason.what());
      journal.add(unit.key, kNotMeasured);
    } catch (const WrongResult& reason) {
      outcome.left_out.push_back(unit.key + ": WRONG: " + reason.what());
      journal.add(unit.key, kNotMeasured);
      ++outcome.wrong;
    }
    ++done;
    --open;
  }
  return outcome;
}

}  // namespace slmsim::calibrate
