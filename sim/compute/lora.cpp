#include "sim/compute/lora.h"

namespace slmsim {

const std::vector<std::string>& lora_target_names() {
  static const std::vector<std::string> kNames = {"query", "key", "value", "output", "up", "down"};
  return kNames;
}

}  // namespace slmsim
