#include "sim/search/space.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/collective/communicator.h"

namespace slmsim {
namespace {

GroupFacts facts_of(const Platform& platform, const std::vector<int>& devices) {
  GroupFacts facts;
  facts.gpus = static_cast<int>(devices.size());
  std::map<int, int> of_vm;
  const auto kinds = gpu_kinds(platform, devices);
  for (const int device : devices) ++of_vm[platform.devices[device].vm];
  facts.vms = static_cast<int>(of_vm.size());
  for (const auto& [vm, count] : of_vm) facts.least_of_vm = std::gcd(facts.least_of_vm, count);
  facts.mixed = kinds != std::vector<int>(kinds.size(), 0);
  facts.equal_vms = !equal_vms(platform, devices).empty();
  return facts;
}

void for_each_dimension(const Choice& choice, const auto& use) {
  const auto training = training_dimensions(), settings = setting_dimensions();
  for (std::size_t i = 0; i < training.size(); ++i) use(training[i], choice[kTraining + i]);
  for (std::size_t i = 0; i < settings.size(); ++i) use(settings[i], choice[kSettings + i]);
}

}  // namespace

Space::Space(const Scenario& scenario, const Transformer& model, const Technique* technique,
             const std::function<bool()>& stop)
    : scenario_(scenario), model_(model) {
  auto [groups, all] = groups_to_search(scenario.platform);
  groups_ = std::move(groups);
  has_all_groups_ = all;
  for (const auto& options : scenario.techniques) {
    if (technique && options.technique != technique) continue;
    techniques_.push_back({options, {}});
    if (options.technique->variations) techniques_.back().variations = options.technique->variations();
    assert(techniques_.back().variations.size() <= kMostVariations);
  }
  occurring_.resize(techniques_.size());
  add_choices(stop);
}

void Space::add_choices(const std::function<bool()>& stop) {
  std::vector<GroupFacts> facts;
  for (const auto& group : groups_) {
    if (stop && stop()) {
      has_all_groups_ = false;
      break;
    }
    facts.push_back(facts_of(scenario_.platform, group.group.devices));
    facts.back().reordered = group.reordered;
  }
  for (std::size_t t = 0; t < techniques_.size(); ++t) {
    std::map<GroupFacts, std::size_t> known;  // lists of groups with the same facts
    for (std::size_t g = 0; g < facts.size(); ++g) {
      if (groups_[g].pipelines_only && techniques_[t].base.technique->is_ring) continue;
      const auto [at, is_new] = known.try_emplace(facts[g], lists_.size());
      if (is_new) {
        lists_.push_back(choices_of(t, facts[g]));
        for (const Choice& choice : lists_.back()) note_values(choice);
      }
      if (lists_[at->second].empty()) continue;
      occurring_[t][kGroupOf].insert(static_cast<std::int32_t>(g));
      add_block(at->second, g);
    }
  }
  add_as_given();
}

void Space::add_block(std::size_t list, std::size_t group) {
  blocks_.push_back({size_, list, static_cast<std::int32_t>(group)});
  size_ += lists_[list].size();
}

void Space::add_as_given() {
  std::set<std::pair<std::size_t, std::size_t>> given;  // technique and group; a scenario may name a group twice
  for (const Group& own : scenario_.groups) {
    const auto at = std::find_if(groups_.begin(), groups_.end(),
                                 [&](const OrderedGroup& other) { return other.group.devices == own.devices; });
    const auto group = static_cast<std::size_t>(at - groups_.begin());
    if (at == groups_.end()) groups_.push_back({own, false});
    for (std::size_t t = 0; t < techniques_.size(); ++t) given.insert({t, group});
  }
  for (const auto& [technique, group] : given) {
    Choice choice{};
    choice[kAsGiven] = 1;
    choice[kTechniqueOf] = static_cast<std::int32_t>(technique);
    lists_.push_back({choice});
    add_block(lists_.size() - 1, group);
    note_values(this->choice(size_ - 1));
  }
}

const Space::Block& Space::block_of(std::size_t index) const {
  return *std::prev(std::upper_bound(blocks_.begin(), blocks_.end(), index,
                                     [](std::size_t number, const Block& block) { return number < block.first; }));
}

Choice Space::choice(std::size_t index) const {
  const Block& block = block_of(index);
  Choice out = lists_[block.list][index - block.first];
  out[kGroupOf] = block.group;
  return out;
}

// Choices on any group with these facts, sorted.
std::vector<Choice> Space::choices_of(std::size_t technique, const GroupFacts& facts) const {
  Choice plain{};
  plain[kTechniqueOf] = static_cast<std::int32_t>(technique);
  std::vector<Choice> some = {plain};
  // Appends every value of a column to each partial choice.
  const auto extend = [&](std::size_t column, const auto& values_of) {
    std::vector<Choice> more;
    for (const auto& so_far : some) {
      for (const int value : values_of(so_far)) {
        more.push_back(so_far);
        more.back()[column] = value;
      }
    }
    some = std::move(more);
  };
  // The values of a variation depend only on the variations before it.
  const TechniqueVariations& own = techniques_[technique];
  for (std::size_t i = 0; i < own.variations.size(); ++i) {
    extend(kOwn + i, [&](const Choice& so_far) {
      return own.variations[i].values({scenario_, model_, own.base, varied(so_far, i, facts.gpus), facts});
    });
  }
  const auto share = [&](std::span<const SharedDimension> dimensions, std::size_t first) {
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      std::vector<int> values = dimensions[i].values({scenario_, own.base, facts});
      extend(first + i, [&](const Choice&) { return values; });
    }
  };
  share(training_dimensions(), kTraining);
  share(setting_dimensions(), kSettings);
  std::sort(some.begin(), some.end());
  return some;
}

// The technique's options with the first `variations` of its variations.
TechniqueOptions Space::varied(const Choice& choice, std::size_t variations, int gpus) const {
  const TechniqueVariations& own = techniques_[number(choice, kTechniqueOf)];
  TechniqueOptions options = own.base;
  for (std::size_t i = 0; i < variations; ++i) own.variations[i].apply(options, choice[kOwn + i], scenario_, gpus);
  return options;
}

void Space::note_values(const Choice& choice) {
  auto& values = occurring_[number(choice, kTechniqueOf)];
  const std::size_t columns = is_as_given(choice) ? kTraining : kColumns;
  for (std::size_t column = 0; column < columns; ++column) values[column].insert(choice[column]);
}

std::optional<std::size_t> Space::find(const Choice& choice) const {
  const auto place = [](const Choice& of) { return std::tuple(of[kAsGiven], of[kTechniqueOf]); };
  const auto block = std::partition_point(blocks_.begin(), blocks_.end(), [&](const Block& other) {
    return std::tuple(place(lists_[other.list].front()), other.group) < std::tuple(place(choice), choice[kGroupOf]);
  });
  if (block == blocks_.end() || block->group != choice[kGroupOf]) return std::nullopt;
  const std::vector<Choice>& list = lists_[block->list];
  Choice on_any = choice;
  on_any[kGroupOf] = 0;
  const auto at = std::lower_bound(list.begin(), list.end(), on_any);
  if (at == list.end() || *at != on_any) return std::nullopt;
  return block->first + static_cast<std::size_t>(at - list.begin());
}

bool Space::group_step(std::size_t a, std::size_t b) const {
  std::vector<int> x = groups_[a].group.devices, y = groups_[b].group.devices;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  if (x == y) return true;
  if (x.size() > y.size()) std::swap(x, y);
  if (!std::includes(y.begin(), y.end(), x.begin(), x.end())) return false;
  if (scenario_.platform.devices.size() <= kMostGpusOneByOne && y.size() - x.size() == 1) return true;
  std::vector<int> more;
  std::set_difference(y.begin(), y.end(), x.begin(), x.end(), std::back_inserter(more));
  const auto vm = [&](int device) { return scenario_.platform.devices[device].vm; };
  return std::all_of(more.begin(), more.end(), [&](int device) { return vm(device) == vm(more.front()); });
}

std::vector<std::size_t> Space::neighbours(std::size_t index) const {
  const Choice from = choice(index);
  const std::size_t technique = number(from, kTechniqueOf);
  std::vector<std::size_t> out;
  // Moves to each other value of a column, if such a choice exists; then `also` from there.
  const auto step = [&](const Choice& start, std::size_t column, const auto& also) {
    for (const std::int32_t value : occurring_[technique][column]) {
      const bool far = column == kGroupOf && !group_step(static_cast<std::size_t>(value), number(from, kGroupOf));
      if (value == from[column] || far) continue;
      Choice to = start;
      to[column] = value;
      also(to);
    }
  };
  const auto take = [&](const Choice& to) {
    if (const auto found = find(to)) out.push_back(*found);
  };
  for (std::size_t column = 0; column < kColumns; ++column) {
    if (column != kTechniqueOf) step(from, column, take);
  }
  const auto both = [&](std::size_t first, std::size_t second) {
    step(from, first, [&](const Choice& to) { step(to, second, take); });
  };
  const auto& variations = techniques_[technique].variations;
  for (std::size_t i = 0; i < variations.size(); ++i) {
    if (variations[i].with >= 0) both(kOwn + static_cast<std::size_t>(variations[i].with), kOwn + i);
  }
  both(kGroupOf, kMicroBatchesOf);
  return out;
}

bool Space::is_plain(const Choice& choice) const {
  if (is_as_given(choice)) return false;
  const auto& occurring = occurring_[number(choice, kTechniqueOf)];
  for (std::size_t column = kTraining + 1; column < kColumns; ++column) {
    if (choice[column] != 0 && occurring[column].contains(0)) return false;
  }
  return true;
}

bool Space::is_on_one_vm(const Choice& choice) const {
  const auto& devices = group(choice).devices;
  const auto vm = [&](int d) { return scenario_.platform.devices[d].vm; };
  return std::ranges::all_of(devices, [&](int d) { return vm(d) == vm(devices.front()); });
}

bool Space::changes_training(const Choice& choice) const { return slmsim::changes_training(trained(choice).second); }

std::pair<Training, TechniqueOptions> Space::trained(const Choice& choice) const {
  const auto& own = techniques_[number(choice, kTechniqueOf)];
  if (is_as_given(choice)) return {scenario_.training, own.base};
  const int gpus = static_cast<int>(group(choice).devices.size());
  std::pair<Training, TechniqueOptions> out = {scenario_.training, varied(choice, own.variations.size(), gpus)};
  for_each_dimension(choice, [&](const SharedDimension& dimension, int value) {
    if (dimension.train) dimension.train(out.first, out.second, value);
  });
  return out;
}

RunSetup Space::setup(const Choice& choice) const {
  RunSetup setup{scenario_, group(choice), {}};
  std::tie(setup.scenario.training, setup.options) = trained(choice);
  for_each_dimension(choice, [&](const SharedDimension& dimension, int value) {
    if (dimension.set) dimension.set(setup.scenario, value);
  });
  return setup;
}

}  // namespace slmsim
