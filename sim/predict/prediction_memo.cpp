#include "sim/predict/prediction_memo.h"

#include <algorithm>

#include "sim/compute/operator_graph.h"
#include "sim/predict/alike.h"
#include "sim/technique/common/technique.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostTasks = 500'000;  // of all variants together; about 50 bytes each
constexpr std::size_t kMostVariants = 16, kMostModels = 16;

// Clears the values that only a Network uses for routes between VMs.
Scenario without_network(const Scenario& scenario) {
  Scenario out = scenario;
  for (auto& link : out.platform.links) {
    link.forward = link.backward = {};
    link.mtu = {};
  }
  for (auto& site : out.platform.sites) {
    site.rtt = {};
    site.mtu = {};
  }
  for (auto& vm : out.platform.vms) vm.type.tcp = {};
  out.parameters.clear();  // contain the same values as text
  out.defaults.clear();
  return out;
}

}  // namespace

const PlanResult& LoweredPlan::plan(const PlanRequest& request) {
  const auto for_network = request.options.technique->plans_for_network;
  if (!made_ || !for_network || for_network(request.options)) made_ = make_plan(request);
  return *made_;
}

const Lowered& LoweredPlan::of(const LowerRequest& request) {
  const auto again = request.plan.technique->lower_again;
  const bool known = plan_ && *plan_ == request.plan && !lowered_->graph.is_folded();
  if (!known || !again || !again(lowered_->graph, request)) {
    lowered_ = lower_alike(request);
    plan_ = request.plan;
  }
  return *lowered_;
}

const std::vector<DeviceMemory>& LoweredPlan::memory(const Plan& plan, const OperatorGraph& operators,
                                                     const Scenario& scenario) {
  if (!held_ || *held_ != plan) {
    memory_ = memory_of(plan, operators, scenario);
    held_ = plan;
  }
  return memory_;
}

const OperatorGraph& PredictionMemo::operators(const Transformer& model) {
  for (const auto& [known, graph] : operators_) {
    if (known == model) return *graph;
  }
  if (operators_.size() == kMostModels) operators_.pop_front();
  // Made in place: Boost's graphs are copied where others are moved.
  std::shared_ptr<const OperatorGraph> operators(new OperatorGraph(build_operator_graph(model)));
  return *operators_.emplace_back(model, std::move(operators)).second;
}

std::vector<LoweredPlan>& PredictionMemo::lowered_plans(const Scenario& scenario) {
  Scenario bare = without_network(scenario);
  const auto known =
      std::find_if(variants_.begin(), variants_.end(), [&](const Variant& v) { return v.scenario == bare; });
  if (known != variants_.end()) {
    std::rotate(known, known + 1, variants_.end());
    return variants_.back().plans;
  }
  std::size_t tasks = 0, kept = 0;
  for (auto at = variants_.rbegin(); at != variants_.rend() && kept + 1 < kMostVariants; ++at, ++kept) {
    for (const LoweredPlan& plan : at->plans) tasks += plan.tasks();
    if (tasks > kMostTasks) break;
  }
  variants_.erase(variants_.begin(), variants_.end() - static_cast<std::ptrdiff_t>(kept));
  const std::size_t count = scenario.models.size() * scenario.groups.size() * scenario.techniques.size();
  variants_.push_back({std::move(bare), std::vector<LoweredPlan>(count)});
  return variants_.back().plans;
}

}  // namespace slmsim
