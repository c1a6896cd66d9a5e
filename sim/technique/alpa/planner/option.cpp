#include "sim/technique/alpa/planner/option.h"

namespace slmsim {
namespace {

const std::vector<std::string>& planner_names() {
  static const std::vector<std::string> kNames = {"alpa", "slmsim"};
  return kNames;
}

const std::vector<std::string>& stage_split_names() {
  static const std::vector<std::string> kNames = {"flops", "speed"};
  return kNames;
}

}  // namespace

const Option<Planner> kPlanner{choice_option({"planner",
                                              "Planner that divides operators and cuts stages: alpa by Alpa's costs, "
                                              "which ignore distances, slmsim by this platform's times."},
                                             planner_names)};
const Option<int> kTensor{count_option(
    {"tensor", "Number of neighbouring GPUs that products are divided over; sequences are divided over the rest.",
     "the planner's"},
    1024, 0)};
const Option<std::vector<int>> kMesh{mesh_option(
    {"mesh", "GPUs along one or two axes, such as [2, 2].", "one axis; with planner slmsim also VMs x GPUs"})};
const Option<std::optional<Bytes>> kMemoryLimit{
    optional_size_option({"memory_limit", "Memory that each GPU may use for parameters, their state and activations.",
                          "none; with planner slmsim the memory of the GPUs"},
                         {{kMebi}, {1e6 * kGibi}})};
const Option<int> kStages{
    count_or_auto_option({"stages", "Number of stages of the pipeline; auto: the planner chooses it.",
                          "one per VM, inside one VM one per GPU; with planner slmsim auto"},
                         2, 1024)};
const Option<StageSplit> kSplit{
    choice_option({"split", "Balance of the stages: equal FLOPs, or equal time on their GPUs."}, stage_split_names)};
const Option<Schedule> kSchedule{
    choice_option({"schedule", "Order of the micro-batches in the pipeline."}, schedule_names)};
const Option<int> kAhead{count_option(
    {"ahead", "With schedule 1f1b, additional forward passes in flight for each boundary to the last stage."}, 1024, 0,
    0)};
const Option<std::optional<SendOrder>> kOrder{
    optional_choice_option({"order",
                            "Order of a stage's messages and computations: that of alpa, deepspeed or megatron; "
                            "asynchronous: each message leaves once it is computed.",
                            "that of the technique's framework"},
                           send_order_names)};

SendOrder send_order_by(const TechniqueOptions& options) {
  const bool zero_bubble = options.get(kSchedule) == Schedule::kZeroBubble;
  return options.get(kOrder).value_or(zero_bubble ? SendOrder::kAsynchronous : SendOrder::kAlpa);
}

bool planner_cuts_stages(const TechniqueOptions& options) {
  return options.get(kStages) == kAutomatic || options.get(kPlanner) == Planner::kSlmsim;
}

}  // namespace slmsim
