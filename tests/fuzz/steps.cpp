// Training steps that were measured.
#include "sim/validate/measured_step.h"
#include "tests/fuzz/target.h"

void slmsim::fuzz::try_input(std::string_view text) { read_measured_steps(as_file(text)); }
