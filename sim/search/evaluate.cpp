#include "sim/search/evaluate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/predict/job/jitter.h"
#include "sim/predict/job/link_day.h"
#include "sim/predict/job/outcome.h"
#include "sim/search/bound.h"

namespace slmsim {

namespace {

// Each link at its best of the day: no state of the links, and no change between states, is faster.
Platform with_best_links(const Scenario& scenario, const std::vector<LinkState>& states) {
  Platform out = scenario.platform;
  for (const LinkState& state : states) {
    for (std::size_t i = 0; i < out.links.size(); ++i) {
      for (const auto direction : {&WanLink::forward, &WanLink::backward}) {
        WanDirection &best = out.links[i].*direction, other = state.links[i].*direction;
        best.bandwidth = std::max(best.bandwidth, other.bandwidth);
        best.delay = std::min(best.delay, other.delay);
        best.loss = std::min(best.loss, other.loss);
      }
    }
  }
  return out;
}

// Lower bound of any iteration or round of the drawn jobs: the same plan is lowered for each state of the links, as in drawing,
// and bounded with all links at their best.
LeastIteration least_of_any_day(const RunSetup& setup, const Plan& plan, const OperatorGraph& operators,
                                TaskGraph usual) {
  const auto tasks = static_cast<double>(usual.tasks().size());
  const auto states = link_states(setup.scenario);
  const Network best(with_best_links(setup.scenario, states));
  usual.move_to(best);
  Seconds least = least_end(usual);
  for (const LinkState& state : states) {
    if (state.links == setup.scenario.platform.links) continue;
    Scenario then = setup.scenario;
    then.platform.links = state.links;
    const Network network(then.platform);
    TaskGraph graph = plan.technique->lower({plan, operators, then, network}).graph;
    graph.move_to(best);
    least = std::min(least, least_end(graph));
  }
  return {least * least_factor(setup.scenario), tasks};
}

}  // namespace

Assessment assess(const Space& space, const OperatorGraph& operators, const Choice& choice, PlanObjective objective,
                  StageTables* tables) {
  const RunSetup setup = space.setup(choice);
  if (!has_usual_settings(choice)) tables = nullptr;
  const PlanResult planned = make_plan({setup.scenario, space.model(), operators, setup.group, setup.options, tables});
  if (!planned.plan) return {.reason = planned.reason};
  if (!fits(*planned.plan, operators, setup.scenario)) return {Status::kOutOfMemory, Seconds{0}, 0};
  const Network network(setup.scenario.platform);
  const Plan& plan = *planned.plan;
  const LowerRequest request{plan, operators, setup.scenario, network};
  const LeastIteration least = is_of_whole_jobs(objective) && setup.scenario.job
                                   ? least_of_any_day(setup, plan, operators, plan.technique->lower(request).graph)
                                   : least_iteration(request);
  // The time of a warm-up and of a last, shorter round is left out, which keeps this a lower bound.
  const double steps = steps_of_job(setup.scenario.training, setup.options) - plan.workload.warm_up;
  const double rounds = std::floor(steps / plan.workload.steps);
  return {Status::kOk, setup.options.startup() + least.end * rounds, least.tasks};
}

Prediction predict(const Space& space, const OperatorGraph& operators, const Choice& choice,
                   const PredictOptions& options) {
  const RunSetup setup = space.setup(choice);
  const Network network(setup.scenario.platform);
  return predict_one({setup.scenario, space.model(), operators, setup.group, setup.options}, network, options);
}

namespace {

// Jobs that did not end within the drawn time count with that time.
MeasuredJob whole_job(const JobOutcome& outcome, const Prediction& p) {
  const Seconds drawn_until = p.job * kLongestJob;
  const auto length = [&](double value) { return std::isfinite(value) ? Seconds{value} : drawn_until; };
  const double on_time = outcome.before_lease.value_or(outcome.ended);
  MeasuredJob out;
  out.late = std::round((1 - on_time) * outcome.samples);
  out.median = length(outcome.length.median);
  out.p90 = length(outcome.length.high);
  const double endless = drawn_until / p.job;
  if (outcome.cost) out.cost = std::isfinite(outcome.cost->median) ? outcome.cost->median : *p.bill.cost * endless;
  if (outcome.energy)
    out.energy = std::isfinite(outcome.energy->median) ? outcome.energy->median : p.bill.energy->value * endless;
  return out;
}

}  // namespace

Measurement measure(const Space& space, const OperatorGraph& operators, const Choice& choice, PlanObjective objective) {
  const RunSetup setup = space.setup(choice);
  const bool whole = is_of_whole_jobs(objective) && setup.scenario.job;
  const bool links = whole && setup.scenario.job->egress_per_gigabyte;
  const Prediction p = predict(space, operators, choice, {.links = links, .advice = false});
  Measurement out{p.job, p.iteration, p.breakdown};
  if (whole) {
    if (const auto outcome = outcome_of(setup.scenario, p)) out.whole = whole_job(*outcome, p);
  }
  return out;
}

Texts to_texts(const Finding& finding) {
  if (const auto* a = std::get_if<Assessment>(&finding))
    return {fmt::format("{} {:.17g} {:.17g}\n", static_cast<int>(a->status), a->job.value, a->tasks), a->reason};
  const Measurement& m = std::get<Measurement>(finding);
  const Breakdown& b = m.parts;
  std::vector<double> n = {
      m.job.value,       m.iteration.value, b.compute.value, b.exposed_communication.value, b.pipeline_bubble.value,
      b.optimizer.value, b.overhead.value};
  if (m.whole)
    n.insert(n.end(), {m.whole->cost, m.whole->energy, m.whole->late, m.whole->median.value, m.whole->p90.value});
  return {fmt::format("{:.17g}\n", fmt::join(n, " ")), ""};
}

void from_texts(const Texts& texts, Finding& finding) {
  std::istringstream line(texts.first);
  const std::vector<double> n{std::istream_iterator<double>(line), {}};
  if (n.size() == 3 && (n[0] == 0 || n[0] == 1 || n[0] == 2)) {
    finding = Assessment{static_cast<Status>(n[0]), Seconds{n[1]}, n[2], texts.second};
  } else if (n.size() == 7 || n.size() == 12) {
    const Breakdown parts{Seconds{n[2]}, Seconds{n[3]}, Seconds{n[4]}, Seconds{n[5]}, Seconds{n[6]}};
    Measurement measured{Seconds{n[0]}, Seconds{n[1]}, parts};
    if (n.size() == 12) measured.whole = MeasuredJob{n[7], n[8], n[9], Seconds{n[10]}, Seconds{n[11]}};
    finding = measured;
  } else {
    throw std::runtime_error("neither an assessment nor a measurement: " + texts.first);
  }
}

}  // namespace slmsim
