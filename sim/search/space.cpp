#include "sim/search/space.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "sim/plan/communicator.h"
#include "sim/search/setting.h"

namespace slmsim {
namespace {

constexpr std::size_t kFewMicroBatches = 6;  // values of platforms that are searched VM by VM
constexpr int kPlannersStages = -1;

std::vector<int> divisors(int number) {
  std::vector<int> out;
  for (int d = 1; d <= number; ++d) {
    if (number % d == 0) out.push_back(d);
  }
  return out;
}

// So many of a sorted list, evenly spread, with both ends.
std::vector<int> thinned(const std::vector<int>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<int> out;
  for (std::size_t i = 0; i < most; ++i) out.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return out;
}

template <class T>
std::uint16_t position(const std::vector<T>& values, const T& value) {
  return static_cast<std::uint16_t>(std::find(values.begin(), values.end(), value) - values.begin());
}

std::vector<std::uint16_t> numbers(std::size_t count) {
  std::vector<std::uint16_t> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<std::uint16_t>(i));
  return out;
}

bool is_replicas(Technique t) { return t == Technique::kData || t == Technique::kZero2; }

}  // namespace

bool has_planner(Technique t) { return t == Technique::kShard || t == Technique::kPipeshard; }

// What decides which values make sense on a group.
struct Space::Facts {
  int gpus = 0;
  int vms = 0;
  int least_of_vm = 0;  // the most GPUs that divide every VM's number
  bool mixed = false;   // GPUs of different models
  bool hierarchical = false;
  bool pipelines_only = false;
};

Space::Space(const Scenario& scenario, const Transformer& model, std::optional<Technique> technique)
    : scenario_(scenario), model_(model), groups_(groups_to_search(scenario.platform)) {
  for (const auto& options : scenario.techniques) {
    if (!technique || options.technique == *technique) techniques_.push_back(options);
  }
  add_values();
  add_choices();
}

void Space::add_values() {
  const bool small = scenario_.platform.devices.size() <= kMostGpusOneByOne;
  micro_batches_ = {0};
  const auto counts = divisors(scenario_.training.batch);
  for (const int count : small ? counts : thinned(counts, kFewMicroBatches)) micro_batches_.push_back(count);
  stages_ = {0, kPlannersStages};
  tensor_ = {0};
  const int gpus = static_cast<int>(scenario_.platform.devices.size());
  for (int n = 1; n <= gpus; n = small ? n + 1 : 2 * n) {
    if (n > 1) stages_.push_back(n);
    tensor_.push_back(n);
  }
  if (scenario_.plan.batch) accumulations_ = {1, 2, 4, 8};
  if (scenario_.plan.nccl) {
    sockets_ = socket_settings().size() + 1;
    channels_ = channel_settings().size() + 1;
    algorithms_ = 3;
  }
  if (scenario_.plan.tcp) buffers_ = buffer_settings().size() + 1;
}

void Space::add_choices() {
  const Platform& platform = scenario_.platform;
  for (std::uint16_t g = 0; g < groups_.size(); ++g) {
    const auto& devices = groups_[g].group.devices;
    Facts facts;
    facts.gpus = static_cast<int>(devices.size());
    std::map<int, int> of_vm;
    std::set<std::string> kinds;
    for (const int device : devices) {
      ++of_vm[platform.devices[static_cast<std::size_t>(device)].vm];
      kinds.insert(platform.devices[static_cast<std::size_t>(device)].gpu.name);
    }
    facts.vms = static_cast<int>(of_vm.size());
    for (const auto& [vm, count] : of_vm) facts.least_of_vm = std::gcd(facts.least_of_vm, count);
    facts.mixed = kinds.size() > 1;
    facts.hierarchical = !equal_vms(platform, devices).empty();
    facts.pipelines_only = groups_[g].pipelines_only;
    for (std::uint16_t t = 0; t < techniques_.size(); ++t) add_of(t, g, facts);
  }
  std::sort(choices_.begin(), choices_.end());
}

void Space::add_of(std::uint16_t technique, std::uint16_t group, const Facts& facts) {
  const Technique t = techniques_[technique].technique;
  if (facts.pipelines_only && is_replicas(t)) return;
  if (facts.pipelines_only && t == Technique::kShard) return;
  if (facts.gpus == 1 && t != Technique::kData) return;  // all are the same there
  Choice choice{};
  choice[kTechniqueOf] = technique;
  choice[kGroupOf] = group;
  std::vector<Choice> some = {choice};
  for (std::size_t d = kMicroBatches; d < kDimensions; ++d) {
    std::vector<Choice> more;
    for (const auto& so_far : some) {
      for (const std::uint16_t value : values(static_cast<Aspect>(d), so_far, facts)) {
        more.push_back(so_far);
        more.back()[d] = value;
      }
    }
    some = std::move(more);
  }
  choices_.insert(choices_.end(), some.begin(), some.end());
}

std::vector<std::uint16_t> Space::values(Aspect aspect, const Choice& so_far, const Facts& facts) const {
  const TechniqueOptions& base = techniques_[so_far[kTechniqueOf]];
  const Technique t = base.technique;
  const auto two = [](bool both) { return numbers(both ? 2 : 1); };
  const bool planner_cuts = stages_[so_far[kStages]] == kPlannersStages || so_far[kPlannerOf] == 1;
  switch (aspect) {
    case kMicroBatches: {
      std::vector<std::uint16_t> out;
      for (const std::uint16_t i : numbers(micro_batches_.size())) {
        // The default is one of the counts; where the scenario gives a count it may not be.
        const bool own = micro_batches_[i] == 0;
        if (own && base.micro_batches == 0) continue;
        if (is_replicas(t) && !own && scenario_.training.batch / micro_batches_[i] < facts.gpus) continue;
        out.push_back(i);
      }
      return out;
    }
    case kRematerialisation:
      return two(true);
    case kGradientPrecision:
      return two(scenario_.training.gradient_precision != scenario_.training.precision);
    case kPlannerOf:
      return two(has_planner(t));
    case kStages:
      return t == Technique::kPipeshard  ? stage_values(so_far, facts)
             : t == Technique::kMegatron ? pipeline_values(base.megatron, facts)
                                         : numbers(1);
    case kStageSplit:
      return two(t == Technique::kPipeshard && !planner_cuts);
    case kScheduleOf:
      return two(t == Technique::kPipeshard);
    case kTensor:
      return has_planner(t)              ? tensor_values(so_far, facts)
             : t == Technique::kMegatron ? degree_values(base.megatron, stages_[so_far[kStages]], facts)
                                         : numbers(1);
    case kBatchSplit:
      return two(is_replicas(t) && facts.mixed);
    case kHierarchical:
      return two(is_replicas(t) && facts.hierarchical);
    case kGradientCollective:
      if (t != Technique::kZero2) return numbers(1);
      if (so_far[kHierarchical] == 1) return {2};  // only with all-reduce
      return {1, 2};
    case kGathered:
      return two(t == Technique::kZero2 && base.gathered && *base.gathered != scenario_.training.precision);
    case kAccumulation:
      return numbers(accumulations_.size());
    case kSockets:
      return numbers(sockets_);
    case kChannels:
      return numbers(channels_);
    case kAlgorithm:
      return numbers(algorithms_);
    case kBuffers:
      return numbers(buffers_);
    default:
      return numbers(1);
  }
}

std::vector<std::uint16_t> Space::stage_values(const Choice& so_far, const Facts& facts) const {
  std::vector<std::uint16_t> out;
  for (const std::uint16_t i : numbers(stages_.size())) {
    const int stages = stages_[i];
    const bool per_vm = stages == 0 && (facts.vms > 1 ? facts.vms : facts.gpus) <= model_.layers;
    // The planner takes its own stages, or a number of them.
    if (stages == 0 && so_far[kPlannerOf] == 1) continue;
    if (per_vm || stages == kPlannersStages || (stages > 1 && stages <= model_.layers && facts.gpus % stages == 0))
      out.push_back(i);
  }
  return out;
}

std::vector<std::uint16_t> Space::tensor_values(const Choice& so_far, const Facts& facts) const {
  const bool pipeline = techniques_[so_far[kTechniqueOf]].technique == Technique::kPipeshard;
  const int stages = stages_[so_far[kStages]];
  std::vector<std::uint16_t> out = {0};
  // The planner's stages may have any number of GPUs, so it also divides them.
  if (pipeline && (stages == kPlannersStages || so_far[kPlannerOf] == 1)) return out;
  const int in_stage = !pipeline       ? facts.gpus
                       : stages > 0    ? facts.gpus / stages
                       : facts.vms > 1 ? facts.least_of_vm
                                       : 1;
  if (in_stage == 1) return out;
  for (const std::uint16_t i : numbers(tensor_.size())) {
    if (tensor_[i] > 0 && in_stage % tensor_[i] == 0) out.push_back(i);
  }
  return out;
}

std::vector<std::uint16_t> Space::pipeline_values(const MegatronOptions& base, const Facts& facts) const {
  std::vector<std::uint16_t> out = {0};
  for (const std::uint16_t i : numbers(stages_.size())) {
    if (stages_[i] > 1 && facts.gpus % stages_[i] == 0 && model_.layers % (stages_[i] * base.chunks) == 0)
      out.push_back(i);
  }
  return out;
}

std::vector<std::uint16_t> Space::degree_values(const MegatronOptions& base, int stages, const Facts& facts) const {
  const int pipeline = std::max(1, stages), in_stage = facts.gpus / pipeline;
  const int own = base.tensor > 0 ? base.tensor : facts.gpus / (base.pipeline * base.data);
  std::vector<std::uint16_t> out;
  if (stages == 0) out.push_back(0);  // the degrees that the scenario gives
  for (const std::uint16_t i : numbers(tensor_.size())) {
    const bool repeats = pipeline == base.pipeline && tensor_[i] == own && in_stage == own * base.data;
    if (tensor_[i] > 0 && in_stage % tensor_[i] == 0 && !repeats) out.push_back(i);
  }
  return out;
}

std::optional<std::size_t> Space::find(const Choice& choice) const {
  const auto at = std::lower_bound(choices_.begin(), choices_.end(), choice);
  if (at == choices_.end() || *at != choice) return std::nullopt;
  return static_cast<std::size_t>(at - choices_.begin());
}

bool Space::group_step(std::uint16_t a, std::uint16_t b) const {
  std::vector<int> x = groups_[a].group.devices, y = groups_[b].group.devices;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  if (x == y) return true;
  if (x.size() > y.size()) std::swap(x, y);
  if (!std::includes(y.begin(), y.end(), x.begin(), x.end())) return false;
  if (scenario_.platform.devices.size() <= kMostGpusOneByOne && y.size() - x.size() == 1) return true;
  std::vector<int> more;
  std::set_difference(y.begin(), y.end(), x.begin(), x.end(), std::back_inserter(more));
  const auto vm = [&](int device) { return scenario_.platform.devices[static_cast<std::size_t>(device)].vm; };
  return std::all_of(more.begin(), more.end(), [&](int device) { return vm(device) == vm(more.front()); });
}

std::vector<std::size_t> Space::neighbours(std::size_t index) const {
  const Choice& from = choices_[index];
  const std::array<std::size_t, kDimensions> counts = {techniques_.size(),
                                                       groups_.size(),
                                                       micro_batches_.size(),
                                                       2,
                                                       2,
                                                       2,
                                                       stages_.size(),
                                                       2,
                                                       2,
                                                       tensor_.size(),
                                                       2,
                                                       2,
                                                       3,
                                                       2,
                                                       accumulations_.size(),
                                                       sockets_,
                                                       channels_,
                                                       algorithms_,
                                                       buffers_};
  std::vector<std::size_t> out;
  for (std::size_t d = kGroupOf; d < kDimensions; ++d) {
    for (std::uint16_t value = 0; value < counts[d]; ++value) {
      if (value == from[d] || (d == kGroupOf && !group_step(value, from[d]))) continue;
      Choice to = from;
      to[d] = value;
      if (const auto found = find(to)) out.push_back(*found);
    }
  }
  // A degree goes with the stages it is one of: both may have to change at once, as may planner and stages, and GPUs and
  // micro-batches.
  for (const auto& [first, second] : {std::pair{kStages, kTensor}, {kPlannerOf, kStages}, {kGroupOf, kMicroBatches}}) {
    for (std::uint16_t value = 0; value < counts[first]; ++value) {
      if (value == from[first] || (first == kGroupOf && !group_step(value, from[first]))) continue;
      for (std::uint16_t other = 0; other < counts[second]; ++other) {
        if (other == from[second]) continue;
        Choice to = from;
        to[first] = value;
        to[second] = other;
        if (const auto found = find(to)) out.push_back(*found);
      }
    }
  }
  return out;
}

bool Space::rematerialises(const Choice& choice) const {
  return scenario_.training.rematerialisation != (choice[kRematerialisation] == 1);
}

bool Space::begins_with_group(const Choice& choice) const {
  const Technique t = base(choice).technique;
  return is_replicas(t) || t == Technique::kShard || (t == Technique::kPipeshard && choice[kPlannerOf] == 0);
}

Way Space::way(const Choice& c) const {
  Way way{scenario_, groups_[c[kGroupOf]].group, techniques_[c[kTechniqueOf]]};
  Training& training = way.scenario.training;
  TechniqueOptions& options = way.options;
  if (const int count = micro_batches_[c[kMicroBatches]]; count > 0) options.micro_batches = count;
  training.rematerialisation = rematerialises(c);
  if (c[kGradientPrecision] == 1) training.gradient_precision = training.precision;
  if (has_planner(options.technique)) {
    options.planner = c[kPlannerOf] == 1 ? Planner::kSlmsim : Planner::kAlpa;
    options.mesh.clear();
    options.tensor = tensor_[c[kTensor]];
  }
  if (options.technique == Technique::kPipeshard) {
    options.stages = std::max(0, stages_[c[kStages]]);
    options.choose_stages = stages_[c[kStages]] == kPlannersStages;
    options.split = static_cast<StageSplit>(c[kStageSplit]);
    options.schedule = static_cast<Schedule>(c[kScheduleOf]);
  }
  if (const int tensor = tensor_[c[kTensor]]; options.technique == Technique::kMegatron && tensor > 0) {
    MegatronOptions& m = options.megatron;
    m.tensor = tensor;
    m.pipeline = std::max(1, stages_[c[kStages]]);
    m.data = static_cast<int>(way.group.devices.size()) / (m.tensor * m.pipeline);
    if (m.pipeline == 1) m.chunks = 1;
  }
  options.batch_split = static_cast<BatchSplit>(c[kBatchSplit]);
  options.hierarchical = c[kHierarchical] == 1;
  if (c[kGradientCollective] > 0)
    options.gradient_collective = static_cast<GradientCollective>(c[kGradientCollective] - 1);
  if (c[kGathered] == 1) options.gathered = training.precision;
  const int batches = accumulations_[c[kAccumulation]];
  training.batch *= batches;
  options.micro_batches *= batches;
  if (c[kSockets] > 0) set_sockets(way.scenario.nccl, socket_settings()[c[kSockets] - 1u]);
  if (c[kChannels] > 0) way.scenario.nccl.min_channels = channel_settings()[c[kChannels] - 1u];
  if (c[kAlgorithm] > 0) way.scenario.nccl.algorithm = static_cast<NcclAlgorithm>(c[kAlgorithm]);
  if (c[kBuffers] > 0) set_buffers(way.scenario.platform, buffer_settings()[c[kBuffers] - 1u]);
  return way;
}

}  // namespace slmsim
