#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/search/setting.h"
#include "sim/search/space.h"

namespace slmsim {
namespace {

template <class Value>
const std::string& name_in(const std::vector<std::string>& names, Value value) {
  return names[static_cast<std::size_t>(value)];
}

std::string plural(int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

// Those of Megatron-LM's keys that are not at their defaults.
std::vector<std::string> megatron_keys(const MegatronOptions& m) {
  std::vector<std::string> out;
  const auto add = [&](const char* key, int value, int usual) {
    if (value != usual) out.push_back(fmt::format("{}: {}", key, value));
  };
  add("tensor", m.tensor, 0);
  add("pipeline", m.pipeline, 1);
  add("data", m.data, 1);
  add("chunks", m.chunks, 1);
  if (m.sequence_parallel) out.emplace_back("sequence_parallel: yes");
  if (m.recompute) out.push_back(fmt::format("recompute: {}", name_in(recompute_names(), *m.recompute)));
  return out;
}

std::string mebibytes(Bytes size) { return fmt::format("{:.0f}MiB", size.value / kMebi); }

}  // namespace

std::string Space::describe(const Choice& choice) const {
  const Way way = this->way(choice);
  const TechniqueOptions& o = way.options;
  const bool pipeline = o.technique == Technique::kPipeshard;
  std::vector<std::string> words;
  if (o.micro_batches > 0)
    words.push_back(fmt::format("{} micro-batch{}", o.micro_batches, o.micro_batches == 1 ? "" : "es"));
  if (accumulation(choice) > 1) words.push_back(fmt::format("batches of {}", way.scenario.training.batch));
  if (way.scenario.training.rematerialisation) words.emplace_back("rematerialisation");
  if (choice[kGradientPrecision] > 0)
    words.push_back(name_in(precision_names(), way.scenario.training.gradient_precision) + " gradients");
  if (pipeline) {
    if (o.stages > 0) words.push_back(plural(o.stages, "stage"));
    if (o.planner == Planner::kAlpa && o.stages == 0)
      words.emplace_back(o.choose_stages ? "stages by Alpa's planner" : "a stage per VM");
    if (o.split == StageSplit::kSpeed) words.emplace_back("split by speed");
    if (o.schedule == Schedule::kGpipe) words.emplace_back("GPipe");
  }
  if (has_planner(o.technique) && o.planner == Planner::kSlmsim) words.emplace_back("planned by slmsim");
  if (o.tensor > 0) words.push_back(fmt::format("tensor degree {}", o.tensor));
  if (o.technique == Technique::kMegatron && choice[kTensor] > 0)
    words.push_back(
        fmt::format("{} tensor x {} pipeline x {} data", o.megatron.tensor, o.megatron.pipeline, o.megatron.data));
  if (o.batch_split == BatchSplit::kSpeed) words.emplace_back("sequences by speed");
  if (o.technique == Technique::kZero2 && o.gradient_collective)
    words.emplace_back(name_in(gradient_collective_names(), *o.gradient_collective));
  if (o.hierarchical) words.emplace_back("inside VMs first");
  if (choice[kGathered] > 0) words.push_back(name_in(precision_names(), *o.gathered) + " gathered");
  if (choice[kSockets] > 0)
    words.push_back(
        fmt::format("{} x {} sockets", *way.scenario.nccl.socket_threads, *way.scenario.nccl.sockets_per_thread));
  if (choice[kChannels] > 0) words.push_back(plural(way.scenario.nccl.min_channels, "channel"));
  if (choice[kAlgorithm] > 0) words.push_back(nccl_algorithm_names()[choice[kAlgorithm]]);
  if (choice[kBuffers] > 0) {
    const BufferSetting& setting = buffer_settings()[choice[kBuffers] - 1u];
    words.push_back(mebibytes(setting.most) + " TCP buffers" +
                    (setting.slow_start_after_idle ? "" : ", no slow start after idle"));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

Overrides Space::overrides(const Choice& choice) const {
  const Way way = this->way(choice);
  const TechniqueOptions& o = way.options;
  const Training &is = way.scenario.training, &was = scenario_.training;
  std::vector<std::string> options;
  const auto add = [&](const char* key, const std::string& value) {
    options.push_back(fmt::format("{}: {}", key, value));
  };
  if (o.micro_batches > 0) add("micro_batches", std::to_string(o.micro_batches));
  if (o.startup > Seconds{0}) add("startup", fmt::format("{:.17g} s", o.startup.value));
  if (has_planner(o.technique)) {
    add("planner", name_in(planner_names(), o.planner));
    if (o.tensor > 0) add("tensor", std::to_string(o.tensor));
  }
  if (o.memory_limit) add("memory_limit", fmt::format("{:.17g} B", o.memory_limit->value));
  if (o.technique == Technique::kPipeshard) {
    if (o.choose_stages) {
      add("stages", "auto");
    } else if (o.stages > 0) {
      add("stages", std::to_string(o.stages));
    }
    if (o.split != StageSplit::kFlops) add("split", name_in(stage_split_names(), o.split));
    if (o.schedule != Schedule::kOneForwardOneBackward) add("schedule", name_in(schedule_names(), o.schedule));
  }
  if (o.technique == Technique::kMegatron) {
    for (auto& key : megatron_keys(o.megatron)) options.push_back(std::move(key));
  }
  if (o.technique == Technique::kDdp) add("bucket", fmt::format("{:.17g} B", o.bucket.value));
  if (o.batch_split != BatchSplit::kEven) add("batch_split", name_in(batch_split_names(), o.batch_split));
  if (o.hierarchical) add("hierarchical", "yes");
  if (o.gradient_collective) add("gradient_collective", name_in(gradient_collective_names(), *o.gradient_collective));
  if (o.gathered) add("gathered", name_in(precision_names(), *o.gathered));
  Overrides out = {fmt::format("groups=[[{}]]", fmt::join(way.group.names, ", ")),
                   fmt::format("techniques={{{}: {{{}}}}}", name_of(o.technique), fmt::join(options, ", "))};
  if (is.batch != was.batch) out.push_back(fmt::format("training.batch={}", is.batch));
  if (is.rematerialisation != was.rematerialisation)
    out.push_back(fmt::format("training.rematerialisation={}", is.rematerialisation ? "yes" : "no"));
  if (is.gradient_precision != was.gradient_precision)
    out.push_back(fmt::format("training.gradient_precision={}", name_in(precision_names(), is.gradient_precision)));
  if (choice[kSockets] > 0) {
    out.push_back(fmt::format("nccl.NCCL_SOCKET_NTHREADS={}", *way.scenario.nccl.socket_threads));
    out.push_back(fmt::format("nccl.NCCL_NSOCKS_PERTHREAD={}", *way.scenario.nccl.sockets_per_thread));
  }
  if (choice[kChannels] > 0) out.push_back(fmt::format("nccl.NCCL_MIN_NCHANNELS={}", way.scenario.nccl.min_channels));
  if (choice[kAlgorithm] > 0) out.push_back("nccl.NCCL_ALGO=" + nccl_algorithm_names()[choice[kAlgorithm]]);
  if (choice[kBuffers] > 0) {
    for (const auto& vm : way.scenario.platform.vms) {
      const std::string path = fmt::format("platform.vms.{}.type.tcp.net.ipv4.", vm.name);
      out.push_back(path + "tcp_rmem=" + mebibytes(vm.type.tcp.receive_buffer));
      out.push_back(path + "tcp_wmem=" + mebibytes(vm.type.tcp.send_buffer));
      if (!vm.type.tcp.slow_start_after_idle) out.push_back(path + "tcp_slow_start_after_idle=no");
    }
  }
  return out;
}

}  // namespace slmsim
