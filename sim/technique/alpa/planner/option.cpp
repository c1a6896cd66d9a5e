#include "sim/technique/alpa/planner/option.h"

namespace slmsim {

const std::vector<std::string>& planner_names() {
  static const std::vector<std::string> kNames = {"alpa", "slmsim"};
  return kNames;
}

const std::vector<std::string>& stage_split_names() {
  static const std::vector<std::string> kNames = {"flops", "speed"};
  return kNames;
}

const Option<Planner> kPlanner{choice_option({"planner",
                                              "Who divides operators and cuts stages: alpa by Alpa's costs, which do "
                                              "not know distances, slmsim by this platform's "
                                              "times."},
                                             planner_names)};
const Option<int> kTensor{count_option(
    {"tensor", "Products are divided over so many neighbouring GPUs, sequences over the rest.", "the planner's"}, 1024,
    0)};
const Option<std::vector<int>> kMesh{mesh_option(
    {"mesh", "GPUs along one or two axes, such as [2, 2].", "one axis; with planner slmsim also VMs x GPUs"})};
const Option<std::optional<Bytes>> kMemoryLimit{
    optional_size_option({"memory_limit", "What each GPU may use for parameters, their state and activations.",
                          "none; with planner slmsim what the GPUs have"},
                         {{kMebi}, {1e6 * kGibi}})};
const Option<int> kStages{
    count_or_auto_option({"stages", "Stages of the pipeline; auto: as many as the planner finds best.",
                          "one per VM, inside one VM one per GPU; with planner slmsim auto"},
                         2, 1024)};
const Option<StageSplit> kSplit{choice_option(
    {"split", "How layers are cut into equal stages: equal FLOPs, or equal time on their GPUs."}, stage_split_names)};
const Option<Schedule> kSchedule{
    choice_option({"schedule", "How the pipeline orders its micro-batches."}, schedule_names)};
const Option<int> kAhead{count_option(
    {"ahead", "With schedule 1f1b, forward passes more in flight for each boundary to the last stage."}, 1024, 0, 0)};
const Option<std::optional<SendOrder>> kOrder{
    optional_choice_option({"order",
                            "Whose order a stage's messages and computations have: alpa, deepspeed, megatron; "
                            "asynchronous: each message goes as "
                            "soon as it is computed.",
                            "the technique's own framework's"},
                           send_order_names)};

bool planner_cuts_stages(const TechniqueOptions& options) {
  return options.get(kStages) == kAutomatic || options.get(kPlanner) == Planner::kSlmsim;
}

}  // namespace slmsim
