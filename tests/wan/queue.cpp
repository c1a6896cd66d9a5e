#include "tests/wan/queue.h"

#include <algorithm>
#include <cmath>

namespace slmsim::wan {
namespace {

class Fifo : public Queue {
 public:
  Fifo(Slots& slots, std::size_t limit) : Queue(slots), limit_(limit) {}

  void put(std::uint64_t, const Packet& packet) override {
    if (waiting_.size() >= limit_) return drop(packet);
    waiting_.push_back(packet);
  }

  std::optional<Packet> take(Nanoseconds) override {
    if (waiting_.empty()) return std::nullopt;
    const Packet packet = waiting_.front();
    waiting_.pop_front();
    return packet;
  }

 private:
  std::size_t limit_;
  std::deque<Packet> waiting_;
};

// RFC 8289, section 5, for one flow.
struct Codel {
  static constexpr Nanoseconds kTarget = 5'000'000, kInterval = 100'000'000;
  static constexpr std::int64_t kLeastBacklog = 1514;  // B: one packet is never a standing queue

  std::deque<Packet> waiting;
  std::int64_t backlog = 0;  // B
  Nanoseconds first_above = 0, next_drop = 0;
  std::uint32_t count = 0, last_count = 0;
  bool dropping = false;

  static Nanoseconds later(Nanoseconds time, std::uint32_t drops) {
    return time + static_cast<Nanoseconds>(static_cast<double>(kInterval) / std::sqrt(drops));
  }

  std::optional<Packet> pop() {
    if (waiting.empty()) {
      first_above = 0;
      return std::nullopt;
    }
    const Packet packet = waiting.front();
    waiting.pop_front();
    backlog -= static_cast<std::int64_t>(packet.size);
    return packet;
  }

  // True if packets have waited longer than the target for an interval.
  bool above(const std::optional<Packet>& packet, Nanoseconds time) {
    if (!packet || time - packet->due < kTarget || backlog <= kLeastBacklog) {
      first_above = 0;
      return false;
    }
    if (first_above == 0) {
      first_above = time + kInterval;
      return false;
    }
    return time >= first_above;
  }

  template <typename Drop>
  std::optional<Packet> take(Nanoseconds time, const Drop& drop) {
    std::optional<Packet> packet = pop();
    bool bad = above(packet, time);
    if (dropping) {
      if (!bad) dropping = false;
      while (dropping && time >= next_drop) {
        drop(*packet);
        ++count;
        packet = pop();
        bad = above(packet, time);
        if (bad) {
          next_drop = later(next_drop, count);
        } else {
          dropping = false;
        }
      }
    } else if (bad) {
      drop(*packet);
      packet = pop();
      above(packet, time);
      dropping = true;
      const std::uint32_t delta = count - last_count;
      count = delta > 1 && time - next_drop < 16 * kInterval ? delta : 1;
      next_drop = later(time, count);
      last_count = count;
    }
    return packet;
  }
};

class Fair : public Queue {
 public:
  using Queue::Queue;

  void put(std::uint64_t id, const Packet& packet) override {
    Flow& flow = flows_[id];
    flow.codel.waiting.push_back(packet);
    flow.codel.backlog += static_cast<std::int64_t>(packet.size);
    if (flow.listed) return;
    flow.listed = true;
    flow.credit = kQuantum;
    new_.push_back(&flow);
  }

  std::optional<Packet> take(Nanoseconds time) override {
    while (!new_.empty() || !old_.empty()) {
      const bool is_new = !new_.empty();
      std::list<Flow*>& turns = is_new ? new_ : old_;
      Flow* flow = turns.front();
      if (flow->credit <= 0) {
        flow->credit += kQuantum;
        old_.splice(old_.end(), turns, turns.begin());
        continue;
      }
      const auto packet = flow->codel.take(time, [this](const Packet& lost) { drop(lost); });
      if (packet) {
        flow->credit -= static_cast<std::int64_t>(packet->size);
        return packet;
      }
      if (is_new && !old_.empty()) {
        old_.splice(old_.end(), turns, turns.begin());
      } else {
        turns.pop_front();
        flow->listed = false;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::int64_t kQuantum = 1514;  // B
  struct Flow {
    Codel codel;
    std::int64_t credit = 0;
    bool listed = false;
  };
  std::map<std::uint64_t, Flow> flows_;
  std::list<Flow*> new_, old_;
};

}  // namespace

std::unique_ptr<Queue> make_fifo(Slots& slots, std::size_t limit) { return std::make_unique<Fifo>(slots, limit); }

std::unique_ptr<Queue> make_fair(Slots& slots) { return std::make_unique<Fair>(slots); }

}  // namespace slmsim::wan
