#include "tests/wan/transfer.h"

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <future>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <memory>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>

namespace slmsim::wan {
namespace {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC, one for both ends
constexpr std::uint16_t kPort = 5001;
constexpr std::size_t kPiece = 256 * 1024;  // B per send() and recv()
constexpr int kPings = 5;
constexpr std::chrono::milliseconds kWatch{5};  // between looks at TCP_INFO
constexpr std::chrono::seconds kPatience{60};   // a transfer that makes no progress for so long has failed

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

[[noreturn]] void fail(const char* what) { throw std::runtime_error(std::string(what) + ": " + std::strerror(errno)); }

TcpConnection connect_patiently(const Host& from, const Host& to, const std::string& congestion_control) {
  TcpConnection made = connect(from, to, kPort, congestion_control);
  const int one = 1;
  const timeval patience{kPatience.count(), 0};
  for (const int end : {made.sender.get(), made.receiver.get()}) {
    setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  }
  return made;
}

Window look(const TcpConnection& connection) {
  const int sender = connection.sender.get();
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(sender, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) fail("cannot read TCP_INFO");
  Window window;
  window.segment = static_cast<int>(info.tcpi_snd_mss);
  window.rto = info.tcpi_rto * 1e-6;
  window.rtt = info.tcpi_rtt * 1e-6;
  window.least_rtt = info.tcpi_min_rtt * 1e-6;
  window.congestion = info.tcpi_snd_cwnd;
  window.slow_start_limit = info.tcpi_snd_ssthresh;
  window.send_window = info.tcpi_snd_wnd;
  window.retransmitted = info.tcpi_total_retrans;
  int queued = 0, not_sent = 0, buffer = 0;
  ioctl(sender, SIOCOUTQ, &queued);
  ioctl(sender, SIOCOUTQNSD, &not_sent);
  window.queued = queued;
  window.in_flight = queued - not_sent;
  size = sizeof buffer;
  getsockopt(sender, SOL_SOCKET, SO_SNDBUF, &buffer, &size);
  window.send_buffer = buffer;
  getsockopt(connection.receiver.get(), SOL_SOCKET, SO_RCVBUF, &buffer, &size);
  window.receive_buffer = buffer;
  return window;
}

void send_all(int socket, std::int64_t bytes) {
  static const std::vector<char> zeros(kPiece);
  while (bytes > 0) {
    const auto sent = send(socket, zeros.data(), static_cast<std::size_t>(std::min<std::int64_t>(bytes, kPiece)), 0);
    if (sent < 0 && errno != EINTR) fail("cannot send");
    bytes -= std::max<ssize_t>(sent, 0);
  }
}

void receive_all(int socket, std::int64_t bytes) {
  std::vector<char> buffer(kPiece);
  while (bytes > 0) {
    const auto got = recv(socket, buffer.data(), static_cast<std::size_t>(std::min<std::int64_t>(bytes, kPiece)), 0);
    if (got == 0 || (got < 0 && errno != EINTR)) fail("cannot receive");
    bytes -= std::max<ssize_t>(got, 0);
  }
}

double ping(const TcpConnection& connection) {
  double least = INFINITY;
  for (int i = 0; i < kPings; ++i) {
    const auto start = Clock::now();
    send_all(connection.sender.get(), 1);
    receive_all(connection.receiver.get(), 1);
    send_all(connection.receiver.get(), 1);
    receive_all(connection.sender.get(), 1);
    least = std::min(least, seconds_between(start, Clock::now()));
  }
  return least;
}

struct Run {
  Clock::time_point first_send, last_byte;
};

// Sends `bytes`, divided evenly, over all connections at once. The windows are those of the first connection.

Run send_over(const std::vector<TcpConnection>& connections, std::int64_t bytes, Window* after_send,
              std::vector<Window>* during) {
  const auto count = static_cast<std::int64_t>(connections.size());
  const std::int64_t share = bytes / count;
  std::vector<std::future<Clock::time_point>> receivers;
  std::vector<std::future<void>> senders;
  for (const auto& connection : connections) {
    receivers.push_back(std::async(std::launch::async, [&connection, share] {
      receive_all(connection.receiver.get(), share);
      return Clock::now();
    }));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // until the receivers wait
  Run run;
  run.first_send = Clock::now();
  for (std::int64_t i = 0; i < count; ++i) {
    const TcpConnection& connection = connections[i];
    senders.push_back(std::async(std::launch::async, [&connection, share, after = i == 0 ? after_send : nullptr] {
      const auto first = std::min<std::int64_t>(share, 32 * 1024);
      send_all(connection.sender.get(), first);
      if (after) *after = look(connection);
      send_all(connection.sender.get(), share - first);
    }));
  }
  if (during) {
    while (receivers[0].wait_for(kWatch) != std::future_status::ready) during->push_back(look(connections[0]));
  }
  for (auto& receiver : receivers) run.last_byte = std::max(run.last_byte, receiver.get());
  for (auto& sender : senders) sender.get();
  return run;
}

void wait_until_acknowledged(const std::vector<TcpConnection>& connections) {
  for (const auto& connection : connections) {
    while (look(connection).queued > 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

}  // namespace

void settle(const Host& host, const Case& what) {
  host.set("net.ipv4.tcp_wmem", "4096 16384 " + std::to_string(what.wmem));
  host.set("net.ipv4.tcp_rmem", "4096 " + std::to_string(what.rmem_initial) + " " + std::to_string(what.rmem));
  host.set("net.ipv4.tcp_slow_start_after_idle", "1");
  host.set("net.ipv4.tcp_no_metrics_save", "1");  // a connection must know nothing of the one before
}

double round_trip(const Host& from, const Host& to) { return ping(connect_patiently(from, to, "cubic")); }

Sample transfer(const Case& what, std::uint64_t seed) {
  const Host from("10.99.0.2", what.mtu), to("10.99.0.3", what.mtu);
  settle(from, what);
  settle(to, what);
  Direction forward{.delay = what.rtt / 2e3, .rate = what.rate * 1e6 / 8, .seed = seed};
  const Direction backward = forward;
  forward.loss = what.loss;
  const Relay relay(from, to, forward, backward);

  Sample sample;
  sample.path_rtt = ping(connect_patiently(from, to, what.congestion));
  std::vector<TcpConnection> connections;
  for (int i = 0; i < what.connections; ++i) connections.push_back(connect_patiently(from, to, what.congestion));
  Clock::time_point last_byte;
  if (what.warm_up > 0) {
    const Run warm_up = send_over(connections, what.warm_up, nullptr, nullptr);
    wait_until_acknowledged(connections);
    if (what.pause_timeouts > 0) {
      const std::chrono::duration<double> pause(what.pause_timeouts * look(connections[0]).rto);
      std::this_thread::sleep_until(warm_up.last_byte + std::chrono::duration_cast<Clock::duration>(pause));
    }
    last_byte = warm_up.last_byte;
  }
  sample.before = look(connections[0]);
  const Run run = send_over(connections, what.bytes, &sample.after_send, &sample.during);
  if (what.warm_up > 0) sample.pause = seconds_between(last_byte, run.first_send);
  sample.seconds = seconds_between(run.first_send, run.last_byte);
  for (const auto& connection : connections) sample.retransmitted += look(connection).retransmitted;
  return sample;
}

}  // namespace slmsim::wan
