// Colour refinement: elements of several kinds, each with a colour, are split until those of one colour have neighbours of
// equal colours. Only elements whose neighbours changed are described again, so that a difference costs as much as it
// reaches (Cardon and Crochemore, Theoretical Computer Science 19, 1982).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/hash_places.h"

namespace slmsim {

// Lists of numbers, one per key, in one array.
class Lists {
 public:
  // The pairs of key and item that `each` reports, which is called twice.
  template <class Each>
  Lists(std::size_t keys, Each each) : first_(keys + 1) {
    each([this](auto key, auto) { ++first_[static_cast<std::size_t>(key) + 1]; });
    for (std::size_t i = 0; i < keys; ++i) first_[i + 1] += first_[i];
    items_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    each(
        [&](auto key, auto item) { items_[next[static_cast<std::size_t>(key)]++] = static_cast<std::uint32_t>(item); });
  }
  std::span<const std::uint32_t> of(std::size_t key) const {
    return {items_.data() + first_[key], items_.data() + first_[key + 1]};
  }

 private:
  std::vector<std::uint32_t> first_, items_;
};

// Elements of one kind, whose colours are refined: those whose neighbours changed are described again.
class Refined {
 public:
  explicit Refined(std::vector<int> colours) : colours_(std::move(colours)), stale_(colours_.size(), true) {
    for (const int colour : colours_) {
      sizes_.resize(std::max(sizes_.size(), static_cast<std::size_t>(colour) + 1));
      count_ += sizes_[colour]++ == 0 ? 1 : 0;
    }
    again_.resize(colours_.size());
    std::iota(again_.begin(), again_.end(), std::uint32_t{0});
  }
  int operator[](std::size_t element) const { return colours_[element]; }
  std::size_t count() const { return count_; }
  std::vector<int> taken() { return std::move(colours_); }
  void describe_again(std::size_t element) {
    if (!stale_[element]) again_.push_back(static_cast<std::uint32_t>(element));
    stale_[element] = true;
  }

  // Splits colours by `describe(element, description)`, and calls `changed(element)` for elements with a new colour.
  // All elements of a colour had equal descriptions before; those that are not described again keep theirs, which
  // contains none of the new colours of others.
  template <class Describe, class Changed>
  bool split(Describe describe, Changed changed) {
    std::vector<std::uint32_t> again;
    again.swap(again_);
    struct Part {
      int colour = 0, size = 0;
    };
    std::vector<Part> parts;         // elements of a colour with equal descriptions
    SequenceNumbers<int> known;      // descriptions
    std::vector<int> left = sizes_;  // elements not described, per colour
    std::vector<std::uint32_t> part_of;
    part_of.reserve(again.size());
    std::vector<int> description;
    for (const std::uint32_t element : again) {
      stale_[element] = false;
      description.assign(1, colours_[element]);
      describe(element, description);
      const std::uint32_t part = known.number(description);
      if (part == parts.size()) parts.push_back({description.front()});
      ++parts[part].size;
      --left[description.front()];
      part_of.push_back(part);
    }
    // The largest part keeps the colour, unless elements that are not described do.
    std::vector<std::size_t> keeps(sizes_.size(), parts.size());
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if (left[parts[part].colour] > 0) continue;
      std::size_t& kept = keeps[parts[part].colour];
      if (kept == parts.size() || parts[part].size > parts[kept].size) kept = part;
    }
    for (std::size_t part = 0; part < parts.size(); ++part) {
      auto& [colour, size] = parts[part];
      if (keeps[colour] == part) continue;
      sizes_[colour] -= size;
      colour = static_cast<int>(sizes_.size());
      sizes_.push_back(size);
      ++count_;
    }
    bool moved = false;
    for (std::size_t i = 0; i < again.size(); ++i) {
      const int colour = parts[part_of[i]].colour;
      if (std::exchange(colours_[again[i]], colour) == colour) continue;
      moved = true;
      changed(again[i]);
    }
    return moved;
  }

 private:
  std::vector<int> colours_, sizes_;  // sizes_: elements of each colour
  std::size_t count_ = 0;             // of colours in use
  std::vector<bool> stale_;
  std::vector<std::uint32_t> again_;
};

}  // namespace slmsim
