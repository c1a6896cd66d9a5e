#include "sim/search/group_space.h"

#include <algorithm>
#include <functional>
#include <map>

namespace slmsim {
namespace {

constexpr std::size_t kMostOrdered = 4;
constexpr std::size_t kMostGroups = 4096;  // subsets; with their orders, beyond which only the platform's is tried

// Whether a node's inside treats these GPUs alike: with the two exchanged, links, crossings and volumes are the same.
bool are_exchangeable(const NodeInside& inside, int slot_a, int slot_b) {
  if (inside.empty()) return true;
  const auto gpus = inside.of_kind(PartKind::kGpu);
  const int a = gpus[slot_a], b = gpus[slot_b];
  const auto exchanged = [](int x, int first, int second) { return x == first ? second : x == second ? first : x; };
  NodeInside other = inside;
  for (auto& link : other.links) {
    link.from = exchanged(link.from, a, b);
    link.to = exchanged(link.to, a, b);
  }
  for (auto& crossing : other.crossings) crossing.part = exchanged(crossing.part, a, b);
  for (auto& volume : other.volumes) {
    for (int& slot : volume.gpus) slot = exchanged(slot, slot_a, slot_b);
    std::sort(volume.gpus.begin(), volume.gpus.end());
  }
  // Independent of the order in which they were written.
  const auto same_link = [](PartLink x, PartLink y) {
    if (x.from > x.to) std::swap(x.from, x.to);
    if (y.from > y.to) std::swap(y.from, y.to);
    return x == y;
  };
  const auto same_volume = [](const Volume& x, Volume y) {
    std::sort(y.gpus.begin(), y.gpus.end());
    return x == y;
  };
  return std::is_permutation(other.links.begin(), other.links.end(), inside.links.begin(), inside.links.end(),
                             same_link) &&
         std::is_permutation(other.crossings.begin(), other.crossings.end(), inside.crossings.begin(),
                             inside.crossings.end()) &&
         std::equal(other.volumes.begin(), other.volumes.end(), inside.volumes.begin(), inside.volumes.end(),
                    same_volume);
}

using Counts = std::vector<std::size_t>;

// One VM: its GPUs by class, and the VMs equivalent to it.
struct Block {
  int site = 0, kind = 0;                 // equal VMs have both in common
  std::vector<std::vector<int>> devices;  // for each class of equal GPUs
  int alike = -1;                         // index of the last equal one before it; -1: none
};

std::vector<Block> blocks_of(const Platform& platform, bool one_by_one) {
  const std::vector<int> gpus = gpu_kinds(platform), vms = vm_kinds(platform);
  std::vector<Block> blocks(platform.vms.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Vm& vm = platform.vms[i];
    Block& block = blocks[i];
    block.site = vm.site;
    block.kind = vms[i];
    for (int device = vm.first_device; device < vm.first_device + vm.device_count; ++device) {
      const auto at = std::find_if(block.devices.begin(), block.devices.end(), [&](const std::vector<int>& some) {
        const int other = some.front();
        return !one_by_one || (gpus[other] == gpus[device] &&
                               are_exchangeable(vm.type.inside, other - vm.first_device, device - vm.first_device));
      });
      (at == block.devices.end() ? block.devices.emplace_back() : *at).push_back(device);
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (blocks[j].site == block.site && blocks[j].kind == block.kind) block.alike = static_cast<int>(j);
    }
  }
  return blocks;
}

// Number of GPUs from each class of each VM.
using Subset = std::vector<Counts>;

// The next smaller set of a VM's GPUs, as an odometer; false where none is left.
bool step_down(const Block& block, bool one_by_one, Counts& counts) {
  for (std::size_t i = counts.size(); i-- > 0;) {
    if (counts[i] > 0) {
      counts[i] = one_by_one ? counts[i] - 1 : 0;
      return true;
    }
    counts[i] = block.devices[i].size();
  }
  return false;
}

// Most GPUs that a VM may take: those that the equal VM before it takes, so that no subset appears twice.
Counts most_of(const Block& block, const Subset& subset) {
  if (block.alike >= 0) return subset[block.alike];
  Counts all;
  for (const auto& devices : block.devices) all.push_back(devices.size());
  return all;
}

// From all GPUs down to one; nothing where there are more than kMostGroups.
std::vector<Subset> all_subsets(const std::vector<Block>& blocks, bool one_by_one) {
  std::vector<Subset> out;
  Subset subset;
  for (const Block& block : blocks) subset.push_back(most_of(block, subset));
  for (bool more = true; more;) {
    if (out.size() > kMostGroups) return {};
    out.push_back(subset);
    std::size_t last = blocks.size();
    for (more = false; !more && last-- > 0;) more = step_down(blocks[last], one_by_one, subset[last]);
    for (std::size_t i = last + 1; more && i < blocks.size(); ++i) subset[i] = most_of(blocks[i], subset);
  }
  return out;
}

// Equal VMs, by index.
std::vector<std::vector<std::size_t>> kinds_of(const std::vector<Block>& blocks) {
  std::vector<std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].devices.empty()) continue;
    const auto at = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) {
      return blocks[i].alike >= 0 && kind.back() == static_cast<std::size_t>(blocks[i].alike);
    });
    (at == kinds.end() ? kinds.emplace_back() : *at).push_back(i);
  }
  return kinds;
}

// Counts for a kind: all, ..., 4, 2, 1, none.
Counts thinned(std::size_t most) {
  Counts out = {most};
  std::size_t power = 1;
  while (power * 2 < most) power *= 2;
  for (; power > 0 && most > 1; power /= 2) out.push_back(power);
  out.push_back(0);
  return out;
}

// Numbers of VMs of each kind: with the counts of `of`, those that differ in the fewest kinds from all or from none.
std::vector<Counts> near_all_or_none(const std::vector<Counts>& of, std::size_t most) {
  std::vector<Counts> out;
  Counts all, none(of.size(), 0);
  for (const auto& counts : of) all.push_back(counts.front());
  out.push_back(all);
  // Each differs from its predecessor in a later kind, so that none appears twice from one side.
  struct Step {
    Counts counts;
    std::size_t next = 0;
  };
  std::vector<Step> fewer = {{all, 0}}, more = {{none, 0}};
  const auto widen = [&](std::vector<Step>& from, const Counts& base) {
    std::vector<Step> wider;
    for (const Step& step : from) {
      for (std::size_t kind = step.next; kind < of.size(); ++kind) {
        for (const std::size_t count : of[kind]) {
          if (count == base[kind] || out.size() >= most) continue;
          wider.push_back({step.counts, kind + 1});
          wider.back().counts[kind] = count;
          out.push_back(wider.back().counts);
        }
      }
    }
    from = std::move(wider);
  };
  while (out.size() < most && !(fewer.empty() && more.empty())) {
    widen(more, none);
    widen(fewer, all);
  }
  std::sort(out.begin() + 1, out.end(), std::greater<>());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// A selection where there are too many subsets.
std::vector<Subset> some_subsets(const std::vector<Block>& blocks) {
  const auto kinds = kinds_of(blocks);
  std::vector<Counts> of;
  of.reserve(kinds.size());
  for (const auto& kind : kinds) of.push_back(thinned(kind.size()));
  std::vector<Subset> out;
  for (const Counts& counts : near_all_or_none(of, kMostGroups)) {
    Subset subset;
    for (const Block& block : blocks) subset.emplace_back(block.devices.size(), 0);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      for (std::size_t n = 0; n < counts[k]; ++n) {
        const std::size_t vm = kinds[k][n];
        for (std::size_t d = 0; d < subset[vm].size(); ++d) subset[vm][d] = blocks[vm].devices[d].size();
      }
    }
    out.push_back(std::move(subset));
  }
  return out;
}

// `all`: whether none was left out.
std::vector<Subset> subsets(const std::vector<Block>& blocks, bool one_by_one, bool& all) {
  std::vector<Subset> out = all_subsets(blocks, one_by_one);
  all = !out.empty();
  if (!all) out = some_subsets(blocks);
  Subset none;
  for (const Block& block : blocks) none.emplace_back(block.devices.size(), 0);
  std::erase(out, none);
  for (std::size_t i = 0; i < blocks.size() && !one_by_one; ++i) {  // parts of a single VM
    if (blocks[i].alike >= 0 || blocks[i].devices.empty()) continue;
    for (std::size_t part = 1; part < blocks[i].devices.front().size(); part *= 2) {
      out.push_back(none);
      out.back()[i] = {part};
    }
  }
  return out;
}

// The VMs of a group in the platform's order.
struct GroupVms {
  std::vector<std::vector<int>> devices;      // VM by VM
  std::vector<std::pair<int, Counts>> kinds;  // with the site: equal where an exchange changes nothing
  std::vector<int> sites;
};

GroupVms vms_of(const std::vector<Block>& blocks, const Subset& subset) {
  GroupVms out;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::vector<int> devices;
    for (std::size_t k = 0; k < subset[i].size(); ++k) {
      const auto begin = blocks[i].devices[k].begin();
      devices.insert(devices.end(), begin, begin + static_cast<long>(subset[i][k]));
    }
    if (devices.empty()) continue;
    std::sort(devices.begin(), devices.end());
    out.devices.push_back(std::move(devices));
    out.sites.push_back(blocks[i].site);
    out.kinds.emplace_back(blocks[i].kind, subset[i]);
  }
  return out;
}

// Whether equal VMs are in the platform's order.
bool is_first_of_equal(const GroupVms& vms, const std::vector<int>& order_of_vms) {
  for (std::size_t i = 0; i < order_of_vms.size(); ++i) {
    for (std::size_t j = i + 1; j < order_of_vms.size(); ++j) {
      const int a = order_of_vms[i], b = order_of_vms[j];
      if (a > b && vms.sites[a] == vms.sites[b] && vms.kinds[a] == vms.kinds[b]) return false;
    }
  }
  return true;
}

// Units to order: VMs, or sites with all their VMs.
std::vector<std::vector<std::size_t>> units_of(const GroupVms& vms) {
  std::vector<std::vector<std::size_t>> units;
  std::map<int, std::size_t> unit_of_site;
  for (std::size_t b = 0; b < vms.devices.size(); ++b) {
    if (vms.devices.size() <= kMostOrdered) {
      units.push_back({b});
      continue;
    }
    const auto [at, is_new] = unit_of_site.try_emplace(vms.sites[b], units.size());
    if (is_new) units.emplace_back();
    units[at->second].push_back(b);
  }
  return units;
}

Group group_of(const Platform& platform, const std::vector<int>& devices) {
  Group group;
  group.devices = devices;
  for (std::size_t i = 0; i < devices.size();) {
    const Device& device = platform.devices[devices[i]];
    const Vm& vm = platform.vms[device.vm];
    std::size_t end = i;
    while (end < devices.size() && platform.devices[devices[end]].vm == device.vm) ++end;
    if (static_cast<int>(end - i) == vm.device_count) {
      group.names.push_back(vm.name);
    } else {
      for (std::size_t k = i; k < end; ++k) group.names.push_back(platform.devices[devices[k]].name);
    }
    i = end;
  }
  return group;
}

}  // namespace

SearchedGroups groups_to_search(const Platform& platform) {
  const bool one_by_one = platform.devices.size() <= kMostGpusOneByOne;
  const auto blocks = blocks_of(platform, one_by_one);
  SearchedGroups found;
  std::vector<OrderedGroup>& out = found.groups;
  for (const auto& subset : subsets(blocks, one_by_one, found.all)) {
    const GroupVms vms = vms_of(blocks, subset);
    const auto units = units_of(vms);
    std::vector<std::size_t> order(units.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    do {
      std::vector<int> devices, order_of_vms;
      for (const std::size_t unit : order) {
        for (const std::size_t vm : units[unit]) {
          devices.insert(devices.end(), vms.devices[vm].begin(), vms.devices[vm].end());
          order_of_vms.push_back(static_cast<int>(vm));
        }
      }
      if (!is_first_of_equal(vms, order_of_vms)) continue;
      const bool turned = order.front() != 0 || (order.size() > 2 && order[1] > order.back());
      out.push_back({group_of(platform, devices), turned, !std::is_sorted(order.begin(), order.end())});
    } while (units.size() <= kMostOrdered && out.size() < kMostGroups &&
             std::next_permutation(order.begin(), order.end()));
  }
  return found;
}

}  // namespace slmsim
