// A hash table of indices into another container: open addressing (Knuth, The Art of Computer Programming, volume 3,
// section 6.4), with the hash beside the index, so that neither look-up nor growth accesses the elements themselves.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/hash.h"

namespace slmsim {

class HashPlaces {
 public:
  // The stored index with this hash for which `is(index)` holds; else adds and returns `next`.
  template <class Is>
  std::uint32_t find_or_add(std::uint32_t hash, std::uint32_t next, Is is) {
    if (2 * (count_ + 1) > places_.size()) grow();
    std::size_t at = free_or(hash, is);
    if (places_[at].number == kFree) {
      places_[at] = {hash, next};
      ++count_;
    }
    return places_[at].number;
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  struct Place {
    std::uint32_t hash = 0, number = kFree;
  };

  template <class Is>
  std::size_t free_or(std::uint32_t hash, Is is) const {
    std::size_t at = hash & (places_.size() - 1);
    while (places_[at].number != kFree && !(places_[at].hash == hash && is(places_[at].number)))
      at = (at + 1) & (places_.size() - 1);
    return at;
  }

  void grow() {
    std::vector<Place> old(places_.empty() ? 256 : 2 * places_.size());
    old.swap(places_);
    for (const Place& place : old) {
      if (place.number != kFree) places_[free_or(place.hash, [](std::uint32_t) { return false; })] = place;
    }
  }

  std::vector<Place> places_;  // size: a power of two
  std::size_t count_ = 0;
};

// Numbers sequences from 0 on, in the order in which they first come.
template <class Element>
class SequenceNumbers {
 public:
  std::uint32_t number(std::span<const Element> sequence) {
    std::uint64_t hash = sequence.size();
    for (const Element element : sequence) {
      hash = (hash ^ word_of(element)) * SplitMix64::kStep;  // Fibonacci hashing (Knuth, volume 3, section 6.4)
      hash ^= hash >> 32;
    }
    const auto next = static_cast<std::uint32_t>(size());
    const std::uint32_t known = places_.find_or_add(static_cast<std::uint32_t>(hash), next, [&](std::uint32_t number) {
      return std::equal(sequence.begin(), sequence.end(), all_.begin() + begins_[number],
                        all_.begin() + begins_[number + 1]);
    });
    if (known == next) {
      all_.insert(all_.end(), sequence.begin(), sequence.end());
      begins_.push_back(static_cast<std::ptrdiff_t>(all_.size()));
    }
    return known;
  }
  std::size_t size() const { return begins_.size() - 1; }

 private:
  static std::uint64_t word_of(int element) { return static_cast<std::uint32_t>(element); }
  static std::uint64_t word_of(double element) { return std::bit_cast<std::uint64_t>(element + 0.0); }  // -0 equals 0

  std::vector<Element> all_;
  std::vector<std::ptrdiff_t> begins_ = {0};  // and the last one's end
  HashPlaces places_;
};

}  // namespace slmsim
