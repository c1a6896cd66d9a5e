#include "sim/search/group_space.h"

#include <algorithm>
#include <map>
#include <set>

namespace slmsim {
namespace {

constexpr std::size_t kMostOrdered = 4;
constexpr std::size_t kMostGroups = 4096;  // beyond, only the platform's order is tried

// GPUs of one VM that are alike.
struct Kind {
  int vm = 0;
  std::vector<int> devices;
};

std::vector<Kind> kinds_of(const Platform& platform, bool one_by_one) {
  std::vector<Kind> kinds;
  for (std::size_t vm = 0; vm < platform.vms.size(); ++vm) {
    const std::size_t first = kinds.size();
    for (int i = 0; i < platform.vms[vm].device_count; ++i) {
      const int device = platform.vms[vm].first_device + i;
      const auto& name = platform.devices[static_cast<std::size_t>(device)].gpu.name;
      const auto at = std::find_if(kinds.begin() + static_cast<long>(first), kinds.end(), [&](const Kind& kind) {
        return !one_by_one || platform.devices[static_cast<std::size_t>(kind.devices.front())].gpu.name == name;
      });
      (at == kinds.end() ? kinds.emplace_back(Kind{static_cast<int>(vm), {}}) : *at).devices.push_back(device);
    }
  }
  return kinds;
}

bool alike(const Platform& platform, const Kind& a, const Kind& b) {
  const Vm &x = platform.vms[static_cast<std::size_t>(a.vm)], &y = platform.vms[static_cast<std::size_t>(b.vm)];
  if (x.site != y.site || x.type.name != y.type.name || a.devices.size() != b.devices.size()) return false;
  for (std::size_t i = 0; i < a.devices.size(); ++i) {
    if (platform.devices[static_cast<std::size_t>(a.devices[i])].gpu.name !=
        platform.devices[static_cast<std::size_t>(b.devices[i])].gpu.name)
      return false;
  }
  return true;
}

using Counts = std::vector<std::size_t>;  // GPUs taken of each kind

// Of alike VMs the earlier ones take as many GPUs as the later ones or more. Only where a VM has one kind: others are told
// apart by their VM's other GPUs.
bool is_ordered(const Platform& platform, const std::vector<Kind>& kinds, const Counts& counts) {
  std::map<int, int> kinds_of_vm;
  for (const auto& kind : kinds) ++kinds_of_vm[kind.vm];
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (std::size_t j = i + 1; j < kinds.size(); ++j) {
      const bool single = kinds_of_vm[kinds[i].vm] == 1 && kinds_of_vm[kinds[j].vm] == 1;
      if (single && alike(platform, kinds[i], kinds[j]) && counts[i] < counts[j]) return false;
    }
  }
  return true;
}

std::vector<Counts> subsets(const Platform& platform, const std::vector<Kind>& kinds, bool one_by_one) {
  std::vector<Counts> out;
  Counts counts(kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) counts[i] = kinds[i].devices.size();
  // From all GPUs down to none, as an odometer.
  for (bool more = true; more && out.size() <= kMostGroups;) {
    const bool any = std::any_of(counts.begin(), counts.end(), [](std::size_t n) { return n > 0; });
    if (any && is_ordered(platform, kinds, counts)) out.push_back(counts);
    more = false;
    for (std::size_t i = kinds.size(); i-- > 0;) {
      if (counts[i] > 0) {
        counts[i] = one_by_one ? counts[i] - 1 : 0;
        more = true;
        break;
      }
      counts[i] = kinds[i].devices.size();
    }
  }
  for (std::size_t i = 0; i < kinds.size() && !one_by_one; ++i) {  // parts of a single VM
    for (std::size_t part = 1; part < kinds[i].devices.size(); part *= 2) {
      Counts alone(kinds.size(), 0);
      alone[i] = part;
      bool known = false;
      for (std::size_t j = 0; j < i; ++j) known = known || alike(platform, kinds[j], kinds[i]);
      if (!known) out.push_back(std::move(alone));
    }
  }
  return out;
}

// The VMs of a group, VM by VM in the platform's order.
struct Blocks {
  std::vector<std::vector<int>> devices;
  std::vector<int> sites;
};

Blocks blocks_of(const Platform& platform, const std::vector<Kind>& kinds, const Counts& counts) {
  Blocks blocks;
  int last = -1;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (counts[i] == 0) continue;
    if (kinds[i].vm != last) {
      blocks.devices.emplace_back();
      blocks.sites.push_back(platform.vms[static_cast<std::size_t>(kinds[i].vm)].site);
      last = kinds[i].vm;
    }
    const auto begin = kinds[i].devices.begin();
    blocks.devices.back().insert(blocks.devices.back().end(), begin, begin + static_cast<long>(counts[i]));
  }
  for (auto& devices : blocks.devices) std::sort(devices.begin(), devices.end());
  return blocks;
}

// What is put in order: VMs, or sites with all their VMs.
std::vector<std::vector<std::size_t>> units_of(const Blocks& blocks) {
  std::vector<std::vector<std::size_t>> units;
  std::map<int, std::size_t> unit_of_site;
  for (std::size_t b = 0; b < blocks.devices.size(); ++b) {
    if (blocks.devices.size() <= kMostOrdered) {
      units.push_back({b});
      continue;
    }
    const auto [at, is_new] = unit_of_site.try_emplace(blocks.sites[b], units.size());
    if (is_new) units.emplace_back();
    units[at->second].push_back(b);
  }
  return units;
}

Group group_of(const Platform& platform, const std::vector<int>& devices) {
  Group group;
  group.devices = devices;
  for (std::size_t i = 0; i < devices.size();) {
    const Device& device = platform.devices[static_cast<std::size_t>(devices[i])];
    const Vm& vm = platform.vms[static_cast<std::size_t>(device.vm)];
    std::size_t end = i;
    while (end < devices.size() && platform.devices[static_cast<std::size_t>(devices[end])].vm == device.vm) ++end;
    if (static_cast<int>(end - i) == vm.device_count) {
      group.names.push_back(vm.name);
    } else {
      for (std::size_t k = i; k < end; ++k)
        group.names.push_back(platform.devices[static_cast<std::size_t>(devices[k])].name);
    }
    i = end;
  }
  return group;
}

}  // namespace

std::vector<OrderedGroup> groups_to_search(const Platform& platform) {
  const bool one_by_one = platform.devices.size() <= kMostGpusOneByOne;
  const auto kinds = kinds_of(platform, one_by_one);
  const auto all = subsets(platform, kinds, one_by_one);
  std::vector<OrderedGroup> out;
  for (const auto& counts : all) {
    const Blocks blocks = blocks_of(platform, kinds, counts);
    const auto units = units_of(blocks);
    std::vector<std::size_t> order(units.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    do {
      std::vector<int> devices;
      for (const std::size_t unit : order) {
        for (const std::size_t block : units[unit])
          devices.insert(devices.end(), blocks.devices[block].begin(), blocks.devices[block].end());
      }
      const bool turned = order.front() != 0 || (order.size() > 2 && order[1] > order.back());
      out.push_back({group_of(platform, devices), turned});
    } while (units.size() <= kMostOrdered && out.size() < kMostGroups &&
             std::next_permutation(order.begin(), order.end()));
  }
  return out;
}

}  // namespace slmsim
