#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/quantity.h"
#include "sim/predict/predict.h"
#include "sim/technique/alpa/planner/stage_plan.h"
#include "sim/technique/common/memory.h"

namespace slmsim {
namespace {

bool fits(const PlanResult& result, const OperatorGraph& operators, const Scenario& scenario) {
  return result.plan && fits(*result.plan, operators, scenario);
}

PlanResult with_micro_batches(const PlanRequest& request, int micro_batches) {
  TechniqueOptions options = request.options;
  options.set(kMicroBatches, micro_batches);
  return make_plan({request.scenario, request.model, request.operators, request.group, options});
}

// Nearest batch that fits where this one leaves no micro-batches of one sequence per GPU: 12 where three GPUs have to compute
// 13 sequences at once. 0: none is near.
int fitting_batch(const PlanRequest& request) {
  const int batch = request.scenario.training.batch;
  const int gpus = static_cast<int>(request.group.devices.size());
  if (batch % gpus == 0 || gpus == 1) return 0;
  const int below = batch / gpus * gpus;
  const int near[] = {below, below + gpus};
  const bool up = near[1] - batch < batch - below;
  for (const int other : {near[up ? 1 : 0], near[up ? 0 : 1]}) {
    Scenario scenario = request.scenario;
    scenario.training.batch = other;
    if (other < 1) continue;
    const auto plan = make_plan({scenario, request.model, request.operators, request.group, request.options});
    if (fits(plan, request.operators, scenario)) return other;
  }
  return 0;
}

// To three digits, as to_text prints, so that the printed size suffices.
Bytes rounded_up(Bytes size) {
  const double unit = size.value < kGibi ? kMebi : kGibi;
  const double step = unit * std::pow(10, std::floor(std::log10(size.value / unit)) - 2);
  return Bytes{step * std::ceil(size.value / step)};
}

}  // namespace

int fitting_micro_batches(const PlanRequest& request, int least) {
  const int batch = request.scenario.training.batch;
  for (int count = std::max(least, 1); count <= batch; ++count) {
    if (batch % count == 0 && fits(with_micro_batches(request, count), request.operators, request.scenario))
      return count;
  }
  return 0;
}

std::string largest_part(const DeviceMemory& m) {
  const MemoryPart largest = std::ranges::max(kMemoryParts, {}, [&](const MemoryPart& part) { return m.*part.bytes; });
  return fmt::format("{} {}", largest.name, to_text(m.*largest.bytes));
}

std::string out_of_memory_advice(const PlanRequest& request, const Plan& plan, std::span<const Prediction> known) {
  const Scenario& scenario = request.scenario;
  const OperatorGraph& operators = request.operators;
  const auto memory = memory_of(plan, operators, scenario);
  const auto worst = *std::max_element(memory.begin(), memory.end(), [](const DeviceMemory& a, const DeviceMemory& b) {
    return a.needed() - a.limit < b.needed() - b.limit;
  });
  std::vector<std::string> ways;
  if (const int count = fitting_micro_batches(request, plan.micro_batches + 1); count > 0)
    ways.push_back(fmt::format("{} micro-batches in place of {}", count, plan.micro_batches));
  if (const int other = fitting_batch(request); other > 0)
    ways.push_back(fmt::format("a batch of {}, which divides among {} GPUs", other, request.group.devices.size()));
  if (plan.recompute == Recompute::kNone) {
    Plan again = plan;
    again.recompute = Recompute::kFull;
    if (fits(again, operators, scenario)) ways.emplace_back("rematerialisation");
  }
  std::vector<std::string> techniques;
  for (const auto& other : scenario.techniques) {
    if (other.technique == request.options.technique) continue;
    const auto at = std::ranges::find_if(known, [&](const Prediction& p) {
      return p.technique == other.technique && p.model == request.model.name && p.group == request.group.names;
    });
    const bool fit = at == known.end() ? fits(make_plan({scenario, request.model, operators, request.group, other}),
                                              operators, scenario)
                                       : at->status == Status::kOk;
    if (fit) techniques.emplace_back(other.technique->name);
  }
  if (!techniques.empty()) ways.push_back(fmt::format("{}", fmt::join(techniques, " or ")));
  const Bytes lacking = (worst.needed() - worst.limit) / scenario.memory.usable_share;
  const std::string more = fmt::format("{} more per GPU", to_text(rounded_up(lacking)));
  return fmt::format("{} needs {} of {} ({}; most of it {}); it would fit with {}{}",
                     scenario.platform.devices[worst.device].name, to_text(worst.needed()), to_text(worst.limit),
                     name_of(worst.moment), largest_part(worst),
                     ways.empty() ? "" : fmt::format("{}, or with ", fmt::join(ways, ", or with ")), more);
}

}  // namespace slmsim
