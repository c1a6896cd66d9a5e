#include "sim/import/timed_kernels.h"

#include "sim/cost/kernel.h"

namespace slmsim {

const std::set<std::string>& timed_kernels() {
  static const std::set<std::string> kNames = [] {
    std::set<std::string> names;
    // A small model of each family, with and without dropout, uses every kernel that its family has.
    for (std::size_t which = 0; which < 2 * family_names().size(); ++which) {
      const std::size_t family = which / 2;
      const Transformer model{.name = family_names()[family],
                              .family = static_cast<Family>(family),
                              .hidden = 64,
                              .heads = 4,
                              .kv_heads = 4,
                              .layers = 1,
                              .sequence = 16,
                              .vocabulary = 128,
                              .intermediate = 256,
                              .tied_embedding = true,
                              .dropout = which % 2 == 1};
      for (const auto& kernel : kernels_of(build_operator_graph(model), {1})) names.insert(kernel.shape.name);
    }
    return names;
  }();
  return kNames;
}

}  // namespace slmsim
