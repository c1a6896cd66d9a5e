#include "sim/search/evaluate.h"

#include <cmath>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "sim/search/bound.h"

namespace slmsim {

Assessed assess(const Space& space, const OperatorGraph& operators, const Choice& choice, DivisionMemo* memo) {
  const Way way = space.way(choice);
  const PlanResult planned = make_plan({way.scenario, space.model(), operators, way.group, way.options, memo});
  if (!planned.plan) return {};
  if (!fits(*planned.plan, operators, way.scenario)) return {Status::kOutOfMemory, Seconds{0}, 0};
  const Network network(way.scenario.platform);
  const Plan& plan = *planned.plan;
  const TaskGraph graph = plan.technique->lower({plan, operators, way.scenario, network}).graph;
  // What a warm-up and a last round that is not full take is left out: nothing is above it.
  const double steps = steps_of_job(way.scenario.training, way.options) - plan.workload.warm_up;
  const double rounds = std::floor(steps / plan.workload.steps);
  const Seconds job = way.options.startup() + least_end(graph) * rounds;
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

Texts to_texts(const Finding& finding) {
  if (const auto* a = std::get_if<Assessed>(&finding))
    return {fmt::format("{} {:.17g} {:.17g}\n", static_cast<int>(a->status), a->job.value, a->tasks), ""};
  const Measured& m = std::get<Measured>(finding);
  const Breakdown& b = m.parts;
  return {fmt::format("{:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g}\n", m.job.value, m.iteration.value,
                      b.compute.value, b.exposed_communication.value, b.pipeline_bubble.value, b.optimizer.value,
                      b.overhead.value),
          ""};
}

void from_texts(const Texts& texts, Finding& finding) {
  std::istringstream line(texts.first);
  const std::vector<double> n{std::istream_iterator<double>(line), {}};
  if (n.size() == 3 && (n[0] == 0 || n[0] == 1 || n[0] == 2)) {
    finding = Assessed{static_cast<Status>(n[0]), Seconds{n[1]}, n[2]};
  } else if (n.size() == 7) {
    const Breakdown parts{Seconds{n[2]}, Seconds{n[3]}, Seconds{n[4]}, Seconds{n[5]}, Seconds{n[6]}};
    finding = Measured{Seconds{n[0]}, Seconds{n[1]}, parts};
  } else {
    throw std::runtime_error("neither an assessment nor a measurement: " + texts.first);
  }
}

}  // namespace slmsim
