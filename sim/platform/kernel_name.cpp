#include "sim/platform/kernel_name.h"

namespace slmsim {

const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = {"gemm-nn", "gemm-nt", "gemm-tn", "adam", "adam_foreach", "adam_single"};
    for (const char* family : {"softmax", "fused_softmax", "mask", "dropout", "norm", "rmsnorm", "bias", "rotary",
                               "gelu", "swiglu", "residual", "addition", "embedding", "loss", "flash"}) {
      for (const char* pass : {"-forward", "-backward"}) names.push_back(std::string(family) + pass);
    }
    return names;
  }();
  return kNames;
}

}  // namespace slmsim
