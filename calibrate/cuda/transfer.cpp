#include "calibrate/cuda/transfer.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>

#include "calibrate/common/text.h"
#include "calibrate/cuda/check.h"
#include "calibrate/cuda/workload.h"
#include "calibrate/gpu/profile.h"

namespace slmsim::calibrate {
namespace {

const std::vector<std::size_t> kSizes = {4000, 64000, 1'000'000, 16'000'000, 256'000'000};
constexpr int kGraphLaunches = 100;

// The clock of an action: the GPU's, by events around it; the host's until the GPU is done; or the host's until the last call
// returns, which is the host's own time.
enum class ClockKind { kGpu, kBoth, kHost };

class ActionTimer final : public Timer {
 public:
  ActionTimer(const Device& device, ClockKind clock_of, std::function<void()> act)
      : device_(device), clock_of_(clock_of), act_(std::move(act)) {
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  ActionTimer(const ActionTimer&) = delete;
  ActionTimer& operator=(const ActionTimer&) = delete;
  ~ActionTimer() override {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }

  double run(int launches) override {
    const bool events = clock_of_ == ClockKind::kGpu;
    const double began = now();
    if (events) check(cudaEventRecord(start_, device_.stream()), "cudaEventRecord");
    for (int i = 0; i < launches; ++i) act_();
    const double handed_over = now();
    if (events) check(cudaEventRecord(stop_, device_.stream()), "cudaEventRecord");
    device_.wait();
    if (!events) return (clock_of_ == ClockKind::kHost ? handed_over : now()) - began;
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e-3;
  }
  double now() override { return WorkloadTimer::seconds(); }
  Clock clock() override { return device_.nvml().clock(); }

 private:
  const Device& device_;
  const ClockKind clock_of_;
  const std::function<void()> act_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

Rules within_seconds(Rules rules, double seconds) {
  rules.time_limit = seconds;
  return rules;
}

// Random bytes on the host, pinned or pageable.
class HostMemory {
 public:
  HostMemory(std::size_t size, bool pinned) : pinned_(pinned) {
    void* memory = nullptr;
    if (pinned && cudaMallocHost(&memory, size) != cudaSuccess) {
      cudaGetLastError();
      throw MeasurementSkip("the host does not pin that much memory");
    }
    if (!pinned) memory = ::operator new(size);
    data_ = static_cast<std::byte*>(memory);
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory() {
    if (pinned_) {
      cudaFreeHost(data_);
    } else {
      ::operator delete(data_);
    }
  }
  std::byte* data() const { return data_; }
  // Touches every page, which allocates it: random bytes, repeated.
  void fill(std::size_t size, unsigned seed) const {
    constexpr std::size_t kRandom = std::size_t{1} << 20;
    std::mt19937_64 random(seed);
    const std::size_t first = std::min(size, kRandom);
    for (std::size_t at = 0; at + 8 <= first; at += 8) {
      const std::uint64_t value = random();
      std::memcpy(data_ + at, &value, 8);
    }
    for (std::size_t at = first; at < size; at += first) std::memcpy(data_ + at, data_, std::min(first, size - at));
  }

 private:
  std::byte* data_ = nullptr;
  const bool pinned_;
};

std::string measure_host_copy(const Device& device, const Rules& rules, std::size_t size, bool to_device, bool pinned) {
  const HostMemory host(size, pinned), back(size, pinned);
  host.fill(size, 1);
  back.fill(size, 2);
  const Arrays arrays(device, {size});
  auto* const on_device = arrays.at<std::byte>(0, 0);
  const auto copy = [&](bool towards, const HostMemory& memory) {
    check(towards ? cudaMemcpyAsync(on_device, memory.data(), size, cudaMemcpyHostToDevice, device.stream())
                  : cudaMemcpyAsync(memory.data(), on_device, size, cudaMemcpyDeviceToHost, device.stream()),
          "copying");
  };
  copy(true, host);
  ActionTimer timer(device, ClockKind::kGpu, [&] { copy(to_device, to_device ? host : back); });
  const Measurement measured = measure(timer, rules);
  copy(false, back);
  device.wait();
  if (std::memcmp(host.data(), back.data(), size) != 0) throw WrongResult("the data read back differ from those sent");
  return transfer_line(to_device ? "host-to-device" : "device-to-host", pinned ? "pinned" : "pageable",
                       static_cast<double>(size), measured);
}

// `peer` < 0: on this GPU.
std::string measure_device_copy(const Device& device, const Rules& rules, std::size_t size, int peer) {
  const Arrays here(device, peer < 0 ? std::vector<std::size_t>{size, size} : std::vector<std::size_t>{size});
  std::unique_ptr<Device> other;
  std::unique_ptr<Arrays> there;
  std::string memory = "device";
  if (peer >= 0) {
    int direct = 0;
    check(cudaDeviceCanAccessPeer(&direct, device.number(), peer), "cudaDeviceCanAccessPeer");
    if (direct) {
      const cudaError_t enabled = cudaDeviceEnablePeerAccess(peer, 0);
      if (enabled == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
      } else {
        check(enabled, "cudaDeviceEnablePeerAccess");
      }
    }
    memory = direct ? "direct" : "staged";
    other = std::make_unique<Device>(peer);
    there = std::make_unique<Arrays>(*other, std::vector<std::size_t>{size});
    check(cudaSetDevice(device.number()), "cudaSetDevice");
  }
  auto* const from = here.at<std::byte>(0, 0);
  auto* const to = there ? there->at<std::byte>(0, 0) : here.at<std::byte>(0, 1);
  fill_random(device, from, Number::kFloat, size / sizeof(float), -1, 1, 1);
  int set = 0;
  ActionTimer timer(device, ClockKind::kGpu, [&] {
    if (peer >= 0) {
      check(cudaMemcpyPeerAsync(to, peer, from, device.number(), size, device.stream()), "copying to a peer");
    } else {
      check(cudaMemcpyAsync(here.at<std::byte>(set, 1), here.at<std::byte>(set, 0), size, cudaMemcpyDeviceToDevice,
                            device.stream()),
            "copying");
      set = (set + 1) % here.sets();
    }
  });
  const Measurement measured = measure(timer, rules);
  device.wait();
  std::vector<std::byte> sent(std::min<std::size_t>(size, 1 << 20)), come(sent.size());
  check(cudaMemcpy(sent.data(), from, sent.size(), cudaMemcpyDefault), "reading a copy");
  check(cudaMemcpy(come.data(), to, come.size(), cudaMemcpyDefault), "reading a copy");
  if (sent != come) throw WrongResult("the data received differ from those sent");
  return transfer_line(peer < 0 ? "device-to-device" : "peer-to-peer", memory, static_cast<double>(size), measured);
}

std::string measure_graph(const Device& device, const Rules& rules, ClockKind clock_of) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(device.stream(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  for (int i = 0; i < kGraphLaunches; ++i) launch_nothing(device);
  check(cudaStreamEndCapture(device.stream(), &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiateWithFlags(&executable, graph, 0), "cudaGraphInstantiate");
  ActionTimer timer(device, clock_of, [&] { check(cudaGraphLaunch(executable, device.stream()), "cudaGraphLaunch"); });
  const Measurement measured = measure(timer, rules);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return launch_line(format("%s-of-%d", clock_of == ClockKind::kHost ? "host-graph" : "graph", kGraphLaunches),
                     measured);
}

}  // namespace

std::vector<Unit> copy_units(const Device& device, const Rules& rules) {
  std::vector<Unit> units;
  for (const std::size_t size : kSizes) {
    const std::string of = format(" %s", size_text(static_cast<double>(size)).c_str());
    for (const bool pinned : {true, false}) {
      for (const bool to_device : {true, false}) {
        const std::string key = format("%s %s%s", to_device ? "host-to-device" : "device-to-host",
                                       pinned ? "pinned" : "pageable", of.c_str());
        units.push_back({Section::kTransfers, key, [&device, rules, size, to_device, pinned](double seconds) {
                           return measure_host_copy(device, within_seconds(rules, seconds), size, to_device, pinned);
                         }});
      }
    }
    units.push_back({Section::kTransfers, "device-to-device" + of, [&device, rules, size](double seconds) {
                       return measure_device_copy(device, within_seconds(rules, seconds), size, -1);
                     }});
  }
  return units;
}

std::vector<Unit> peer_units(const Device& device, const Rules& rules) {
  std::vector<Unit> units;
  const int gpus = count_gpus();
  for (int peer = 0; peer < gpus; ++peer) {
    if (peer == device.number()) continue;
    for (const std::size_t size : kSizes) {
      units.push_back(
          {Section::kTransfers,
           format("peer-to-peer %d-%d %s", device.number(), peer, size_text(static_cast<double>(size)).c_str()),
           [&device, rules, size, peer](double seconds) {
             return measure_device_copy(device, within_seconds(rules, seconds), size, peer);
           }});
    }
  }
  return units;
}

std::vector<Unit> launch_units(const Device& device, const Rules& rules) {
  const auto unit = [&](const std::string& kind, ClockKind clock_of) {
    return Unit{Section::kLaunches, "launch " + kind, [&device, rules, kind, clock_of](double seconds) {
                  ActionTimer timer(device, clock_of, [&] {
                    launch_nothing(device);
                    if (clock_of == ClockKind::kBoth) device.wait();
                  });
                  return launch_line(kind, measure(timer, within_seconds(rules, seconds)));
                }};
  };
  const auto graph = [&](const std::string& kind, ClockKind clock_of) {
    return Unit{Section::kLaunches, "launch " + kind, [&device, rules, clock_of](double seconds) {
                  return measure_graph(device, within_seconds(rules, seconds), clock_of);
                }};
  };
  return {unit("in-a-row", ClockKind::kGpu), unit("waited-for", ClockKind::kBoth), unit("host", ClockKind::kHost),
          graph("graph", ClockKind::kGpu), graph("host-graph", ClockKind::kHost)};
}

}  // namespace slmsim::calibrate
