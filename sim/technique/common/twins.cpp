#include "sim/technique/common/twins.h"

namespace slmsim {

std::map<int, int> twins_of(const Fold& fold, const Platform& platform, const std::vector<int>& first,
                            const std::vector<int>& second) {
  std::map<int, int> twins, vms, back;
  const auto vm = [&](int device) { return platform.devices[device].vm; };
  for (std::size_t i = 0; i < first.size(); ++i) {
    const int a = first[i], b = second[i];
    if (fold.first(a) != fold.first(b)) return {};
    if (vms.try_emplace(vm(a), vm(b)).first->second != vm(b)) return {};
    if (back.try_emplace(vm(b), vm(a)).first->second != vm(a)) return {};
    twins[a] = b;
  }
  return twins;
}

}  // namespace slmsim
