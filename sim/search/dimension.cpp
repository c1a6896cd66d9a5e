#include "sim/search/dimension.h"

#include <array>
#include <numeric>

#include <fmt/format.h>

#include "sim/explain/explain.h"
#include "sim/search/group_space.h"

namespace slmsim {
namespace {

constexpr std::size_t kFewMicroBatches = 6;  // values on larger platforms

template <class Value>
const std::string& name_in(const std::vector<std::string>& names, Value value) {
  return names[static_cast<std::size_t>(value)];
}

std::vector<int> divisors(int number) {
  std::vector<int> out;
  for (int d = 1; d <= number; ++d) {
    if (number % d == 0) out.push_back(d);
  }
  return out;
}

// At most `most` elements of a sorted list, evenly spread, with both ends.
std::vector<int> thinned(const std::vector<int>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<int> out;
  for (std::size_t i = 0; i < most; ++i) out.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return out;
}

// 0 to `count` - 1.
std::vector<int> numbers(std::size_t count) {
  std::vector<int> out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// The counts themselves; 0: the scenario's own count, if any, which may not divide the batch.
const SharedDimension kMicroBatchCounts = {
    .values =
        [](const DimensionRequest& r) {
          const bool small = r.scenario.platform.devices.size() <= kMostGpusOneByOne;
          const int batch = r.scenario.training.batch;
          std::vector<int> out = thinned(divisors(batch), small ? static_cast<std::size_t>(batch) : kFewMicroBatches);
          if (r.base.technique->divides_batch)
            std::erase_if(out, [&](int count) { return batch / count < r.group.gpus; });
          if (r.base.micro_batches() > 0) out.insert(out.begin(), 0);
          return out;
        },
    .train =
        [](Training&, TechniqueOptions& options, int value) {
          if (value > 0) options.set(kMicroBatches, value);
        },
    .words =
        [](const RunSetup& setup, int) {
          const int count = setup.options.micro_batches();
          return count > 0 ? fmt::format("{} micro-batch{}", count, count == 1 ? "" : "es") : "";
        }};  // as an override it is an option of the technique

const SharedDimension kRematerialisation = {
    // A technique that states its rematerialisation keeps it.
    .values = [](const DimensionRequest& r) { return yes_or_no(!r.base.get(kRecompute)); },
    .train =
        [](Training& training, TechniqueOptions&, int value) {
          if (value == 1) training.rematerialisation = !training.rematerialisation;
        },
    .words = [](const RunSetup& setup, int) -> std::string {
      return setup.scenario.training.rematerialisation ? "rematerialisation" : "";
    },
    .overrides =
        [](const RunSetup& setup, const Scenario& was, int, Overrides& out) {
          const bool now = setup.scenario.training.rematerialisation;
          if (now != was.training.rematerialisation)
            out.push_back(fmt::format("training.rematerialisation={}", now ? "yes" : "no"));
        }};

const SharedDimension kGradientPrecision = {
    .values =
        [](const DimensionRequest& r) {
          // Autocast keeps weights, and so gradients, in fp32.
          return yes_or_no(!r.scenario.software.autocast &&
                           r.scenario.training.gradient_precision != r.scenario.training.precision);
        },
    .train =
        [](Training& training, TechniqueOptions&, int value) {
          if (value == 1) training.gradient_precision = training.precision;
        },
    .words = [](const RunSetup& setup, int value) -> std::string {
      return value == 1 ? name_in(precision_names(), setup.scenario.training.gradient_precision) + " gradients" : "";
    },
    .overrides =
        [](const RunSetup& setup, const Scenario&, int value, Overrides& out) {
          if (value == 1)
            out.push_back("training.gradient_precision=" +
                          name_in(precision_names(), setup.scenario.training.gradient_precision));
        }};

// Batches whose gradients are accumulated, as powers of two.
const SharedDimension kAccumulation = {
    .values = [](const DimensionRequest& r) { return r.scenario.plan.batch ? numbers(4) : numbers(1); },
    .train =
        [](Training& training, TechniqueOptions& options, int value) {
          training.batch <<= value;
          options.set(kMicroBatches, options.micro_batches() << value);
        },
    .words = [](const RunSetup& setup,
                int value) { return value > 0 ? fmt::format("batches of {}", setup.scenario.training.batch) : ""; },
    .overrides =
        [](const RunSetup& setup, const Scenario&, int value, Overrides& out) {
          if (value > 0) out.push_back(fmt::format("training.batch={}", setup.scenario.training.batch));
        }};

// Indices of the settings of setting.h, from 1 on; 0: unchanged.
const SharedDimension kSockets = {
    .values =
        [](const DimensionRequest& r) { return numbers(r.scenario.plan.nccl ? socket_settings().size() + 1 : 1); },
    .set =
        [](Scenario& scenario, int value) {
          if (value > 0) set_sockets(scenario.nccl, socket_settings()[static_cast<std::size_t>(value) - 1]);
        },
    .words =
        [](const RunSetup& setup, int value) {
          const Nccl& nccl = setup.scenario.nccl;
          return value > 0 ? fmt::format("{} x {} sockets", *nccl.socket_threads, *nccl.sockets_per_thread) : "";
        },
    .overrides =
        [](const RunSetup& setup, const Scenario&, int value, Overrides& out) {
          if (value == 0) return;
          out.push_back(threads_override(*setup.scenario.nccl.socket_threads));
          out.push_back(sockets_override(*setup.scenario.nccl.sockets_per_thread));
        }};

const SharedDimension kChannels = {
    .values =
        [](const DimensionRequest& r) { return numbers(r.scenario.plan.nccl ? channel_settings().size() + 1 : 1); },
    .set =
        [](Scenario& scenario, int value) {
          if (value > 0) scenario.nccl.min_channels = channel_settings()[static_cast<std::size_t>(value) - 1];
        },
    .words =
        [](const RunSetup& setup, int value) {
          const int count = setup.scenario.nccl.min_channels;
          return value > 0 ? fmt::format("{} channel{}", count, count == 1 ? "" : "s") : "";
        },
    .overrides =
        [](const RunSetup& setup, const Scenario&, int value, Overrides& out) {
          if (value > 0) out.push_back(channels_override(setup.scenario.nccl.min_channels));
        }};

const SharedDimension kAlgorithm = {
    .values = [](const DimensionRequest& r) { return numbers(r.scenario.plan.nccl ? 3 : 1); },
    .set =
        [](Scenario& scenario, int value) {
          if (value > 0) scenario.nccl.algorithm = static_cast<NcclAlgorithm>(value);
        },
    .words = [](const RunSetup&, int value) { return value > 0 ? name_in(nccl_algorithm_names(), value) : ""; },
    .overrides =
        [](const RunSetup& setup, const Scenario&, int value, Overrides& out) {
          if (value > 0) out.push_back(algorithm_override(setup.scenario.nccl.algorithm));
        }};

const SharedDimension kBuffers = {
    .values = [](const DimensionRequest& r) { return numbers(r.scenario.plan.tcp ? buffer_settings().size() + 1 : 1); },
    .set =
        [](Scenario& scenario, int value) {
          if (value > 0) set_buffers(scenario.platform, buffer_settings()[static_cast<std::size_t>(value) - 1]);
        },
    .words = [](const RunSetup&, int value) -> std::string {
      if (value == 0) return "";
      const BufferSetting& setting = buffer_settings()[static_cast<std::size_t>(value) - 1];
      return size_text(setting.most) + " TCP buffers" +
             (setting.slow_start_after_idle ? "" : ", no slow start after idle");
    },
    .overrides =
        [](const RunSetup& setup, const Scenario&, int value, Overrides& out) {
          if (value == 0) return;
          for (const auto& vm : setup.scenario.platform.vms) {
            const TcpSettings& tcp = vm.type.tcp;
            for (auto& one : buffer_overrides(vm, tcp.receive_buffer, tcp.send_buffer)) out.push_back(std::move(one));
            if (!tcp.slow_start_after_idle) out.push_back(no_slow_start_after_idle(vm));
          }
        }};

}  // namespace

std::span<const SharedDimension> training_dimensions() {
  static const std::array<SharedDimension, kTrainingDimensions> kRows = {kMicroBatchCounts, kRematerialisation,
                                                                         kGradientPrecision};
  return kRows;
}

std::span<const SharedDimension> setting_dimensions() {
  static const std::array<SharedDimension, kSettingDimensions> kRows = {kAccumulation, kSockets, kChannels, kAlgorithm,
                                                                        kBuffers};
  return kRows;
}

}  // namespace slmsim
