#include "sim/search/evaluate.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "sim/plan/techniques/stage_plan.h"
#include "sim/search/bound.h"

namespace slmsim {

Assessed assess(const Space& space, const OperatorGraph& operators, const Choice& choice, DivisionMemo* memo) {
  const Way way = space.way(choice);
  const PlanResult planned = make_plan({way.scenario, space.model(), operators, way.group, way.options, memo});
  if (!planned.plan) return {};
  if (!fits(*planned.plan, operators, way.scenario)) return {Status::kOutOfMemory, Seconds{0}, 0};
  const Network network(way.scenario.platform);
  const TaskGraph graph = lower_technique({*planned.plan, operators, way.scenario, network});
  const Seconds job = way.options.startup + least_end(graph) * way.scenario.training.iterations();
  return {Status::kOk, job, static_cast<double>(graph.tasks().size())};
}

Prediction predict(const Space& space, const OperatorGraph& operators, const Choice& choice,
                   const PredictOptions& options, DivisionMemo* memo) {
  const Way way = space.way(choice);
  const Network network(way.scenario.platform);
  return predict_one({way.scenario, space.model(), operators, way.group, way.options, memo}, network, options);
}

Measured measure(const Space& space, const OperatorGraph& operators, const Choice& choice, DivisionMemo* memo) {
  const Prediction p = predict(space, operators, choice, {.advice = false}, memo);
  return {p.job, p.iteration, p.breakdown};
}

std::string to_line(const Assessed& a) {
  return fmt::format("{} {:.17g} {:.17g}\n", static_cast<int>(a.status), a.job.value, a.tasks);
}

std::string to_line(const Measured& m) {
  const Breakdown& b = m.parts;
  return fmt::format("{:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g}\n", m.job.value, m.iteration.value,
                     b.compute.value, b.exposed_communication.value, b.pipeline_bubble.value, b.optimizer.value,
                     b.overhead.value);
}

Assessed assessed_of(const std::string& line) {
  std::istringstream text(line);
  int status = 0;
  Assessed a;
  if (!(text >> status >> a.job.value >> a.tasks) || status < 0 || status > 2)
    throw std::runtime_error("no assessment: " + line);
  a.status = static_cast<Status>(status);
  return a;
}

Measured measured_of(const std::string& line) {
  std::istringstream text(line);
  Measured m;
  Breakdown& b = m.parts;
  if (!(text >> m.job.value >> m.iteration.value >> b.compute.value >> b.exposed_communication.value >>
        b.pipeline_bubble.value >> b.optimizer.value >> b.overhead.value))
    throw std::runtime_error("no measurement: " + line);
  return m;
}

}  // namespace slmsim
