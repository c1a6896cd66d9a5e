// Training steps that were measured.
#include "sim/fit/measured_step.h"
#include "tests/fuzz/target.h"

namespace slmsim::fuzz {
namespace {

void try_steps(std::string_view text) { read_measured_steps(as_file(text)); }

const Target kSteps("steps", try_steps);

}  // namespace
}  // namespace slmsim::fuzz
