#include "sim/planner/speed.h"

namespace slmsim {

Seconds time_of_sequence(const Operator& op, const Gpu& gpu, const Scenario& scenario) {
  const OperatorTime time = operator_time(op, {}, gpu, scenario.training.precision, scenario.software);
  return time.forward + time.backward;
}

Seconds time_of_sequence(const OperatorGraph& operators, const Gpu& gpu, const Scenario& scenario) {
  Seconds all{0};
  for (std::size_t v = 0; v < boost::num_vertices(operators); ++v) all += time_of_sequence(operators[v], gpu, scenario);
  return all;
}

}  // namespace slmsim
