#include "sim/explain/explain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/base/text.h"
#include "sim/base/work.h"
#include "sim/collective/nccl_rules.h"
#include "sim/technique/replicas/replicas.h"

namespace slmsim {
namespace {

constexpr double kLeastSaved = 0.01;  // share of an iteration: changes that save less are not listed

class WhatIfSearch {
 public:
  WhatIfSearch(const Scenario& scenario, const ExplainOptions& options)
      : scenario_(scenario), reload_(options.reload), stop_(options.stop), threads_(options.threads) {}

  void try_all(std::size_t model, std::size_t group, std::size_t technique, Explanation& out) {
    if (!reload_) return;
    const Group& now = scenario_.groups[group];
    std::vector<Trial> trials;
    for (auto& set : changes_to_try(scenario_, out.prediction, now)) {
      stop_if(stop_);
      const auto& changed = loaded(set);
      if (changed && too_old_gpu(*changed, now.devices).empty())
        trials.push_back({std::move(set), &*changed, changed->groups[group]});
    }
    for (Group& other : other_orders(scenario_.platform, now)) {
      Overrides set = {fmt::format("groups=[[{}]]", fmt::join(other.names, ", "))};
      trials.push_back({std::move(set), &scenario_, std::move(other)});
    }
    std::vector<Prediction> predictions(trials.size());
    in_parallel(trials.size(), threads_, [&](std::size_t i) {
      stop_if(stop_);
      predictions[i] = predicted(trials[i], model, technique);
    });
    const Seconds before = out.prediction.iteration;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const Prediction& then = predictions[i];
      if (then.status == Status::kOk && before - then.iteration >= before * kLeastSaved)
        out.what_ifs.push_back({std::move(trials[i].set), then.iteration, then.job});
    }
    std::ranges::stable_sort(out.what_ifs, [](const WhatIf& a, const WhatIf& b) { return a.iteration < b.iteration; });
  }

 private:
  struct Trial {
    Overrides set;
    const Scenario* changed;
    Group group;
  };

  static Prediction predicted(const Trial& trial, std::size_t model, std::size_t technique) {
    Scenario one = *trial.changed;
    one.models = {trial.changed->models[model]};
    one.groups = {trial.group};
    one.techniques = {trial.changed->techniques[technique]};
    return predict(one).front();
  }

  const std::optional<Scenario>& loaded(const Overrides& set) {
    const auto [at, is_new] = loaded_.try_emplace(set);
    if (is_new) at->second = reload_(set);
    return at->second;
  }

  const Scenario& scenario_;
  const Reload& reload_;
  const std::function<bool()>& stop_;
  std::size_t threads_;
  std::map<Overrides, std::optional<Scenario>> loaded_;
};

std::string advice_of(const Explanation& e) {
  if (e.limits.single.empty()) return "Nothing limits it.";
  const Seconds iteration = e.prediction.iteration;
  const auto share = [&](Seconds of) { return fmt::format("{:.0f} % of the time", 100 * (of / iteration)); };
  const Limit& first = e.limits.single.front();
  std::string limit = fmt::format("{}, {}", first.name, share(first.given_back));
  // Where two hide each other, neither helps alone.
  if (!e.limits.pairs.empty() && e.limits.pairs.front().together > first.given_back) {
    const LimitPair& pair = e.limits.pairs.front();
    limit = fmt::format("{} and {} together, {}", pair.first, pair.second, share(pair.together));
  }
  if (e.what_ifs.empty()) return fmt::format("Limited most by {}; no setting tried helps.", limit);
  const WhatIf& best = e.what_ifs.front();
  return fmt::format("Change first: --set {}, {} in place of {} ({:+.0f} %). Limited most by {}.", set_words(best.set),
                     to_text(best.iteration), to_text(iteration), 100 * (best.iteration / iteration - 1), limit);
}

// Whether each prediction is one of its model's three fastest, or its fastest on the most GPUs; where none runs, all are.
std::vector<bool> foremost(const Scenario& scenario, const std::vector<Prediction>& predictions) {
  constexpr std::size_t kFastest = 3;
  std::vector<bool> out(predictions.size());
  for (const auto& model : scenario.models) {
    std::vector<std::size_t> own;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      if (predictions[i].model == model.name && predictions[i].status == Status::kOk) own.push_back(i);
    }
    std::ranges::stable_sort(own, {}, [&](std::size_t i) { return predictions[i].job.value; });
    for (std::size_t i = 0; i < std::min(kFastest, own.size()); ++i) out[own[i]] = true;
    const auto most = std::ranges::max_element(own, {}, [&](std::size_t i) { return predictions[i].gpus; });
    if (most != own.end()) out[*most] = true;
    for (std::size_t i = 0; own.empty() && i < predictions.size(); ++i)
      if (predictions[i].model == model.name) out[i] = true;
  }
  return out;
}

void explain_each(const Scenario& scenario, const ExplainOptions& options, std::vector<Explanation>& out) {
  WhatIfSearch changes(scenario, options);
  std::vector<std::size_t> techniques;
  for (std::size_t i = 0; i < scenario.techniques.size(); ++i) {
    if (!options.only || options.only == scenario.techniques[i].technique) techniques.push_back(i);
  }
  const auto predictions = predict(scenario, {.only = options.only, .threads = options.threads, .stop = options.stop});
  const auto wanted = options.foremost ? foremost(scenario, predictions) : std::vector<bool>(predictions.size(), true);
  const auto count = static_cast<std::size_t>(std::ranges::count(wanted, true));
  std::size_t next = 0;
  for (std::size_t m = 0; m < scenario.models.size(); ++m) {
    for (std::size_t g = 0; g < scenario.groups.size(); ++g) {
      for (const std::size_t t : techniques) {
        if (!wanted[next++]) continue;
        Explanation e;
        e.prediction = predictions[next - 1];
        if (e.prediction.status == Status::kOk) {
          e.limits = find_limits(scenario, scenario.models[m], e.prediction, options.in_depth, [&](std::size_t cases) {
            stop_if(options.stop);
            if (options.on_progress) options.on_progress(out.size(), count, cases);
          });
          changes.try_all(m, g, t, e);
          e.advice = advice_of(e);
        }
        out.push_back(std::move(e));
        if (options.on_progress) options.on_progress(out.size(), count, 0);
      }
    }
  }
}

std::string tcp_path(const Vm& vm) { return fmt::format("platform.vms.{}.type.tcp.net.ipv4.", vm.name); }

constexpr double kLarger = 4;  // factor for buffers and sockets

// Changes of a software stack's kernels that take a line or two of a program.
struct StackChange {
  std::string_view stack;
  const char* set;
};
constexpr StackChange kStackChanges[] = {
    {"eager", "software.stack=compiled"},     {"autocast", "software.stack=compiled-autocast"},
    {"eager", "software.attention=flash"},    {"autocast", "software.attention=flash"},
    {"megatron", "software.attention=flash"}, {"megatron-eager", "software.attention=flash"},
};

// Stacks whose products run in 16 bits by autocast, with weights and gradients still in fp32.
constexpr std::pair<std::string_view, const char*> kMixedStacks[] = {{"eager", "autocast"},
                                                                     {"compiled", "compiled-autocast"}};

// Mixed precision in place of fp32, in the 16-bit format that all GPUs of the group have; empty where there is none.
Overrides mixed_precision(const Scenario& scenario, const Group& group) {
  if (scenario.training.precision != Precision::kFp32) return {};
  const auto* stack =
      std::ranges::find(kMixedStacks, scenario.software.stack, &std::pair<std::string_view, const char*>::first);
  const auto precision = half_precision(scenario.platform, group.devices);
  if (stack == std::end(kMixedStacks) || !precision) return {};
  return {"training.precision=" + name_in(precision_names(), *precision), "training.gradient_precision=fp32",
          fmt::format("software.stack={}", stack->second)};
}

}  // namespace

std::string set_words(const std::vector<std::string>& set) {
  constexpr std::size_t kMost = 8, kFirst = 2;
  const bool all = set.size() <= kMost;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < (all ? set.size() : kFirst); ++i) words.push_back(shell_word(set[i]));
  std::string out = fmt::format("{}", fmt::join(words, " --set "));
  if (!all) out += fmt::format(" and {} more of --format json", set.size() - kFirst);
  return out;
}

std::vector<Explanation> explain(const Scenario& scenario, const ExplainOptions& options) {
  std::vector<Explanation> out;
  try {
    explain_each(scenario, options, out);
  } catch (const Stopped&) {
    if (!options.partial) throw;
  }
  return out;
}

const std::vector<SocketSetting>& socket_settings() {
  static const std::vector<SocketSetting> kSettings = {{4, 1}, {4, 4}, {2, 8}};
  return kSettings;
}

void set_sockets(Nccl& nccl, const SocketSetting& setting) {
  nccl.socket_threads = setting.threads;
  nccl.sockets_per_thread = setting.sockets;
}

const std::vector<int>& channel_settings() {
  static const std::vector<int> kSettings = {4, 8};
  return kSettings;
}

const std::vector<BufferSetting>& buffer_settings() {
  static const std::vector<BufferSetting> kSettings = {{Bytes{64 * kMebi}, true}, {Bytes{64 * kMebi}, false}};
  return kSettings;
}

void set_buffers(Platform& platform, const BufferSetting& setting) {
  for (auto& vm : platform.vms) {
    vm.type.tcp.receive_buffer = std::max(vm.type.tcp.receive_buffer, setting.most);
    vm.type.tcp.send_buffer = std::max(vm.type.tcp.send_buffer, setting.most);
    vm.type.tcp.slow_start_after_idle = vm.type.tcp.slow_start_after_idle && setting.slow_start_after_idle;
  }
}

std::string threads_override(int threads) { return fmt::format("nccl.NCCL_SOCKET_NTHREADS={}", threads); }

std::string sockets_override(int per_thread) { return fmt::format("nccl.NCCL_NSOCKS_PERTHREAD={}", per_thread); }

std::string channels_override(int channels) { return fmt::format("nccl.NCCL_MIN_NCHANNELS={}", channels); }

std::string algorithm_override(NcclAlgorithm algorithm) {
  return "nccl.NCCL_ALGO=" + name_in(nccl_algorithm_names(), algorithm);
}

std::string micro_batches_override(const Technique& technique, int micro_batches) {
  return fmt::format("techniques.{}.micro_batches={}", technique.name, micro_batches);
}

Overrides split_by_speed(const Scenario& scenario, const Technique& technique, const Group& group) {
  const auto options = std::ranges::find(scenario.techniques, &technique, &TechniqueOptions::technique);
  if (options == scenario.techniques.end() ||
      std::ranges::find(technique.options, &kBatchSplit) == technique.options.end())
    return {};
  const std::vector<int> kinds = gpu_kinds(scenario.platform, group.devices);
  const bool alike = std::ranges::all_of(kinds, [&](int kind) { return kind == kinds.front(); });
  if (alike || options->get(kBatchSplit) == BatchSplit::kSpeed) return {};
  return {fmt::format("techniques.{}.batch_split=speed", technique.name)};
}

Overrides buffer_overrides(const Vm& vm, Bytes receive, Bytes send) {
  return {tcp_path(vm) + "tcp_rmem=" + size_text(receive), tcp_path(vm) + "tcp_wmem=" + size_text(send)};
}

std::string no_slow_start_after_idle(const Vm& vm) { return tcp_path(vm) + "tcp_slow_start_after_idle=no"; }

std::string size_text(Bytes size) {
  const double mebi = size.value / kMebi;
  return mebi == std::floor(mebi) ? fmt::format("{:.0f}MiB", mebi) : fmt::format("{:.0f}B", size.value);
}

std::vector<Overrides> changes_to_try(const Scenario& scenario, const Prediction& prediction, const Group& group) {
  std::vector<Overrides> out;
  const Nccl& nccl = scenario.nccl;
  std::set<int> vms;
  for (const int device : group.devices) vms.insert(scenario.platform.devices[device].vm);
  if (vms.size() > 1) {
    Overrides buffers, idle;
    int sockets = kNcclMostSockets;
    for (const int index : vms) {
      const Vm& vm = scenario.platform.vms[index];
      const TcpSettings& tcp = vm.type.tcp;
      for (auto& one : buffer_overrides(vm, tcp.receive_buffer * kLarger, tcp.send_buffer * kLarger))
        buffers.push_back(std::move(one));
      if (tcp.slow_start_after_idle) idle.push_back(no_slow_start_after_idle(vm));
      sockets = std::min(sockets, nccl_sockets(nccl, vm.type.cloud));
    }
    out.push_back(buffers);
    if (!idle.empty()) out.push_back(idle);
    const int threads = static_cast<int>(kLarger) * nccl.socket_threads.value_or(1);
    if (threads <= kNcclMostThreads && threads * nccl.sockets_per_thread.value_or(1) > sockets)
      out.push_back({threads_override(threads)});
  }
  if (group.devices.size() > 1) {
    for (const auto algorithm : {NcclAlgorithm::kRing, NcclAlgorithm::kTree}) {
      if (nccl.algorithm != algorithm) out.push_back({algorithm_override(algorithm)});
    }
    out.push_back({"nccl.NCCL_BUFFSIZE=" + size_text(nccl.buffer * kLarger)});
    const int channels = nccl_channels(nccl, nccl_view(scenario.platform, group.devices));
    if (2 * channels <= kNcclMostChannels) out.push_back({channels_override(2 * channels)});
  }
  if (Overrides mixed = mixed_precision(scenario, group); !mixed.empty()) out.push_back(std::move(mixed));
  for (const auto& change : kStackChanges) {
    if (change.stack == scenario.software.stack) out.push_back({change.set});
  }
  const int now = prediction.plan->micro_batches;
  for (const int count : {now / 2, 2 * now}) {
    if (count >= 1 && count <= scenario.training.batch && scenario.training.batch % count == 0)
      out.push_back({micro_batches_override(*prediction.technique, count)});
  }
  if (Overrides split = split_by_speed(scenario, *prediction.technique, group); !split.empty())
    out.push_back(std::move(split));
  return out;
}

std::optional<Precision> half_precision(const Platform& platform, const std::vector<int>& devices) {
  for (const Precision precision : {Precision::kBf16, Precision::kFp16}) {
    if (!gpu_without(platform, devices, precision)) return precision;
  }
  return std::nullopt;
}

std::vector<Group> other_orders(const Platform& platform, const Group& group) {
  constexpr std::size_t kEveryOrder = 4;  // VMs
  // The part of the group on each VM. A name is that of a VM or of one of its GPUs.
  std::vector<Group> parts;
  std::map<int, std::size_t> part_of;
  for (const int device : group.devices) {
    const int vm = platform.devices[device].vm;
    const auto [at, is_new] = part_of.try_emplace(vm, parts.size());
    if (is_new) parts.emplace_back();
    parts[at->second].devices.push_back(device);
  }
  for (const auto& name : group.names) {
    for (const auto& [vm, part] : part_of) {
      const std::string& of = platform.vms[vm].name;
      if (name == of || name.starts_with(of + "/")) parts[part].names.push_back(name);
    }
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<std::size_t>> orders;
  if (parts.size() <= kEveryOrder) {
    while (std::next_permutation(order.begin(), order.end())) orders.push_back(order);
  } else {
    orders.emplace_back(order.rbegin(), order.rend());
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      orders.push_back(order);
      std::swap(orders.back()[i], orders.back()[i + 1]);
    }
  }
  std::vector<Group> out;
  for (const auto& one : orders) {
    Group& other = out.emplace_back();
    for (const std::size_t part : one) {
      other.names.insert(other.names.end(), parts[part].names.begin(), parts[part].names.end());
      other.devices.insert(other.devices.end(), parts[part].devices.begin(), parts[part].devices.end());
    }
  }
  return out;
}

}  // namespace slmsim
