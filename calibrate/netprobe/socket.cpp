#include "calibrate/netprobe/socket.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "calibrate/common/text.h"
#include "calibrate/netprobe/failure.h"

namespace slmsim::calibrate::netprobe {
namespace {

struct Addresses {
  addrinfo* first = nullptr;
  Addresses(const std::string& host, int port, int flags) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first);
    if (failed != 0)
      throw NetworkError(format("cannot find host \"%s\": %s", printable(host).c_str(), gai_strerror(failed)));
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  ~Addresses() { freeaddrinfo(first); }
};

bool wait_for(int socket, short event, double seconds) {
  pollfd what{socket, event, 0};
  for (;;) {
    const int ready = poll(&what, 1, static_cast<int>(std::ceil(seconds * 1e3)));
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) throw NetworkError(with_reason("cannot wait"));
  }
}

// 0, or the error number.
int connect_within(int socket, const addrinfo& address, double seconds) {
  if (connect(socket, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(socket, POLLOUT, seconds)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

[[noreturn]] void silent(const char* what) {
  throw NetworkError(format("%s for %g s; is the other host still there?", what, kPatience));
}

// "::ffff:10.0.0.1" is IPv4.
template <class Ask>
std::string address_by(Ask ask, int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char name[NI_MAXHOST] = "";
  if (ask(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    getnameinfo(reinterpret_cast<sockaddr*>(&address), size, name, sizeof name, nullptr, 0, NI_NUMERICHOST);
  const std::string text = name;
  return text.starts_with("::ffff:") ? text.substr(7) : text;
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

using Clock = std::chrono::steady_clock;
double seconds_until(Clock::time_point end) { return std::chrono::duration<double>(end - Clock::now()).count(); }
Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Connection::Connection(Descriptor socket) : socket_(std::move(socket)) {
  const int one = 1;
  const auto give_up = static_cast<unsigned>(kPatience * 1e3);
  setsockopt(get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  setsockopt(get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &give_up, sizeof give_up);
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0) initial_window_ = info.tcpi_snd_cwnd;
}

bool Connection::wait(short event, double seconds) const {
  if (!meter_) return wait_for(get(), event, seconds);
  constexpr double kLook = 0.1;  // s between checks whether the session has ended
  const auto end = after(seconds);
  for (;;) {
    meter_->check();
    const double left = seconds_until(end);
    if (wait_for(get(), event, std::clamp(left, 0.0, kLook))) return true;
    if (left <= kLook) return false;
  }
}

void Connection::send_some(const char* data, std::size_t size, std::size_t& sent) const {
  const ssize_t now = send(get(), data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (now < 0 && !would_block()) throw NetworkError(with_reason("the connection broke while sending"));
  sent = static_cast<std::size_t>(std::max<ssize_t>(now, 0));
  count(static_cast<double>(sent));
  if (now < 0 && !wait_writable(kPatience)) silent("nothing could be sent");
}

void Connection::send_text(const std::string& text) const {
  for (std::size_t at = 0, sent = 0; at < text.size(); at += sent) send_some(text.data() + at, text.size() - at, sent);
}

void Connection::send_bytes(double bytes) const {
  static const std::vector<char> kZeros(kPiece);
  auto left = static_cast<std::uint64_t>(std::ceil(bytes));
  for (std::size_t sent = 0; left > 0; left -= sent)
    send_some(kZeros.data(), static_cast<std::size_t>(std::min<std::uint64_t>(left, kPiece)), sent);
}

void Connection::receive_bytes(double bytes) const {
  auto left = static_cast<std::uint64_t>(std::ceil(bytes));
  std::vector<char> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(left, kPiece)));
  const auto end = after(kPatience + bytes / kLeastRate);
  while (left > 0) {
    if (!wait_readable(kPatience)) silent("nothing came");
    const ssize_t got =
        recv(get(), buffer.data(), static_cast<std::size_t>(std::min<std::uint64_t>(left, kPiece)), MSG_DONTWAIT);
    if (got == 0) throw NetworkError("the other host closed the connection");
    if (got < 0 && !would_block()) throw NetworkError(with_reason("the connection broke while receiving"));
    const auto now = static_cast<std::uint64_t>(std::max<ssize_t>(got, 0));
    left -= now;
    count(static_cast<double>(now));
    if (left > 0 && Clock::now() > end)
      throw NetworkError(format("the message comes more slowly than %g bytes per second", kLeastRate));
  }
}

void Connection::drain() const {
  std::vector<char> buffer(kPiece);
  for (bool begun = false;;) {
    if (!wait_readable(begun ? kPatience / 3 : kPatience)) {
      if (begun) return;
      silent("nothing came");
    }
    const ssize_t got = recv(get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && !would_block())) return;
    begun = begun || got > 0;
    count(static_cast<double>(std::max<ssize_t>(got, 0)));
  }
}

std::string Connection::read_line(double patience) const {
  std::string line;
  auto end = after(patience);
  for (;;) {
    const double left = seconds_until(end);
    if (left <= 0 || !wait_readable(left))
      throw NetworkError(line.empty() ? format("no answer for %g s", patience)
                                      : format("a line without an end for %g s", kPatience));
    char c = 0;
    const ssize_t got = recv(get(), &c, 1, MSG_DONTWAIT);
    if (got < 0 && would_block()) continue;
    if (got == 0) throw NetworkError("the other host closed the connection");
    if (got < 0) throw NetworkError(with_reason("the connection broke"));
    if (c == '\n') return line;
    if (line.size() == kLongestLine)
      throw NetworkError("a line without an end; the other host speaks another protocol");
    if (line.empty()) end = after(kPatience);
    line += c;
  }
}

bool Connection::wait_readable(double seconds) const { return wait(POLLIN, seconds); }
bool Connection::wait_writable(double seconds) const { return wait(POLLOUT, seconds); }

void Connection::rest(double seconds) const {
  if (seconds > 0 && wait(POLLRDHUP, seconds)) throw NetworkError("the other host closed the connection");
}

void Connection::abort() {
  const linger drop{1, 0};
  setsockopt(get(), SOL_SOCKET, SO_LINGER, &drop, sizeof drop);
  socket_ = Descriptor{};
}

Connection connect_to(const std::string& host, int port) {
  const Addresses addresses(host, port, 0);
  int reason = 0;
  for (const addrinfo* one = addresses.first; one; one = one->ai_next) {
    Descriptor made{socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, one->ai_protocol)};
    reason = made.get() < 0 ? errno : connect_within(made.get(), *one, kPatience);
    if (reason == 0) return Connection(std::move(made));
  }
  errno = reason;
  const std::string where = format("cannot connect to %s port %d", printable(host).c_str(), port);
  throw NetworkError(with_reason(where) + (reason == ECONNREFUSED
                                               ? "; is \"slmsim-netprobe server\" running there?"
                                               : "; is the host up, and does a firewall let the port through?"));
}

Descriptor listen_on(const std::string& address, int port) {
  // "::" accepts IPv4 too; a machine without IPv6 has only 0.0.0.0.
  const std::vector<std::string> all =
      address.empty() ? std::vector<std::string>{"::", "0.0.0.0"} : std::vector{address};
  int reason = 0;
  for (const auto& name : all) {
    const Addresses addresses(name, port, AI_PASSIVE);
    Descriptor made{socket(addresses.first->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const int yes = 1, no = 0;
    setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (name == "::") setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (made.get() >= 0 && bind(made.get(), addresses.first->ai_addr, addresses.first->ai_addrlen) == 0 &&
        listen(made.get(), 64) == 0)
      return made;
    reason = errno;
    if (reason == EADDRINUSE || reason == EACCES) break;
  }
  errno = reason;
  throw UsageError(with_reason(format("cannot listen on port %d", port)) + "; choose another with --port or --bind");
}

int port_of(const Descriptor& listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  // The port is at the same place in both protocols.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

std::string peer_of(int socket) { return address_by(getpeername, socket); }
std::string own_address_of(int socket) { return address_by(getsockname, socket); }

}  // namespace slmsim::calibrate::netprobe
