// A hash table of indices into another container: open addressing (Knuth, The Art of Computer Programming, volume 3,
// section 6.4), with the hash beside the index, so that neither look-up nor growth accesses the elements themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

}  // namespace slmsim
