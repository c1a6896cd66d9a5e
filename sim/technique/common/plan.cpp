#include "sim/technique/common/plan.h"

#include <algorithm>

#include <fmt/format.h>

namespace slmsim {

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> kNames = {"1f1b", "gpipe", "zb-h1"};
  return kNames;
}

const std::vector<std::string>& send_order_names() {
  static const std::vector<std::string> kNames = {"alpa", "deepspeed", "megatron", "asynchronous"};
  return kNames;
}

const std::vector<std::string>& fsdp_strategy_names() {
  static const std::vector<std::string> kNames = {"full_shard", "shard_grad_op", "hybrid_shard", "hybrid_shard_zero2"};
  return kNames;
}

const std::vector<std::string>& fsdp_prefetch_names() {
  static const std::vector<std::string> kNames = {"backward_pre", "backward_post", "none"};
  return kNames;
}

const std::vector<std::string>& tensor_ends_names() {
  static const std::vector<std::string> kNames = {"divided", "gathered", "whole"};
  return kNames;
}

const std::vector<std::string>& gradient_collective_names() {
  static const std::vector<std::string> kNames = {"reduce-scatter", "all-reduce"};
  return kNames;
}

Schedule schedule_of(const Plan& plan) {
  const auto* how = std::get_if<OperatorPlan>(&plan.by);
  return how ? how->schedule : Schedule::kOneForwardOneBackward;
}

SendOrder send_order_of(const Plan& plan) {
  if (const auto* how = std::get_if<OperatorPlan>(&plan.by)) return how->order;
  if (std::holds_alternative<FsdpPlan>(plan.by)) return SendOrder::kMegatron;
  const auto* megatron = std::get_if<MegatronPlan>(&plan.by);
  return megatron ? megatron->order : SendOrder::kAsynchronous;
}

Optimizer optimizer_of(const Plan& plan) {
  if (const auto* how = std::get_if<OperatorPlan>(&plan.by)) return how->optimizer;
  if (std::holds_alternative<FsdpPlan>(plan.by)) return Optimizer::kDivided;
  const auto* replicas = std::get_if<ReplicaPlan>(&plan.by);
  return replicas && replicas->stage > 0 ? Optimizer::kDivided : Optimizer::kReplicated;
}

int micro_batches_in_flight(Schedule schedule, int micro_batches, std::size_t stages, std::size_t stage, int ahead) {
  if (schedule == Schedule::kGpipe) return micro_batches;
  const std::int64_t left = static_cast<std::int64_t>(stages - stage);
  return static_cast<int>(std::min<std::int64_t>(micro_batches, left + ahead * (left - 1)));
}

int weights_in_flight(Schedule schedule, int micro_batches, std::size_t stage) {
  return schedule == Schedule::kZeroBubble ? std::min(micro_batches, static_cast<int>(stage)) : 0;
}

double share_computed_anew(const Operator& op, Recompute recompute, int layers) {
  if (!is_inside_layers(op, layers)) return 0;
  switch (recompute) {
    case Recompute::kNone:
      return 0;
    case Recompute::kSelective:
      return op.is_attention_core() ? 1 : 0;
    case Recompute::kOperators:
      if (op.is_attention_core()) return 0;
      return op.kind == OperatorKind::kMatrix ? op.second : 1;
    case Recompute::kFull:
      return 1;
  }
  return 0;
}

bool begins_with_input(Recompute recompute) {
  return recompute == Recompute::kOperators || recompute == Recompute::kFull;
}

bool deals_sequences(const Plan& plan) {
  const auto is_dealt = [](const Division& division) { return division == Division(Sharding::kBatch); };
  return plan.stages.size() == 1 && std::ranges::all_of(plan.stages.front().shardings, is_dealt);
}

std::string uneven_micro_batches(const Training& training, int micro_batches) {
  if (training.batch % micro_batches == 0) return "";
  return fmt::format("a batch of {} does not divide into {} micro-batches; batches of {} do", training.batch,
                     micro_batches, nearest_batches(training.batch, micro_batches));
}

std::string nearest_batches(int batch, int factor) {
  const int below = batch / factor * factor;
  return below > 0 ? fmt::format("{} and {}", below, below + factor) : fmt::format("{}", factor);
}

std::vector<int> devices_of(const Plan& plan) {
  std::vector<int> devices;
  for (const auto& stage : plan.stages) devices.insert(devices.end(), stage.mesh.begin(), stage.mesh.end());
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

}  // namespace slmsim
