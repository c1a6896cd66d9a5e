// Everything that `slmsim plan` may vary for one model, and every combination of it that makes sense.
//
// A choice is a number per dimension: which of the dimension's values it takes; what a technique has no use for is number 0.
// Combinations that could not run whatever the numbers, and those that only repeat another one, are left
// out. A technique that this room knows nothing special of is varied in what all techniques share.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/search/group_space.h"

namespace slmsim {

enum Aspect : std::size_t {
  kTechniqueOf,
  kGroupOf,
  kMicroBatches,
  kRematerialisation,
  kGradientPrecision,
  kPlannerOf,
  kStages,  // of a pipeline; Megatron-LM's pipeline degree
  kStageSplit,
  kScheduleOf,
  kTensor,      // degree of tensor parallelism in a stage; of Megatron-LM, with the data degree that follows
  kBatchSplit,  // among replicas
  kHierarchical,
  kGradientCollective,  // of ZeRO2
  kGathered,            // of ZeRO2
  kAccumulation,        // batches that are added up
  kSockets,             // NCCL's
  kChannels,
  kAlgorithm,
  kBuffers,  // TCP's
  kDimensions
};

using Choice = std::array<std::uint16_t, kDimensions>;

// Whether operators are divided as a planner finds best.
bool has_planner(Technique technique);

// A choice made out: what predict_one() takes.
struct Way {
  Scenario scenario;
  Group group;
  TechniqueOptions options;
};

class Space {
 public:
  // `technique`: this one only. The scenario must outlive the space.
  Space(const Scenario& scenario, const Transformer& model, std::optional<Technique> technique = std::nullopt);

  const std::vector<Choice>& choices() const { return choices_; }
  std::size_t size() const { return choices_.size(); }
  // The number of a choice, if it is one of the space.
  std::optional<std::size_t> find(const Choice& choice) const;
  // Numbers of the choices that differ in one dimension, or in two that go together (stages and tensor degree, planner and stages,
  // GPUs and micro-batches). Of groups: by one VM or GPU more or less, or in the order.
  std::vector<std::size_t> neighbours(std::size_t index) const;

  Way way(const Choice& choice) const;
  const Group& group(const Choice& choice) const { return groups_[choice[kGroupOf]].group; }
  const TechniqueOptions& base(const Choice& choice) const { return techniques_[choice[kTechniqueOf]]; }
  const Scenario& scenario() const { return scenario_; }
  const Transformer& model() const { return model_; }
  bool rematerialises(const Choice& choice) const;
  int accumulation(const Choice& choice) const { return accumulations_[choice[kAccumulation]]; }
  // Whether the group's first GPU drives the job: the inter-operator planner may begin elsewhere.
  bool begins_with_group(const Choice& choice) const;

  // "4 micro-batches, rematerialisation, 2 stages by speed": what differs from the technique's default, and the count.
  std::string describe(const Choice& choice) const;
  // The same as overrides for `slmsim run`.
  Overrides overrides(const Choice& choice) const;

 private:
  struct Facts;  // of a group
  void add_values();
  void add_choices();
  void add_of(std::uint16_t technique, std::uint16_t group, const Facts& facts);
  std::vector<std::uint16_t> values(Aspect aspect, const Choice& so_far, const Facts& facts) const;
  std::vector<std::uint16_t> stage_values(const Choice& so_far, const Facts& facts) const;
  std::vector<std::uint16_t> tensor_values(const Choice& so_far, const Facts& facts) const;
  // Of Megatron-LM: the rest of the GPUs are replicas.
  std::vector<std::uint16_t> pipeline_values(const MegatronOptions& base, const Facts& facts) const;
  std::vector<std::uint16_t> degree_values(const MegatronOptions& base, int stages, const Facts& facts) const;
  bool group_step(std::uint16_t a, std::uint16_t b) const;

  const Scenario& scenario_;
  const Transformer& model_;
  std::vector<TechniqueOptions> techniques_;
  std::vector<OrderedGroup> groups_;
  std::vector<int> micro_batches_;  // 0: the default
  std::vector<int> stages_;         // 0: one per VM; -1: the planner's choice
  std::vector<int> tensor_;         // 0: the planner's choice
  std::vector<int> accumulations_ = {1};
  std::size_t sockets_ = 1, channels_ = 1, algorithms_ = 1, buffers_ = 1;
  std::vector<Choice> choices_;
};

}  // namespace slmsim
