#include "tests/wan/host.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace slmsim::wan {
namespace {

constexpr char kDevice[] = "wan0", kLoopback[] = "lo";
// Packets that the device holds until the relay reads them: more than any window here, so that only the relay drops.
constexpr int kDeviceQueue = 65536;

std::string reason(const std::string& what) { return what + ": " + std::strerror(errno); }

void require(bool ok, const std::string& what) {
  if (ok) return;
  const bool forbidden = errno == EPERM || errno == EACCES || errno == ENOENT || errno == ENODEV || errno == ENOSYS;
  if (forbidden) throw Forbidden(reason(what));
  throw std::runtime_error(reason(what));
}

sockaddr_in address_of(const std::string& text, std::uint16_t port = 0) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1) throw std::runtime_error("not an address: " + text);
  return address;
}

Descriptor make_tun(const std::string& address, int mtu) {
  Descriptor tun{open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)};
  require(tun.get() >= 0, "cannot open /dev/net/tun");
  ifreq request{};
  std::copy(std::begin(kDevice), std::end(kDevice), request.ifr_name);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  require(ioctl(tun.get(), TUNSETIFF, &request) == 0, "cannot make a TUN device");
  const Descriptor control{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  require(control.get() >= 0, "cannot make a socket");
  const auto apply = [&](unsigned long what, const char* name) {
    require(ioctl(control.get(), what, &request) == 0, std::string("cannot set the device's ") + name);
  };
  const auto set_address = [&](unsigned long what, const std::string& text) {
    const sockaddr_in value = address_of(text);
    std::memcpy(&request.ifr_addr, &value, sizeof value);
    apply(what, "address");
  };
  set_address(SIOCSIFADDR, address);
  set_address(SIOCSIFNETMASK, "255.255.255.0");
  request.ifr_mtu = mtu;
  apply(SIOCSIFMTU, "MTU");
  request.ifr_qlen = kDeviceQueue;
  apply(SIOCSIFTXQLEN, "queue");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  apply(SIOCSIFFLAGS, "state");
  ifreq loopback{};  // through which programs of the same host reach each other
  std::copy(std::begin(kLoopback), std::end(kLoopback), loopback.ifr_name);
  loopback.ifr_flags = IFF_UP | IFF_RUNNING;
  require(ioctl(control.get(), SIOCSIFFLAGS, &loopback) == 0, "cannot bring the loopback device up");
  return tun;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) close(number_);
    number_ = other.release();
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

int Descriptor::release() { return std::exchange(number_, -1); }

// The namespace is made by a thread that ends at once, so that no other thread ever changes its own.
Host::Host(const std::string& address, int mtu) : address_(address), mtu_(mtu) {
  std::exception_ptr error;
  std::thread maker([&] {
    try {
      require(unshare(CLONE_NEWNET) == 0, "cannot make a network namespace");
      namespace_ = Descriptor{open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)};
      require(namespace_.get() >= 0, "cannot open the network namespace");
      tun_ = make_tun(address, mtu);
    } catch (...) {
      error = std::current_exception();
    }
  });
  maker.join();
  if (error) std::rethrow_exception(error);
}

void Host::inside(const std::function<void()>& what) const {
  std::exception_ptr error;
  std::thread visitor([&] {
    try {
      require(setns(namespace_.get(), CLONE_NEWNET) == 0, "cannot enter the network namespace");
      what();
    } catch (...) {
      error = std::current_exception();
    }
  });
  visitor.join();
  if (error) std::rethrow_exception(error);
}

namespace {

std::string path_of(std::string setting) {
  std::replace(setting.begin(), setting.end(), '.', '/');
  return "/proc/sys/" + setting;
}

}  // namespace

void Host::set(const std::string& setting, const std::string& value) const {
  inside([&] {
    std::ofstream file(path_of(setting));
    file << value << std::flush;
    if (!file) throw std::runtime_error(reason("cannot set " + setting + " to \"" + value + "\""));
  });
}

std::string Host::get(const std::string& setting) const {
  std::string value;
  inside([&] {
    std::ifstream file(path_of(setting));
    if (!std::getline(file, value)) throw std::runtime_error(reason("cannot read " + setting));
  });
  return value;
}

Descriptor Host::socket() const {
  Descriptor made;
  inside([&] { made = Descriptor{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}; });
  require(made.get() >= 0, "cannot make a socket");
  return made;
}

TcpConnection connect(const Host& from, const Host& to, std::uint16_t port, const std::string& congestion_control) {
  const auto check = [](bool ok, const char* what) {
    if (!ok) throw std::runtime_error(reason(what));
  };
  const Descriptor listener = to.socket();
  const int one = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  const sockaddr_in address = address_of(to.address(), port);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  check(bind(listener.get(), generic, sizeof address) == 0, "cannot bind");
  check(listen(listener.get(), 1) == 0, "cannot listen");
  TcpConnection made{from.socket(), Descriptor{}};
  const int sender = made.sender.get();
  check(setsockopt(sender, IPPROTO_TCP, TCP_CONGESTION, congestion_control.c_str(),
                   socklen_t(congestion_control.size())) == 0,
        "cannot set the congestion control");
  check(::connect(sender, generic, sizeof address) == 0, "cannot connect");
  made.receiver = Descriptor{accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  check(made.receiver.get() >= 0, "cannot accept");
  return made;
}

}  // namespace slmsim::wan
