// The largest model of a shape that fits: number of layers by technique and group, and the memory that is full then.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/technique/common/memory.h"

namespace slmsim {

inline constexpr std::int64_t kMostLayers = 4096;  // largest number of layers that is tried

struct LargestModel {
  std::string model;  // gives hidden size, heads, sequence and vocabulary
  const Technique* technique = nullptr;
  std::vector<std::string> group;
  std::int64_t layers = 0;  // 0: not even one layer fits
  double parameters = 0;
  std::vector<DeviceMemory> memory;  // with that number of layers
  std::vector<Store> stores;
  std::string limit;  // the part of the next larger model that does not fit, or why there is none
};

// In the order of predict(): model, group, technique. `threads` run in parallel. Memory never falls with more layers and grows
// by about the same amount with each, so few numbers of layers are tried.
std::vector<LargestModel> largest_models(const Scenario& scenario, const Technique* only = nullptr,
                                         std::size_t threads = 1);

}  // namespace slmsim
