// Carries packets between two hosts as a wide-area path would: delayed, limited in rate, queued, lost.
//
// Enters: two Hosts and what each direction does to a packet. Leaves: counts. One thread does both directions; a
// packet leaves (queue, rate) and arrives (delay, jitter) at dates reckoned from when it was read, in order.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/wan/host.h"

namespace slmsim::wan {

struct Direction {
  double delay = 0;                       // s, one way
  double jitter = 0;                      // s, added evenly from 0 to this; packets stay in order
  double rate = 0;                        // B/s of IP packets; 0: as fast as the relay can
  double loss = 0;                        // probability
  std::uint64_t seed = 1;                 // of loss and jitter
  std::int64_t queue = 64 * 1024 * 1024;  // bytes that may wait for the rate; more are dropped
};

// A point of the curve of delivered bytes over time.
struct Mark {
  double time = 0;  // s, CLOCK_MONOTONIC
  std::uint64_t bytes = 0;
};

struct RelayCount {
  std::uint64_t packets = 0, bytes = 0, lost = 0, overflowed = 0;
  std::uint64_t late = 0;   // delivered more than 2 ms after their date, which the path then did not have
  double latest = 0;        // s, the most that a packet was delivered after its date
  std::vector<Mark> curve;  // a mark for every 16 KiB
};

class Relay {
 public:
  Relay(const Host& a, const Host& b, const Direction& forward, const Direction& backward);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Stops and tells, per direction, what it did.
  void stop();
  const RelayCount& forward() const { return count_[0]; }
  const RelayCount& backward() const { return count_[1]; }

 private:
  void run(int tun_a, int tun_b, Direction forward, Direction backward, int mtu);

  std::atomic<bool> stopping_ = false;
  Descriptor wake_;
  RelayCount count_[2];
  std::thread thread_;
};

}  // namespace slmsim::wan
