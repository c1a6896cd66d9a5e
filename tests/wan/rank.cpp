#include "tests/wan/rank.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

namespace slmsim::wan {
namespace {

std::string congestion;  // of every TCP socket that this process makes; empty: the kernel's default

}  // namespace
}  // namespace slmsim::wan

// Stands before libc's, so that Gloo's sockets get the case's congestion control. A namespace's default would do, but
// the kernel lets a namespace choose only among those that the whole machine allows.
extern "C" int socket(int domain, int type, int protocol) noexcept {
  const int made = static_cast<int>(syscall(SYS_socket, domain, type, protocol));
  const std::string& name = slmsim::wan::congestion;
  const bool is_tcp = made >= 0 && domain == AF_INET && (type & SOCK_STREAM) != 0;
  if (is_tcp && !name.empty() &&
      setsockopt(made, IPPROTO_TCP, TCP_CONGESTION, name.c_str(), static_cast<socklen_t>(name.size())) != 0) {
    close(made);
    return -1;
  }
  return made;
}

namespace slmsim::wan {
namespace {

constexpr std::chrono::seconds kPatience{120};
constexpr std::int64_t kLead = 5'000'000;  // ns from the last rank's arrival to the common start
constexpr std::uint32_t kTag = 1;

// Small whole numbers, so that sums are exact.
float value_of(int rank, std::size_t index) { return static_cast<float>(rank + 1) * static_cast<float>(index % 13); }

// One run's data and what is done with it.
struct Work {
  std::vector<float> data;
  std::function<void()> run;
  std::function<bool()> correct;
};

using Context = std::shared_ptr<gloo::rendezvous::Context>;

Work all_reduce(const Context& context, std::size_t count) {
  Work work;
  work.data.resize(count);
  for (std::size_t i = 0; i < count; ++i) work.data[i] = value_of(context->rank, i);
  float* data = work.data.data();
  work.run = [=] {
    gloo::AllreduceOptions options(context);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(data, count);
    void (*sum)(void*, const void*, const void*, std::size_t) = &gloo::sum<float>;
    options.setReduceFunction(sum);
    options.setTag(kTag);
    gloo::allreduce(options);
  };
  work.correct = [=, n = context->size] {
    for (std::size_t i = 0; i < count; ++i) {
      if (data[i] != static_cast<float>(n * (n + 1) / 2) * static_cast<float>(i % 13)) return false;
    }
    return true;
  };
  return work;
}

Work all_gather(const Context& context, std::size_t count) {
  Work work;
  const std::size_t share = count / static_cast<std::size_t>(context->size);
  work.data.resize(share * static_cast<std::size_t>(context->size));
  float* data = work.data.data();
  for (std::size_t i = 0; i < share; ++i) {
    data[static_cast<std::size_t>(context->rank) * share + i] = value_of(context->rank, i);
  }
  work.run = [=, size = work.data.size()] {
    gloo::AllgatherOptions options(context);
    options.setOutput(data, size);
    options.setTag(kTag);
    gloo::allgather(options);
  };
  work.correct = [=, n = context->size] {
    for (int rank = 0; rank < n; ++rank) {
      for (std::size_t i = 0; i < share; ++i) {
        if (data[static_cast<std::size_t>(rank) * share + i] != value_of(rank, i)) return false;
      }
    }
    return true;
  };
  return work;
}

Work reduce_scatter(const Context& context, std::size_t count) {
  Work work;
  work.data.resize(count);
  float* data = work.data.data();
  for (std::size_t i = 0; i < count; ++i) data[i] = value_of(context->rank, i);
  const std::size_t n = static_cast<std::size_t>(context->size), share = count / n;
  std::vector<int> shares(n, static_cast<int>(share));
  shares.back() += static_cast<int>(count - share * n);
  auto algorithm = std::make_shared<gloo::ReduceScatterHalvingDoubling<float>>(context, std::vector<float*>{data},
                                                                               static_cast<int>(count), shares);
  work.run = [algorithm] { algorithm->run(); };
  work.correct = [=, rank = static_cast<std::size_t>(context->rank)] {
    for (std::size_t i = 0; i < share; ++i) {
      if (data[i] != static_cast<float>(n * (n + 1) / 2) * static_cast<float>((rank * share + i) % 13)) return false;
    }
    return true;
  };
  return work;
}

Work send_receive(const Context& context, std::size_t count, int receiver) {
  Work work;
  const int sender = 0;
  if (context->rank == sender || context->rank == receiver) work.data.resize(count);
  float* data = work.data.data();
  const bool sends = context->rank == sender, receives = context->rank == receiver;
  if (sends) {
    for (std::size_t i = 0; i < count; ++i) data[i] = value_of(sender, i);
  }
  const std::shared_ptr<gloo::transport::UnboundBuffer> buffer =
      context->createUnboundBuffer(data, count * sizeof(float));
  work.run = [=] {
    if (sends) {
      buffer->send(receiver, kTag);
      buffer->waitSend();
    }
    if (receives) {
      buffer->recv(sender, kTag);
      buffer->waitRecv();
    }
  };
  work.correct = [=] {
    for (std::size_t i = 0; receives && i < count; ++i) {
      if (data[i] != value_of(sender, i)) return false;
    }
    return true;
  };
  return work;
}

Work work_of(const CollectiveCase& what, const Context& context) {
  const auto count = static_cast<std::size_t>(what.path.bytes) / sizeof(float);
  if (what.collective == "allreduce") return all_reduce(context, count);
  if (what.collective == "allgather") return all_gather(context, count);
  if (what.collective == "reducescatter") return reduce_scatter(context, count);
  if (what.collective == "sendrecv") return send_receive(context, count, context->size / 2);
  if (what.collective == "localsend") return send_receive(context, count, 1);
  throw std::runtime_error("no such collective: " + what.collective);
}

// Waits until all have arrived and then for the date that the last of them set.
void meet(Meeting& meeting, int run, int ranks) {
  if (meeting.arrived[run].fetch_add(1) + 1 == ranks) meeting.start[run] = now_ns() + kLead;
  while (meeting.start[run] == 0) {
    if (meeting.failed) throw std::runtime_error("another rank failed");
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  const std::int64_t start = meeting.start[run];
  const timespec date{start / 1'000'000'000, start % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &date, nullptr);
}

}  // namespace

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void run_rank(const CollectiveCase& what, int rank, const std::string& address, const std::string& folder,
              Meeting& meeting) {
  while (meeting.arrived[kRuns] == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  congestion = what.path.congestion;
  gloo::transport::tcp::attr attributes(address.c_str());
  std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(folder);
  const auto context = std::make_shared<gloo::rendezvous::Context>(rank, what.ranks);
  context->setTimeout(kPatience);
  context->connectFullMesh(store, device);
  std::vector<Work> works;
  for (int run = 0; run < kRuns; ++run) works.push_back(work_of(what, context));
  for (int run = 0; run < kRuns; ++run) {
    meet(meeting, run, what.ranks);
    works[run].run();
    meeting.finish[run][rank] = now_ns();
  }
  for (const Work& work : works) {
    if (!work.correct()) throw std::runtime_error("rank " + std::to_string(rank) + ": wrong result");
  }
  // Connections close only when all are done: a closed one fails the peer's last reads.
  meeting.arrived[kRuns].fetch_add(1);
  while (meeting.arrived[kRuns] < what.ranks + 1 && !meeting.failed) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace slmsim::wan
