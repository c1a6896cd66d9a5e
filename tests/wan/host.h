// One end of an emulated wide-area path: a network namespace of its own with one TUN device in it.
//
// Enters: an address, an MTU. Leaves: sockets and kernel settings of that end, and the device's packets. The
// namespace has no name and no process of its own: the kernel removes it with its last descriptor, so nothing
// is left behind however the program ends. Needs root (CAP_SYS_ADMIN, CAP_NET_ADMIN) and /dev/net/tun.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace slmsim::wan {

// The machine does not let this program make namespaces or TUN devices; what() says which and why.
struct Forbidden : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return number_; }
  int release();

 private:
  int number_;
};

class Host {
 public:
  // The address is that of the host; every other of the same 24 bits is reached through the device.
  Host(const std::string& address, int mtu);

  const std::string& address() const { return address_; }
  int tun() const { return tun_.get(); }
  int name_space() const { return namespace_.get(); }  // for nsenter --net=/proc/PID/fd/N
  int mtu() const { return mtu_; }

  // Runs `what` on this thread inside the namespace.
  void inside(const std::function<void()>& what) const;
  // "net.ipv4.tcp_wmem", "4096 16384 4194304"; throws std::runtime_error if the kernel refuses it.
  void set(const std::string& setting, const std::string& value) const;
  std::string get(const std::string& setting) const;
  // A TCP socket of this host.
  Descriptor socket() const;

 private:
  std::string address_;
  int mtu_;
  Descriptor namespace_, tun_;
};

// A TCP connection between two hosts with this congestion control ("cubic", "bbr", ...) at its sending end. Throws
// std::runtime_error.
struct TcpConnection {
  Descriptor sender, receiver;
};
TcpConnection connect(const Host& from, const Host& to, std::uint16_t port, const std::string& congestion_control);

}  // namespace slmsim::wan
