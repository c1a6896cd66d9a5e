#include "calibrate/cuda/nccl.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <nccl.h>
#include <thread>
#include <unistd.h>

#include "calibrate/common/failure.h"
#include "calibrate/common/text.h"
#include "calibrate/cuda/check.h"
#include "calibrate/cuda/collective_data.h"
#include "calibrate/cuda/device.h"
#include "calibrate/gpu/rank.h"
#include "calibrate/gpu/runner.h"
#include "sim/base/name_in.h"

namespace slmsim::calibrate {
namespace {

constexpr double kPatience = 120;  // s that ranks wait for each other at the start

void check_nccl(ncclResult_t status, const char* what) {
  if (status != ncclSuccess)
    throw GpuError(format("%s: %s (NCCL_DEBUG=INFO shows more)", what, ncclGetErrorString(status)));
}

double wall() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

class Communicator {
 public:
  Communicator(const Device& device, const Rank& rank, const ncclUniqueId& id) : device_(device), rank_(rank) {
    check_nccl(ncclCommInitRank(&communicator_, rank.world, id, rank.rank), "ncclCommInitRank");
    check(cudaMalloc(reinterpret_cast<void**>(&shared_), kShared * sizeof(double)), "cudaMalloc");
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() {
    cudaFree(shared_);
    ncclCommDestroy(communicator_);
  }
  ncclComm_t get() const { return communicator_; }
  const Device& device() const { return device_; }
  const Rank& rank() const { return rank_; }

  // Combines values over all ranks: the largest (or the sum) of each. Every rank must call it.
  std::vector<double> agree(std::vector<double> values, ncclRedOp_t operation) const {
    const std::size_t bytes = values.size() * sizeof(double);
    const cudaStream_t stream = device_.stream();
    check(cudaMemcpyAsync(shared_, values.data(), bytes, cudaMemcpyHostToDevice, stream), "copying");
    check_nccl(ncclAllReduce(shared_, shared_, values.size(), ncclDouble, operation, communicator_, stream),
               "ncclAllReduce");
    check(cudaMemcpyAsync(values.data(), shared_, bytes, cudaMemcpyDeviceToHost, stream), "copying");
    device_.wait();
    return values;
  }

 private:
  static constexpr std::size_t kShared = 8;
  const Device& device_;
  const Rank rank_;
  ncclComm_t communicator_ = nullptr;
  double* shared_ = nullptr;
};

// Every rank gets the slowest one's times, so that the measuring loop decides the same everywhere.
class CollectiveTimer final : public Timer {
 public:
  CollectiveTimer(const Communicator& communicator, Collective collective, const Sizes& sizes)
      : communicator_(communicator),
        collective_(collective),
        sizes_(sizes),
        arrays_(communicator.device(), {sizes.sent * sizeof(float), sizes.received * sizeof(float)}) {
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
    const cudaStream_t stream = communicator_.device().stream();
    for (int set = 0; set < arrays_.sets(); ++set) {
      fill_for_rank(arrays_.at<float>(set, 0), sizes_.sent, communicator_.rank().rank, stream);
      check(cudaMemsetAsync(arrays_.at<float>(set, 1), 0, sizes_.received * sizeof(float), stream), "cudaMemset");
    }
    communicator_.device().wait();
  }
  CollectiveTimer(const CollectiveTimer&) = delete;
  CollectiveTimer& operator=(const CollectiveTimer&) = delete;
  ~CollectiveTimer() override {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }

  double run(int launches) override {
    const cudaStream_t stream = communicator_.device().stream();
    check(cudaEventRecord(start_, stream), "cudaEventRecord");
    for (int i = 0; i < launches; ++i) {
      launch(set_, stream);
      set_ = (set_ + 1) % arrays_.sets();
    }
    check(cudaEventRecord(stop_, stream), "cudaEventRecord");
    check(cudaEventSynchronize(stop_), "running a collective");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
    const auto agreed = communicator_.agree({static_cast<double>(milliseconds) * 1e-3, wall() - began_}, ncclMax);
    now_ = agreed[1];
    return agreed[0];
  }
  double now() override { return now_; }
  Clock clock() override { return communicator_.device().nvml().clock(); }

  // Number of wrong elements over all ranks, after at least one run.
  std::size_t wrong() const {
    const Rank& rank = communicator_.rank();
    const cudaStream_t stream = communicator_.device().stream();
    const float* const got = arrays_.at<float>(0, 1);
    std::size_t wrong = 0;
    const auto count = [&](std::size_t at, std::size_t many, std::size_t offset, int from) {
      wrong += count_wrong(got + at, many, offset, from, rank.world, stream);
    };
    switch (collective_) {
      case Collective::kAllReduce:
        count(0, sizes_.received, 0, -1);
        break;
      case Collective::kReduceScatter:
        count(0, sizes_.received, static_cast<std::size_t>(rank.rank) * sizes_.received, -1);
        break;
      case Collective::kAllGather:
        for (int from = 0; from < rank.world; ++from)
          count(static_cast<std::size_t>(from) * sizes_.sent, sizes_.sent, 0, from);
        break;
      case Collective::kBroadcast:
        count(0, sizes_.received, 0, 0);
        break;
      case Collective::kSendReceive:
        count(0, sizes_.received, 0, (rank.rank + rank.world - 1) % rank.world);
        break;
    }
    return static_cast<std::size_t>(communicator_.agree({static_cast<double>(wrong)}, ncclSum).front());
  }

 private:
  void launch(int set, cudaStream_t stream) {
    const float* const sent = arrays_.at<float>(set, 0);
    float* const received = arrays_.at<float>(set, 1);
    const ncclComm_t communicator = communicator_.get();
    const Rank& rank = communicator_.rank();
    switch (collective_) {
      case Collective::kAllReduce:
        check_nccl(ncclAllReduce(sent, received, sizes_.sent, ncclFloat, ncclSum, communicator, stream),
                   "ncclAllReduce");
        break;
      case Collective::kReduceScatter:
        check_nccl(ncclReduceScatter(sent, received, sizes_.received, ncclFloat, ncclSum, communicator, stream),
                   "ncclReduceScatter");
        break;
      case Collective::kAllGather:
        check_nccl(ncclAllGather(sent, received, sizes_.sent, ncclFloat, communicator, stream), "ncclAllGather");
        break;
      case Collective::kBroadcast:
        check_nccl(ncclBroadcast(sent, received, sizes_.sent, ncclFloat, 0, communicator, stream), "ncclBroadcast");
        break;
      case Collective::kSendReceive:
        check_nccl(ncclGroupStart(), "ncclGroupStart");
        check_nccl(ncclSend(sent, sizes_.sent, ncclFloat, (rank.rank + 1) % rank.world, communicator, stream),
                   "ncclSend");
        check_nccl(ncclRecv(received, sizes_.received, ncclFloat, (rank.rank + rank.world - 1) % rank.world,
                            communicator, stream),
                   "ncclRecv");
        check_nccl(ncclGroupEnd(), "ncclGroupEnd");
        break;
    }
  }

  const Communicator& communicator_;
  const Collective collective_;
  const Sizes sizes_;
  const Arrays arrays_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  int set_ = 0;
  double began_ = wall(), now_ = 0;
};

class Session {
 public:
  Session(const Options& options, double time_limit, const std::function<bool()>& stop,
          const std::function<void(const CollectiveResult&)>& report)
      : options_(options), time_limit_(time_limit), stop_(stop), report_(report) {}

  // One rank, in its own thread or its own process.
  void run(const Rank& rank, int device_number, const ncclUniqueId& id) {
    const Device device(device_number);
    const Communicator communicator(device, rank, id);
    const int hosts = static_cast<int>(communicator.agree({rank.local == 0 ? 1.0 : 0.0}, ncclSum).front());
    const double began = wall();
    const auto sizes = message_sizes(options_.least, options_.most);
    auto open = static_cast<double>(sizes.size() * options_.collectives.size());
    for (const Collective collective : options_.collectives) {
      for (const double size : sizes) {
        const auto agreed = communicator.agree({wall() - began, stop_() ? 1.0 : 0.0}, ncclMax);
        const double left = time_limit_ - agreed[0];
        const std::string name = name_in(collective_names(), collective) + " " + size_text(size);
        if (agreed[1] > 0) throw UsageError("interrupted");
        if (left <= 0) {
          leave_out(rank, name + ": time limit reached");
        } else {
          Rules rules = options_.rules;
          rules.time_limit = std::min(rules.time_limit, 3 * left / open);
          one(communicator, collective, size, hosts, rules, name);
        }
        --open;
      }
    }
  }

  NcclRun result;

 private:
  void leave_out(const Rank& rank, const std::string& sentence) {
    if (rank.rank == 0) result.left_out.push_back(sentence);
  }

  void one(const Communicator& communicator, Collective collective, double size, int hosts, const Rules& rules,
           const std::string& name) {
    const Rank& rank = communicator.rank();
    const Sizes sizes = sizes_of(collective, rank.world, size);
    // Where it does not fit on one rank, all leave it out.
    std::unique_ptr<CollectiveTimer> timer;
    std::string reason;
    try {
      timer = std::make_unique<CollectiveTimer>(communicator, collective, sizes);
    } catch (const MeasurementSkip& left_out) {
      reason = left_out.what();
    }
    if (communicator.agree({timer ? 0.0 : 1.0}, ncclMax).front() > 0)
      return leave_out(rank, name + ": " + (reason.empty() ? "another rank has no memory for it" : reason));
    const Measurement measured = measure(*timer, rules);
    const std::size_t wrong = timer->wrong();
    if (rank.rank != 0) return;
    const Summary& seconds = measured.seconds;
    result.results.push_back(
        {collective, rank.world, hosts, sizes.bytes, seconds.median, seconds.low, seconds.high, seconds.count, wrong});
    report_(result.results.back());
  }

  const Options& options_;
  const double time_limit_;
  const std::function<bool()>& stop_;
  const std::function<void(const CollectiveResult&)>& report_;
};

}  // namespace

std::string nccl_version() {
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) return "";
  // 2.8 and older: 2807; since 2.9: 21903.
  const int major = version >= 10000 ? version / 10000 : version / 1000;
  const int rest = version >= 10000 ? version % 10000 : version % 1000;
  return format("%d.%d.%d", major, rest / 100, rest % 100);
}

NcclRun measure_collectives(const Options& options, double time_limit, const std::function<bool()>& stop,
                            const std::function<void(const CollectiveResult&)>& report) {
  const int gpus = count_gpus();
  Session session(options, time_limit, stop, report);
  ncclUniqueId id{};
  if (const auto rank = rank_from(process_environment())) {
    if (rank->rank == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    std::string bytes(id.internal, sizeof id.internal);
    share_from_first(*rank, bytes, kPatience);
    std::memcpy(id.internal, bytes.data(), sizeof id.internal);
    session.run(*rank, rank->local % gpus, id);
    session.result.first = rank->rank == 0;
    return std::move(session.result);
  }
  const int ranks = options.gpus > 0 ? options.gpus : gpus;
  if (ranks > gpus) throw NoGpu(format("--gpus %d: this machine has %d", ranks, gpus));
  check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  if (ranks == 1) {
    session.run({0, 1, 0, "", 0}, options.device, id);
    return std::move(session.result);
  }
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(ranks));
  for (int i = 0; i < ranks; ++i) {
    threads.emplace_back([&session, &id, i, ranks] {
      try {
        session.run({i, ranks, i, "", 0}, i, id);
      } catch (const std::exception& error) {
        // The other ranks would wait for this one forever.
        std::fprintf(stderr, "slmsim-calibrate: error: GPU %d: %s\n", i, error.what());
        _exit(1);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return std::move(session.result);
}

}  // namespace slmsim::calibrate
