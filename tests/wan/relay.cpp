#include "tests/wan/relay.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <deque>
#include <poll.h>
#include <random>
#include <sched.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/wan/packet.h"

namespace slmsim::wan {
namespace {

constexpr std::uint64_t kMarkEvery = 16 * 1024;
constexpr double kLate = 2e-3;  // s

// One direction: reads packets from a device, keeps them until they are due, writes them to the other.
class Lane {
 public:
  Lane(int from, int to, const Direction& direction, int mtu, Slots& slots, RelayCount& count)
      : from_(from),
        to_(to),
        mtu_(static_cast<std::size_t>(mtu)),
        direction_(direction),
        slots_(slots),
        count_(count),
        random_(direction.seed) {
    draw_loss();
  }

  // True if there may be more to read.
  bool read_some() {
    for (int i = 0; i < kBatch; ++i) {
      char* data = slots_.take();
      const ssize_t size = read(from_, data, mtu_);
      if (size <= 0) {
        slots_.give(data);
        return false;
      }
      admit(data, static_cast<std::size_t>(size));
    }
    return true;
  }

  void write_due() {
    while (!waiting_.empty()) {
      const Nanoseconds time = now();
      if (waiting_.front().due > time) return;
      for (int i = 0; i < kBatch && !waiting_.empty() && waiting_.front().due <= time; ++i) {
        const Packet packet = waiting_.front();
        if (write(to_, packet.data, packet.size) < 0 && errno == EAGAIN) return;
        waiting_.pop_front();
        ++count_.packets;
        if (count_.bytes / kMarkEvery != (count_.bytes + packet.size) / kMarkEvery) {
          count_.curve.push_back({static_cast<double>(time) * kNano, count_.bytes + packet.size});
        }
        count_.bytes += packet.size;
        const double after = static_cast<double>(time - packet.due) * kNano;
        count_.latest = std::max(count_.latest, after);
        if (after > kLate) ++count_.late;
        slots_.give(packet.data);
      }
    }
  }

  Nanoseconds next_due() const { return waiting_.empty() ? INT64_MAX : waiting_.front().due; }

 private:
  void admit(char* data, std::size_t size) {
    const Nanoseconds time = now();
    Nanoseconds left = time;
    if (direction_.rate > 0) {
      const auto begin = std::max(time, busy_until_);
      if (static_cast<double>(begin - time) * kNano * direction_.rate > static_cast<double>(direction_.queue)) {
        ++count_.overflowed;
        return slots_.give(data);
      }
      left = busy_until_ = begin + std::llround(static_cast<double>(size) / direction_.rate / kNano);
    }
    if (until_loss_-- == 0) {
      draw_loss();
      ++count_.lost;
      return slots_.give(data);
    }
    double delay = direction_.delay;
    if (direction_.jitter > 0) delay += std::uniform_real_distribution(0.0, direction_.jitter)(random_);
    last_due_ = std::max(last_due_, left + static_cast<Nanoseconds>(std::llround(delay / kNano)));
    waiting_.push_back({last_due_, data, size});
  }

  void draw_loss() {
    until_loss_ = direction_.loss > 0 ? std::geometric_distribution<std::int64_t>(direction_.loss)(random_) : -1;
  }

  int from_, to_;
  std::size_t mtu_;
  Direction direction_;
  Slots& slots_;
  RelayCount& count_;
  std::mt19937_64 random_;
  std::int64_t until_loss_ = -1;
  Nanoseconds busy_until_ = 0, last_due_ = 0;
  std::deque<Packet> waiting_;
};

}  // namespace

void take_precedence() {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  sched_param priority{};
  priority.sched_priority = 1;
  sched_setscheduler(0, SCHED_RR, &priority);
}

Relay::Relay(const Host& a, const Host& b, const Direction& forward, const Direction& backward)
    : wake_(eventfd(0, EFD_CLOEXEC)) {
  if (wake_.get() < 0) throw std::runtime_error("cannot make an eventfd");
  thread_ = std::thread([=, this, tun_a = a.tun(), tun_b = b.tun(), mtu = std::max(a.mtu(), b.mtu())] {
    run(tun_a, tun_b, forward, backward, mtu);
  });
}

Relay::~Relay() { stop(); }

void Relay::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  eventfd_write(wake_.get(), 1);
  thread_.join();
}

void Relay::run(int tun_a, int tun_b, Direction forward, Direction backward, int mtu) {
  take_precedence();
  Slots slots(mtu);
  Lane out(tun_a, tun_b, forward, mtu, slots, count_[0]), back(tun_b, tun_a, backward, mtu, slots, count_[1]);
  pollfd ready[] = {{tun_a, POLLIN, 0}, {tun_b, POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  while (!stopping_) {
    const bool more_out = out.read_some();
    out.write_due();
    const bool more_back = back.read_some();
    back.write_due();
    if (more_out || more_back) continue;
    const Nanoseconds due = std::min(out.next_due(), back.next_due());
    const Nanoseconds left = due == INT64_MAX ? 1'000'000'000 : due - now();
    if (left < kSpin) continue;
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    ppoll(ready, 3, &timeout, nullptr);
  }
}

}  // namespace slmsim::wan
