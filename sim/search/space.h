// All dimensions that `slmsim plan` may vary for one model, and every sensible combination.
//
// A choice is a number per column: technique and group, the dimensions that all techniques share (dimension.h), and the
// technique's own variations between them (sim/technique/common/technique.h); columns that a technique does not use are 0. The
// scenario's own runs are choices as well, so that no plan is worse than the prediction of `run`. Combinations that can never
// run, and those that repeat another one, are left out.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/search/dimension.h"
#include "sim/search/group_space.h"

namespace slmsim {

inline constexpr std::size_t kMostVariations = 8;  // per technique

enum Column : std::size_t {
  kAsGiven,  // 1: the technique with the scenario's options, on one of its groups, unvaried
  kTechniqueOf,
  kGroupOf,
  kTraining,
  kOwn = kTraining + kTrainingDimensions,
  kSettings = kOwn + kMostVariations,
  kColumns = kSettings + kSettingDimensions
};
// Columns of the training dimensions.
inline constexpr std::size_t kMicroBatchesOf = kTraining, kRematerialisationOf = kTraining + 1;

using Choice = std::array<std::int32_t, kColumns>;

// Whether NCCL and TCP have the scenario's settings.
inline bool has_usual_settings(const Choice& choice) {
  return std::all_of(choice.begin() + kSettings + 1, choice.end(), [](std::int32_t value) { return value == 0; });
}

class Space {
 public:
  // `technique`: this one only, if not nullptr. The scenario must outlive the space. Where `stop` ends the listing, groups of
  // GPUs are left out; the scenario's own choices are always there.
  Space(const Scenario& scenario, const Transformer& model, const Technique* technique = nullptr,
        const std::function<bool()>& stop = {});

  // Choices are listed and not stored: by technique and group, then the scenario's own.
  Choice choice(std::size_t index) const;
  std::size_t size() const { return size_; }

  // Choices of one technique on one group: `first` and the numbers after it. Groups with the same facts have the same ones,
  // which `lists` holds without their group.
  struct Block {
    std::size_t first = 0, list = 0;
    std::int32_t group = 0;
  };
  const std::vector<Block>& blocks() const { return blocks_; }
  const Block& block_of(std::size_t index) const;
  const std::vector<std::vector<Choice>>& lists() const { return lists_; }
  // Whether no group of GPUs was left out because of their number or the time.
  bool has_all_groups() const { return has_all_groups_; }
  // The number of a choice, if it is in the space.
  std::optional<std::size_t> find(const Choice& choice) const;
  // Numbers of the choices that differ in one column, or in two that are linked (Variation::with; GPUs and micro-batches).
  // Groups differ by one VM or GPU, or in the order.
  std::vector<std::size_t> neighbours(std::size_t index) const;

  RunSetup setup(const Choice& choice) const;
  // Only the training and options of a way, which is cheaper.
  std::pair<Training, TechniqueOptions> trained(const Choice& choice) const;
  const Group& group(std::int32_t number) const { return groups_[static_cast<std::size_t>(number)].group; }
  std::size_t group_count() const { return groups_.size(); }
  const Group& group(const Choice& choice) const { return groups_[number(choice, kGroupOf)].group; }
  const TechniqueOptions& base(const Choice& choice) const { return techniques_[number(choice, kTechniqueOf)].base; }
  const Scenario& scenario() const { return scenario_; }
  const Transformer& model() const { return model_; }
  bool is_as_given(const Choice& choice) const { return choice[kAsGiven] == 1; }
  // Whether it varies nothing but the number of micro-batches, as far as the technique allows.
  bool is_plain(const Choice& choice) const;
  bool is_on_one_vm(const Choice& choice) const;
  bool changes_training(const Choice& choice) const;

  // "4 micro-batches, rematerialisation, 2 stages by speed": the differences from the technique's default, and the count.
  std::string describe(const Choice& choice) const;
  // The same as overrides for `slmsim run`.
  Overrides overrides(const Choice& choice) const;

 private:
  // A technique with the scenario's options, and its variations.
  struct TechniqueVariations {
    TechniqueOptions base;
    std::vector<Variation> variations;
  };
  static std::size_t number(const Choice& choice, Column column) { return static_cast<std::size_t>(choice[column]); }
  void add_choices(const std::function<bool()>& stop);
  void add_as_given();
  void add_block(std::size_t list, std::size_t group);
  std::vector<Choice> choices_of(std::size_t technique, const GroupFacts& facts) const;
  TechniqueOptions varied(const Choice& choice, std::size_t variations, int gpus) const;
  void note_values(const Choice& choice);
  bool group_step(std::size_t a, std::size_t b) const;

  const Scenario& scenario_;
  const Transformer& model_;
  std::vector<TechniqueVariations> techniques_;
  std::vector<OrderedGroup> groups_;
  bool has_all_groups_ = true;
  std::size_t size_ = 0;
  std::vector<std::vector<Choice>> lists_;                               // each sorted
  std::vector<Block> blocks_;                                            // sorted by the choices
  std::vector<std::array<std::set<std::int32_t>, kColumns>> occurring_;  // values by technique and column
};

}  // namespace slmsim
