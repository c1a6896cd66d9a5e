#include "calibrate/netprobe/server.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <poll.h>
#include <random>
#include <sys/socket.h>
#include <thread>
#include <utility>

#include "calibrate/common/text.h"
#include "calibrate/netprobe/failure.h"
#include "calibrate/netprobe/session.h"

namespace slmsim::calibrate::netprobe {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostGuests = 64;     // connections before their first line
constexpr std::size_t kLongestHello = 128;  // bytes

constexpr double kGrace = 1;  // s
constexpr int kTries = 10;    // sessions that may begin, for each that may end well

// Compares in constant time, so that the time does not reveal how much of the token is right.
bool is_same(const std::string& a, const std::string& b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return different == 0;
}

void tell(const std::string& text) { std::fprintf(stderr, "slmsim-netprobe: %s\n", text.c_str()); }

// A connection whose first line is not complete.
struct PendingClient {
  Descriptor socket;
  std::string line;
  Clock::time_point deadline;
};

class Server {
 public:
  Server(const Descriptor& listener, const Limits& limits) : listener_(listener), limits_(limits) {}

  void run() {
    while (served_ < limits_.sessions) {
      end_session_if_over();
      if (served_ >= limits_.sessions) break;
      if (!session_ && begun_ >= kTries * limits_.sessions) {
        tell(format("%d sessions failed; exiting", begun_));
        break;
      }
      if (!session_ && since(idle_) > limits_.waiting) {
        tell(format("no client for %g s; exiting", limits_.waiting));
        break;
      }
      mind_session();
      std::vector<pollfd> ready{{listener_.get(), POLLIN, 0}};
      for (const auto& guest : guests_) ready.push_back({guest.socket.get(), POLLIN, 0});
      poll(ready.data(), ready.size(), 200);
      // Guests first: accepting adds some that were not polled.
      std::vector<PendingClient> stay;
      for (std::size_t i = 0; i < guests_.size(); ++i) {
        const bool waits = !(ready[i + 1].revents) || hear(guests_[i]);
        if (waits && Clock::now() < guests_[i].deadline) stay.push_back(std::move(guests_[i]));
      }
      guests_ = std::move(stay);
      if (ready[0].revents) accept_one();
    }
  }

 private:
  void accept_one() {
    Descriptor socket{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (socket.get() < 0) {
      // Out of descriptors, or the guest already left: the next one may succeed.
      if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return;
    }
    if (guests_.size() == kMostGuests) guests_.erase(guests_.begin());
    const auto patience = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kPatience));
    guests_.push_back({std::move(socket), "", Clock::now() + patience});
  }

  // True while the line may still become complete.
  bool hear(PendingClient& guest) {
    char buffer[kLongestHello];
    const ssize_t got = recv(guest.socket.get(), buffer, sizeof buffer, 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    guest.line.append(buffer, static_cast<std::size_t>(got));
    const auto end = guest.line.find('\n');
    if (end == std::string::npos)
      return guest.line.size() < kLongestHello &&
             guest.line.starts_with(std::string(kGreeting).substr(0, guest.line.size()));
    // A client that waits for the answer sends one line only.
    if (end + 1 == guest.line.size()) greet(std::move(guest.socket), words_of(guest.line));
    return false;
  }

  void greet(Descriptor socket, const std::vector<std::string>& words) {
    if (words.size() < 3 || words[0] != kGreeting) return;
    const std::string peer = peer_of(socket.get());
    Connection connection(std::move(socket));
    try {
      if (words[1] != std::to_string(kProtocol)) {
        connection.send_text(format("version %d\n", kProtocol));
        tell(format("%s speaks another version of the protocol; use the same program on both hosts", peer.c_str()));
      } else if (words[2] == "control" && (words.size() != 4 || !is_same(words[3], limits_.token))) {
        connection.send_text("refused\n");
        tell(format("%s: refused, wrong or no token", peer.c_str()));
      } else if (words[2] == "control" && session_) {
        connection.send_text("busy\n");
      } else if (words[2] == "control") {
        begin_session(std::move(connection), peer);
      } else if (words[2] == "data" && words.size() == 5 && session_ && peer == session_->peer() &&
                 is_same(words[3], session_->key())) {
        session_->attach(words[4], std::move(connection));
      }
    } catch (const NetworkError&) {
      // It left before its answer.
    }
  }

  void begin_session(Connection control, const std::string& peer) {
    tell(format("%s: measuring", peer.c_str()));
    session_ = std::make_unique<Session>(std::move(control), new_token(), limits_.bytes);
    over_ = false;
    well_ = false;
    closed_.reset();
    ++begun_;
    start_ = Clock::now();
    thread_ = std::thread([this, peer] {
      try {
        session_->run();
        well_ = true;
        tell(format("%s: done", peer.c_str()));
      } catch (const std::exception& error) {
        tell(format("%s: %s", peer.c_str(), error.what()));
      }
      over_ = true;
    });
  }

  static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

  // Ends a session whose time is up or whose client has left in the middle of a command.
  void mind_session() {
    if (!session_ || over_) return;
    if (since(start_) > limits_.seconds) session_->end("the session has reached its time limit (--max-time)");
    pollfd control{session_->control(), POLLRDHUP, 0};
    if (poll(&control, 1, 0) <= 0) {
      closed_.reset();
      return;
    }
    // A client leaves after its last answer, perhaps before the session has noticed that it was sent.
    if (!closed_) closed_ = Clock::now();
    const bool left = session_->at_work() || (control.revents & (POLLERR | POLLHUP));
    if (left && since(*closed_) > kGrace) session_->end("the client left");
  }

  void end_session_if_over() {
    if (!session_ || !over_) return;
    thread_.join();
    session_.reset();
    served_ += well_ ? 1 : 0;
    idle_ = Clock::now();
  }

  const Descriptor& listener_;
  const Limits& limits_;
  int begun_ = 0, served_ = 0;                     // sessions
  Clock::time_point start_, idle_ = Clock::now();  // start of the session; end of the last one
  std::optional<Clock::time_point> closed_;        // when the session's client was first seen to have left
  std::vector<PendingClient> guests_;
  std::unique_ptr<Session> session_;
  std::atomic<bool> over_ = false, well_ = false;
  std::thread thread_;
};

}  // namespace

std::string new_token() {
  std::random_device random;
  return format("%08x%08x%08x%08x", random(), random(), random(), random());
}

bool is_token(const std::string& text) {
  return text.size() >= kShortestToken && text.size() <= kLongestToken &&
         std::all_of(text.begin(), text.end(), is_name_letter);
}

void serve(const Descriptor& listener, const Limits& limits) { Server(listener, limits).run(); }

}  // namespace slmsim::calibrate::netprobe
