// Queues in front of a NIC: which packet it sends next, and which it drops.
//
// Enters: packets with the flow that they belong to. Leaves: the same, or nothing of what is dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>

#include "tests/wan/packet.h"

namespace slmsim::wan {

class Queue {
 public:
  explicit Queue(Slots& slots) : slots_(slots) {}
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  virtual void put(std::uint64_t flow, const Packet& packet) = 0;
  virtual std::optional<Packet> take(Nanoseconds time) = 0;
  std::uint64_t dropped() const { return dropped_; }

 protected:
  void drop(const Packet& packet) {
    ++dropped_;
    slots_.give(packet.data);
  }

 private:
  Slots& slots_;
  std::uint64_t dropped_ = 0;
};

// First in, first out; a packet that finds `limit` packets is dropped.
std::unique_ptr<Queue> make_fifo(Slots& slots, std::size_t limit);
// Flows take turns of 1514 B, each with CoDel (target 5 ms, interval 100 ms): fq_codel of Linux and RFC 8290, with a
// queue of its own for every flow.
std::unique_ptr<Queue> make_fair(Slots& slots);

}  // namespace slmsim::wan
