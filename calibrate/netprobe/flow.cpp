#include "calibrate/netprobe/flow.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <mutex>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>
#include <utility>

#include "calibrate/common/text.h"
#include "calibrate/netprobe/failure.h"

namespace slmsim::calibrate::netprobe {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kMicro = 1e-6;
constexpr std::chrono::milliseconds kWatch{5};  // between two readings of TCP_INFO

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Threads whose first error is thrown when they are joined.
class Workers {
 public:
  template <class Work>
  void start(Work work) {
    threads_.emplace_back([this, work] {
      try {
        work();
      } catch (...) {
        const std::lock_guard hold(mutex_);
        if (!error_) error_ = std::current_exception();
        failed_ = true;
      }
    });
  }
  bool failed() const { return failed_; }
  void join() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  ~Workers() {
    for (auto& thread : threads_) thread.join();
  }

 private:
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::atomic<bool> failed_ = false;
};

// Keeps the maximum over a connection; ends with its scope.
class Watch {
 public:
  Watch(const Connection& connection, Message& message)
      : thread_([this, &connection, &message] {
          do {
            const Flow flow = sample(connection);
            message.in_flight = std::max(message.in_flight, flow.in_flight);
            message.send_window = std::max(message.send_window, flow.send_window);
            message.congestion = std::max(message.congestion, flow.congestion);
            std::this_thread::sleep_for(kWatch);
          } while (!stop_);
        }) {}
  ~Watch() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

Flow sum(const std::vector<Connection>& connections, Stream& most) {
  Flow total;
  for (const auto& connection : connections) {
    const Flow flow = sample(connection);
    total.acknowledged += flow.acknowledged;
    total.segments += flow.segments;
    total.retransmitted += flow.retransmitted;
    total.spurious += flow.spurious;
    total.busy += flow.busy;
    total.receive_limited += flow.receive_limited;
    total.buffer_limited += flow.buffer_limited;
    most.in_flight = std::max(most.in_flight, flow.in_flight);
    most.send_window = std::max(most.send_window, flow.send_window);
    most.congestion = std::max(most.congestion, flow.congestion);
    most.segment = flow.segment;
    most.path_mtu = flow.path_mtu;
  }
  return total;
}

template <class Item, class Each>
void each_figure(Item& item, Each each) requires requires {
  item.congestion_before;
}
{
  each("seconds", item.seconds), each("pause", item.pause), each("rto", item.rto);
  each("initial_window", item.initial_window), each("congestion_before", item.congestion_before),
      each("threshold_before", item.threshold_before);
  each("in_flight", item.in_flight), each("send_window", item.send_window), each("congestion", item.congestion);
  each("segments", item.segments), each("retransmitted", item.retransmitted);
}

template <class Item, class Each>
void each_figure(Item& item, Each each) requires requires {
  item.first_half;
}
{
  each("seconds", item.seconds), each("bytes", item.bytes), each("first_half", item.first_half);
  each("in_flight", item.in_flight), each("send_window", item.send_window), each("congestion", item.congestion);
  each("segments", item.segments), each("retransmitted", item.retransmitted), each("spurious", item.spurious);
  each("receive_limited", item.receive_limited), each("buffer_limited", item.buffer_limited);
  each("segment", item.segment), each("path_mtu", item.path_mtu);
}

template <class Item>
std::string written(const Item& item) {
  std::string out;
  each_figure(item, [&](const char* name, double value) { out += format(" %s=%.12g", name, value); });
  return out;
}

template <class Item>
Item read_from(const std::vector<std::string>& words) {
  Item item;
  each_figure(item, [&](const std::string& name, double& value) {
    for (const auto& word : words) {
      if (!word.starts_with(name + "=")) continue;
      if (const auto number = parse_number(word.substr(name.size() + 1)); number && *number >= 0) {
        value = *number;
        return;
      }
    }
    throw NetworkError("the other host's answer lacks a valid \"" + name + "\"");
  });
  return item;
}

}  // namespace

Flow sample(const Connection& connection) {
  tcp_info info{};  // fields that an older kernel lacks stay 0
  socklen_t size = sizeof info;
  if (getsockopt(connection.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    throw NetworkError(with_reason("cannot read TCP_INFO"));
  // The kernel sends between two readings: the unsent bytes before or after are never less than at the reading in between.
  int before = 0, queued = 0, after = 0;
  ioctl(connection.get(), SIOCOUTQNSD, &before);
  ioctl(connection.get(), SIOCOUTQ, &queued);
  ioctl(connection.get(), SIOCOUTQNSD, &after);
  Flow flow;
  flow.segment = info.tcpi_snd_mss;
  flow.path_mtu = info.tcpi_pmtu;
  flow.rto = info.tcpi_rto * kMicro;
  flow.rtt = info.tcpi_rtt * kMicro;
  flow.least_rtt = info.tcpi_min_rtt * kMicro;
  flow.congestion = info.tcpi_snd_cwnd;
  flow.threshold = info.tcpi_snd_ssthresh;
  flow.send_window = info.tcpi_snd_wnd;
  flow.in_flight = std::max(0, queued - std::max(before, after));
  flow.acknowledged = static_cast<double>(info.tcpi_bytes_acked);
  flow.segments = info.tcpi_data_segs_out;
  flow.retransmitted = info.tcpi_total_retrans;
  flow.spurious = info.tcpi_dsack_dups;
  flow.busy = static_cast<double>(info.tcpi_busy_time) * kMicro;
  flow.receive_limited = static_cast<double>(info.tcpi_rwnd_limited) * kMicro;
  flow.buffer_limited = static_cast<double>(info.tcpi_sndbuf_limited) * kMicro;
  return flow;
}

Message send_message(const Connection& connection, double bytes, double pause, double rtt) {
  Message message;
  const auto idle = Clock::now();
  connection.rest(pause);
  message.pause = pause > 0 ? since(idle) : 0;
  const Flow before = sample(connection);
  message.initial_window = connection.initial_window();
  message.rto = before.rto;
  message.congestion_before = before.congestion;
  message.threshold_before = before.threshold;
  {
    const Watch watch(connection, message);
    const auto start = Clock::now();
    connection.send_bytes(bytes);
    connection.receive_bytes(1);
    message.seconds = std::max(since(start) - rtt / 2, 0.0);
  }
  const Flow after = sample(connection);
  message.segments = after.segments - before.segments;
  message.retransmitted = after.retransmitted - before.retransmitted;
  return message;
}

void receive_message(const Connection& connection, double bytes) {
  connection.receive_bytes(bytes);
  connection.send_text(".");
}

Stream send_stream(std::vector<Connection>& connections, double warm_up, double seconds, double pace) {
  Stream stream;
  if (pace > 0) {
    const auto each = static_cast<std::uint64_t>(pace / static_cast<double>(connections.size()));
    for (const auto& connection : connections) {
      // Kernels before 4.20 support 32 bits only.
      const auto narrow = static_cast<std::uint32_t>(std::min<std::uint64_t>(each, UINT32_MAX - 1));
      if (setsockopt(connection.get(), SOL_SOCKET, SO_MAX_PACING_RATE, &each, sizeof each) != 0 &&
          setsockopt(connection.get(), SOL_SOCKET, SO_MAX_PACING_RATE, &narrow, sizeof narrow) != 0)
        throw NetworkError(with_reason("the kernel cannot pace a connection"));
    }
  }
  std::atomic<bool> stop = false;
  Workers workers;
  for (const auto& connection : connections) {
    workers.start([&stop, &connection] {
      for (double last = 0; !stop;) {
        if (connection.wait_writable(0.1)) {
          static const std::vector<char> kZeros(kPiece);
          const auto sent = send(connection.get(), kZeros.data(), kZeros.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
          if (sent > 0) last = 0;
          connection.count(static_cast<double>(std::max<ssize_t>(sent, 0)));
          if (sent < 0 && errno != EAGAIN && errno != EINTR)
            throw NetworkError(with_reason("the connection broke while sending"));
        } else if ((last += 0.1) > kPatience) {
          throw NetworkError(format("nothing could be sent for %g s; is the other host still there?", kPatience));
        }
      }
    });
  }
  const auto watch_until = [&](Clock::time_point start, double end) {
    Flow flow;
    do {
      std::this_thread::sleep_for(4 * kWatch);
      flow = sum(connections, stream);
    } while (since(start) < end && !workers.failed());
    return flow;
  };
  watch_until(Clock::now(), warm_up);
  const auto start = Clock::now();
  const Flow before = sum(connections, stream);
  const double half = watch_until(start, seconds / 2).acknowledged;
  const double half_time = since(start);
  const Flow after = watch_until(start, seconds);
  stream.seconds = since(start);
  stop = true;
  workers.join();
  stream.bytes = after.acknowledged - before.acknowledged;
  stream.first_half = (half - before.acknowledged) * (stream.seconds / 2 / half_time);
  stream.segments = after.segments - before.segments;
  stream.retransmitted = after.retransmitted - before.retransmitted;
  stream.spurious = after.spurious - before.spurious;
  const double busy = after.busy - before.busy;
  if (busy > 0) {
    stream.receive_limited = (after.receive_limited - before.receive_limited) / busy;
    stream.buffer_limited = (after.buffer_limited - before.buffer_limited) / busy;
  }
  for (auto& connection : connections) connection.abort();
  return stream;
}

void receive_stream(const std::vector<Connection*>& connections) {
  Workers workers;
  for (const Connection* connection : connections) workers.start([connection] { connection->drain(); });
  workers.join();
}

std::string to_words(const Message& message) { return written(message); }
std::string to_words(const Stream& stream) { return written(stream); }
Message message_from(const std::vector<std::string>& words) { return read_from<Message>(words); }
Stream stream_from(const std::vector<std::string>& words) { return read_from<Stream>(words); }

}  // namespace slmsim::calibrate::netprobe
