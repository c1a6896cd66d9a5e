#include "sim/platform/kernel_name.h"

#include <algorithm>

namespace slmsim {

const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = {"gemm-nn", "gemm-nt", "gemm-tn", "adam", "adam_foreach", "adam_single"};
    for (const char* family : {"softmax", "fused_softmax", "mask", "dropout", "norm", "rmsnorm", "bias", "rotary",
                               "gelu", "swiglu", "residual", "addition", "embedding", "loss", "flash"}) {
      for (const char* pass : {"-forward", "-backward"}) names.push_back(std::string(family) + pass);
    }
    std::sort(names.begin(), names.end());
    return names;
  }();
  return kNames;
}

bool is_kernel(const std::string& name) {
  return std::binary_search(kernel_names().begin(), kernel_names().end(), name);
}

}  // namespace slmsim
