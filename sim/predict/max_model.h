// The largest model of a shape that fits: how many layers, by technique and group, and what is full then.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/memory/memory.h"

namespace slmsim {

inline constexpr std::int64_t kMostLayers = 4096;  // beyond that no model is looked at

struct LargestModel {
  std::string model;  // whose hidden size, heads, sequence and vocabulary it has
  const Technique* technique = nullptr;
  std::vector<std::string> group;
  std::int64_t layers = 0;  // 0: not even one fits
  double parameters = 0;
  std::vector<DeviceMemory> memory;  // with so many layers
  std::vector<Store> stores;
  std::string limit;  // what the next larger one does not find room for, or why there is none
};

// In the order of predict(): model, group, technique; on so many threads. More layers never need less memory, about as much more
// with each, so that few numbers of them are tried.
std::vector<LargestModel> largest_models(const Scenario& scenario, const Technique* only = nullptr,
                                         std::size_t threads = 1);

}  // namespace slmsim
