// Shared by the relays: packets in memory, and the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

namespace slmsim::wan {

using Nanoseconds = std::int64_t;  // CLOCK_MONOTONIC
constexpr double kNano = 1e-9;
// A date this near is waited for without sleeping: waking up takes about as long.
constexpr Nanoseconds kSpin = 20'000;
constexpr int kBatch = 64;  // packets read from one device before the others have their turn

inline Nanoseconds now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Nanoseconds{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Memory for packets; the one freed last is used first, while it is in the cache.
class Slots {
 public:
  explicit Slots(int size) : size_(static_cast<std::size_t>(size)) {}
  char* take() {
    if (free_.empty()) {
      blocks_.push_back(std::make_unique<char[]>(size_ * kPerBlock));
      for (std::size_t i = 0; i < kPerBlock; ++i) free_.push_back(blocks_.back().get() + i * size_);
    }
    char* slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give(char* slot) { free_.push_back(slot); }

 private:
  static constexpr std::size_t kPerBlock = 1024;
  std::size_t size_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<char*> free_;
};

struct Packet {
  Nanoseconds due;  // when it is to go on; in a queue: when it came
  char* data;
  std::size_t size;
};

// So that a busy machine does not delay every packet; without the right to this a relay still works.
void take_precedence();

}  // namespace slmsim::wan
