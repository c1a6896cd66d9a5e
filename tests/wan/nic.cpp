#include "tests/wan/nic.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "tests/wan/queue.h"

namespace slmsim::wan {
namespace {

constexpr std::size_t kQueueOfDevice = 1000;  // packets, Linux' txqueuelen
constexpr int kMtu = 1500;
constexpr std::uint16_t kPort = 5002;
constexpr std::size_t kPiece = 256 * 1024;  // B per send() and recv()

// Packets on their way to a host.
struct DelayLine {
  int tun = -1;
  Nanoseconds delay = 0;
  std::deque<Packet> waiting;
};

// The NIC of `from` and the paths to and from two others.
class Paths {
 public:
  Paths(const Host& from, const std::array<const Host*, 2>& to, const Sharing& what)
      : slots_(kMtu), wake_(eventfd(0, EFD_CLOEXEC)), from_(from.tun()) {
    if (what.queueing != "kernel") {
      rate_ = what.rate * 1e6 / 8;
      queue_ = what.queueing == "fair" ? make_fair(slots_) : make_fifo(slots_, kQueueOfDevice);
    }
    const std::array rtt = {what.near_rtt, what.far_rtt};
    for (std::size_t i = 0; i < to.size(); ++i) {
      inet_pton(AF_INET, to[i]->address().c_str(), &addresses_[i]);
      there_[i] = {to[i]->tun(), static_cast<Nanoseconds>(rtt[i] / 2 * 1e6), {}};
      back_[i] = {from_, there_[i].delay, {}};
    }
    thread_ = std::thread([this] { run(); });
  }

  ~Paths() { stop(); }
  Paths(const Paths&) = delete;
  Paths& operator=(const Paths&) = delete;

  std::uint64_t stop() {
    stopping_ = true;
    eventfd_write(wake_.get(), 1);
    if (thread_.joinable()) thread_.join();
    return queue_ ? queue_->dropped() : 0;
  }

 private:
  template <typename Admit>
  bool read_from(int tun, const Admit& admit) {
    for (int i = 0; i < kBatch; ++i) {
      char* data = slots_.take();
      const ssize_t size = read(tun, data, kMtu);
      if (size <= 0) {
        slots_.give(data);
        return false;
      }
      admit(Packet{now(), data, static_cast<std::size_t>(size)});
    }
    return true;
  }

  void send_off(Packet packet, Nanoseconds left) {
    std::uint32_t address = 0;  // IPv4, RFC 791: the destination is at byte 16
    std::memcpy(&address, packet.data + 16, sizeof address);
    DelayLine& line = there_[address == addresses_[0] ? 0 : 1];
    packet.due = left + line.delay;
    line.waiting.push_back(packet);
  }

  void enqueue(const Packet& packet) {
    if (!queue_) return send_off(packet, packet.due);
    std::uint64_t flow = 0;  // destination, and the two ports behind a header without options
    std::memcpy(&flow, packet.data + 16, sizeof flow);
    queue_->put(flow, packet);
  }

  // Sends what the NIC has had the time for.
  void drain() {
    if (!queue_) return;
    for (Nanoseconds time = now(); busy_until_ <= time;) {
      const auto packet = queue_->take(std::max(busy_until_, time));
      if (!packet) {
        idle_ = true;
        return;
      }
      idle_ = false;
      busy_until_ = std::max(busy_until_, packet->due) +
                    static_cast<Nanoseconds>(std::llround(static_cast<double>(packet->size) / rate_ / kNano));
      send_off(*packet, busy_until_);
    }
  }

  void deliver(DelayLine& line) {
    const Nanoseconds time = now();
    while (!line.waiting.empty() && line.waiting.front().due <= time) {
      const Packet packet = line.waiting.front();
      if (write(line.tun, packet.data, packet.size) < 0 && errno == EAGAIN) return;
      line.waiting.pop_front();
      slots_.give(packet.data);
    }
  }

  void run() {
    take_precedence();
    pollfd ready[] = {
        {from_, POLLIN, 0}, {there_[0].tun, POLLIN, 0}, {there_[1].tun, POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    while (!stopping_) {
      bool more = read_from(from_, [this](const Packet& packet) { enqueue(packet); });
      drain();
      for (std::size_t i = 0; i < there_.size(); ++i) {
        deliver(there_[i]);
        more |= read_from(there_[i].tun, [&](Packet packet) {
          packet.due += back_[i].delay;
          back_[i].waiting.push_back(packet);
        });
        deliver(back_[i]);
      }
      if (more) continue;
      Nanoseconds due = queue_ && !idle_ ? busy_until_ : INT64_MAX;
      for (const auto* lines : {&there_, &back_}) {
        for (const DelayLine& line : *lines) {
          if (!line.waiting.empty()) due = std::min(due, line.waiting.front().due);
        }
      }
      const Nanoseconds left = due == INT64_MAX ? 1'000'000'000 : due - now();
      if (left < kSpin) continue;
      const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
      ppoll(ready, std::size(ready), &timeout, nullptr);
    }
  }

  Slots slots_;
  Descriptor wake_;
  int from_;
  double rate_ = 0;  // B/s
  std::unique_ptr<Queue> queue_;
  std::array<std::uint32_t, 2> addresses_{};
  std::array<DelayLine, 2> there_, back_;
  Nanoseconds busy_until_ = 0;
  bool idle_ = true;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

// A connection that sends until its end is shut down.
struct Stream {
  TcpConnection connection;
  std::atomic<std::int64_t> received{0};
};

std::unique_ptr<Stream> open_stream(const Host& from, const Host& to) {
  auto stream = std::make_unique<Stream>();
  stream->connection = connect(from, to, kPort, "cubic");
  return stream;
}

void use_kernel_queue(const Host& host, double rate) {
  const std::string command =
      fmt::format("tc qdisc add dev wan0 root tbf rate {:.0f}mbit burst 128kb limit {}", rate, kQueueOfDevice * kMtu);
  host.inside([&] {
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  });
}

}  // namespace

Shares share(const Sharing& what, double from, double until) {
  const Host host("10.99.0.2", kMtu), near("10.99.0.3", kMtu), far("10.99.0.4", kMtu);
  const Case settings{.wmem = what.wmem, .rmem = what.rmem};
  for (const Host* each : {&host, &near, &far}) settle(*each, settings);
  if (what.queueing == "kernel") use_kernel_queue(host, what.rate);
  Paths paths(host, {&near, &far}, what);
  Shares shares;
  shares.far_ping = round_trip(host, far);
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < what.near_connections + what.far_connections; ++i) {
    streams.push_back(open_stream(host, i < what.near_connections ? near : far));
  }
  std::vector<std::future<void>> workers;
  for (auto& stream : streams) {
    workers.push_back(std::async(std::launch::async, [&stream] {
      const std::vector<char> zeros(kPiece);
      while (send(stream->connection.sender.get(), zeros.data(), zeros.size(), MSG_NOSIGNAL) > 0) continue;
    }));
    workers.push_back(std::async(std::launch::async, [&stream] {
      std::vector<char> buffer(kPiece);
      for (ssize_t got = 1; got > 0;) {
        got = recv(stream->connection.receiver.get(), buffer.data(), buffer.size(), 0);
        stream->received += std::max<ssize_t>(got, 0);
      }
    }));
  }
  const auto received = [&](bool is_near) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if ((i < static_cast<std::size_t>(what.near_connections)) == is_near) sum += streams[i]->received;
    }
    return static_cast<double>(sum);
  };
  std::this_thread::sleep_for(std::chrono::duration<double>(from));
  const Nanoseconds begin = now();
  const double near_before = received(true), far_before = received(false);
  std::this_thread::sleep_for(std::chrono::duration<double>(until - from));
  const double seconds = static_cast<double>(now() - begin) * kNano;
  shares.near = (received(true) - near_before) / seconds;
  shares.far = (received(false) - far_before) / seconds;
  for (auto& stream : streams) {
    shutdown(stream->connection.sender.get(), SHUT_RDWR);
    shutdown(stream->connection.receiver.get(), SHUT_RDWR);
  }
  for (auto& worker : workers) worker.get();
  shares.dropped = paths.stop();
  return shares;
}

}  // namespace slmsim::wan
