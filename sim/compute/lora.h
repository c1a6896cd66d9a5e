// Low-rank adapters (LoRA: Hu et al., arXiv 2106.09685, section 4.1). The model's own weights are frozen; a product W x
// of n outputs and k inputs gets B A x added, with A of rank x k and B of n x rank. Only A and B are trained.
#pragma once

#include <string>
#include <vector>

namespace slmsim {

// Products with an adapter each; kUp of gated MLPs stands for both products before the gate.
enum class LoraTarget { kQuery, kKey, kValue, kOutput, kUp, kDown };
const std::vector<std::string>& lora_target_names();  // "query", "key", "value", "output", "up", "down"

struct Lora {
  int rank = 0;
  std::vector<LoraTarget> targets;

  bool operator==(const Lora&) const = default;
};

}  // namespace slmsim
