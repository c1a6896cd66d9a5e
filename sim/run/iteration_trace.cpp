#include "sim/run/iteration_trace.h"

#include <fmt/format.h>

#include "sim/report/trace.h"
#include "sim/scenario/model_named.h"

namespace slmsim {

const Prediction* to_be_traced(const RunResult& result) {
  const Selection* pick = result.selections.empty() ? nullptr : &result.selections.front();
  const Prediction* first = nullptr;
  for (const auto& p : result.predictions) {
    if (p.status != Status::kOk) continue;
    if (!first) first = &p;
    if (pick && p.model == pick->model && pick->technique == p.technique && p.group == pick->group) return &p;
  }
  return first;
}

std::string trace_of(const RunResult& result, const Prediction& p) {
  const TaskGraph graph = iteration_graph(result.scenario, model_named(result.scenario, p.model), *p.plan);
  const Timeline timeline = simulate(graph, p.connections, {.record_flows = true});
  return to_trace({graph, timeline, result.scenario.platform,
                   fmt::format("{}: {} on {}", p.model, p.technique->name, group_text(p.group)),
                   assumed_line(assumptions_of(result.scenario, {&p}))});
}

}  // namespace slmsim
