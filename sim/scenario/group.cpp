#include "sim/scenario/group.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sim/base/text.h"

namespace slmsim {

namespace {

constexpr std::size_t kMostGroups = 1024;
constexpr const char *kAll = "all", *kPairs = "pairs", *kSites = "sites", *kEach = "each";

void add_vm(Group& group, const Vm& vm) {
  group.names.push_back(vm.name);
  for (int i = 0; i < vm.device_count; ++i) group.devices.push_back(vm.first_device + i);
}

class GroupReader {
 public:
  GroupReader(const Platform& platform, Reading& reading) : platform_(platform), reading_(reading) {}

  std::vector<Group> usual() {
    const std::size_t sites = sites_with_vms(platform_).size();
    const bool few = platform_.devices.size() <= kMostGpusOfSites;
    add_all({});
    if (few && sites <= kMostPairedSites) add_pairs({});
    if (few) add_sites({});
    add_each({});
    return std::move(groups_);
  }

  // A word, the name of a VM, GPU or site, or a list of such names.
  void read(const Node& item) {
    if (item.kind == Node::Kind::kScalar && is_word(item.scalar)) {
      add_word(item.scalar, item.place);
    } else if (item.kind == Node::Kind::kScalar) {
      add_named(item.place, {&item}, true);
    } else if (item.kind == Node::Kind::kSequence) {
      std::vector<const Node*> names;
      for (const auto& name : item.items) names.push_back(&name);
      add_named(names.empty() ? item.place : names.front()->place, names, false);
    } else {
      reading_.error(item.place,
                     "groups: expected \"all\", \"pairs\", \"sites\", \"each\", the name of a VM or site, or a list of "
                     "names such as [gat, amst]");
    }
  }

  std::vector<Group> groups() { return std::move(groups_); }

 private:
  // The name of a VM takes precedence over the words "sites" and "pairs".
  bool is_word(const std::string& text) const {
    if (text == kAll || text == kEach) return true;
    return (text == kPairs || text == kSites) &&
           std::ranges::none_of(platform_.vms, [&](const Vm& vm) { return vm.name == text; });
  }

  void add_word(const std::string& word, const Place& place) {
    if (word == kAll) return add_all(place);
    if (word == kEach) return add_each(place);
    if (word == kSites) return add_sites(place);
    if (sites_with_vms(platform_).size() < 2) {
      reading_.error(place, "groups: there are no pairs of sites, since all GPUs are at one site; leave it out");
      return;
    }
    add_pairs(place);
  }

  void add_all(const Place& place) {
    Group group;
    for (const auto& vm : platform_.vms) add_vm(group, vm);
    add(std::move(group), place);
  }

  void add_each(const Place& place) {
    for (const auto& vm : platform_.vms) {
      Group group;
      add_vm(group, vm);
      if (platform_.vms.size() > 1 || groups_.empty()) add(std::move(group), place);
    }
  }

  void add_sites(const Place& place) {
    for (const int site : sites_with_vms(platform_)) add(of_sites({site}), place);
  }

  void add_pairs(const Place& place) {
    const std::vector<int> sites = sites_with_vms(platform_);
    for (std::size_t a = 0; a < sites.size(); ++a) {
      // Only the first excessive group is reported; no further ones are made.
      for (std::size_t b = a + 1; b < sites.size() && reading_.errors.empty(); ++b)
        add(of_sites({sites[a], sites[b]}), place);
    }
  }

  Group of_sites(const std::set<int>& sites) const {
    Group group;
    for (const auto& vm : platform_.vms) {
      if (sites.contains(vm.site)) add_vm(group, vm);
    }
    return group;
  }

  // Whether a VM has the name of a site that is not its own.
  bool is_ambiguous(const std::string& name) const {
    const auto vm = std::ranges::find_if(platform_.vms, [&](const Vm& v) { return v.name == name; });
    const auto site = std::ranges::find_if(platform_.sites, [&](const Site& s) { return s.name == name; });
    return vm != platform_.vms.end() && site != platform_.sites.end() && vm->site != site - platform_.sites.begin();
  }

  // The group of a name, looked up among VMs, GPUs, ranges of VMs and sites, in that order.
  std::optional<Group> meaning_of(const std::string& name) const {
    Group group;
    const auto vm = std::ranges::find_if(platform_.vms, [&](const Vm& v) { return v.name == name; });
    const auto device = std::ranges::find_if(platform_.devices, [&](const Device& d) { return d.name == name; });
    const auto site = std::ranges::find_if(platform_.sites, [&](const Site& s) { return s.name == name; });
    if (vm != platform_.vms.end()) {
      add_vm(group, *vm);
    } else if (device != platform_.devices.end()) {
      group.names.push_back(device->name);
      group.devices.push_back(static_cast<int>(device - platform_.devices.begin()));
    } else if (const auto [begin, end] = range_of(name); begin < end) {
      for (std::size_t i = begin; i < end; ++i) add_vm(group, platform_.vms[i]);
    } else if (site != platform_.sites.end()) {
      group = of_sites({static_cast<int>(site - platform_.sites.begin())});
    } else {
      return std::nullopt;
    }
    return group;
  }

  // `words`: whether "all" and similar words are accepted here.
  void add_named(const Place& place, const std::vector<const Node*>& names, bool words) {
    Group group;
    for (const Node* node : names) {
      if (node->kind != Node::Kind::kScalar) {
        reading_.error(node->place, fmt::format("groups: {} inside a group; a group lists names of VMs, GPUs and sites",
                                                kind_name(node->kind)));
        return;
      }
      if (is_ambiguous(node->scalar)) {
        reading_.error(node->place, fmt::format("groups: \"{}\" is a VM and another site; rename one of them",
                                                node->scalar.substr(0, 64)));
        return;
      }
      const auto one = meaning_of(node->scalar);
      if (!one) {
        reading_.error(node->place,
                       fmt::format("groups: there is no VM, GPU or site \"{}\"; {}", node->scalar.substr(0, 64),
                                   did_you_mean(node->scalar, known_names(words))));
        return;
      }
      group.names.insert(group.names.end(), one->names.begin(), one->names.end());
      group.devices.insert(group.devices.end(), one->devices.begin(), one->devices.end());
    }
    if (std::set<int>(group.devices.begin(), group.devices.end()).size() != group.devices.size()) {
      reading_.error(place, "groups: a GPU is in one group twice; name each VM, GPU or site once");
      return;
    }
    if (group.devices.empty()) {
      reading_.error(place, "groups: a group without GPUs; name at least one");
      return;
    }
    add(std::move(group), place);
  }

  // The VMs from first to last for "node0..node127", in the platform's order, as a half-open range; empty where the
  // text is no range.
  std::pair<std::size_t, std::size_t> range_of(const std::string& text) const {
    const auto dots = text.find("..");
    if (dots == std::string::npos) return {0, 0};
    const auto& vms = platform_.vms;
    const auto find = [&](const std::string& name) {
      const auto found = std::ranges::find_if(vms, [&](const Vm& vm) { return vm.name == name; });
      return static_cast<std::size_t>(found - vms.begin());
    };
    const std::size_t first = find(text.substr(0, dots)), last = find(text.substr(dots + 2));
    return last < vms.size() && first <= last ? std::pair{first, last + 1} : std::pair<std::size_t, std::size_t>{0, 0};
  }

  std::vector<std::string> known_names(bool words) const {
    std::vector<std::string> names;
    if (words) names = {kAll, kPairs, kSites, kEach};
    for (const auto& vm : platform_.vms) names.push_back(vm.name);
    for (const auto& device : platform_.devices) names.push_back(device.name);
    for (const auto& site : platform_.sites) names.push_back(site.name);
    return names;
  }

  void add(Group group, const Place& place) {
    const auto same = [&](const Group& other) { return other.devices == group.devices; };
    if (group.devices.empty() || std::ranges::any_of(groups_, same)) return;
    if (groups_.size() == kMostGroups)
      reading_.error(place, fmt::format("more than {} groups; name those that matter", kMostGroups));
    if (groups_.size() < kMostGroups) groups_.push_back(std::move(group));
  }

  const Platform& platform_;
  Reading& reading_;
  std::vector<Group> groups_;
};

constexpr std::size_t kLeastInRange = 5;

// "node" and 12 for "node12"; nothing where the text does not end in a number in fmt's notation.
struct NumberedName {
  std::string stem;
  long number = 0;
};

std::optional<NumberedName> numbered(const std::string& name) {
  const auto digits = name.find_last_not_of("0123456789") + 1;
  NumberedName out{name.substr(0, digits), 0};
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + digits, end, out.number);
  if (read.ec != std::errc() || fmt::format("{}{}", out.stem, out.number) != name) return std::nullopt;
  return out;
}

}  // namespace

std::vector<Group> read_groups(Fields& fields, const Platform& platform, Reading& reading) {
  const bool stated = fields.has("groups");
  GroupReader reader(platform, reading);
  // The texts of a key must outlive it.
  static const std::string kUsual =
      fmt::format("[all, pairs, sites, each]; pairs up to {} sites, pairs and sites up to {} GPUs", kMostPairedSites,
                  kMostGpusOfSites);
  const FileKey tried{"groups",
                      "Groups of GPUs to compare: all, pairs (each pair of sites), sites (each site), each (each VM), "
                      "a VM, GPU or site by name, a range of VMs (node0..node127), or a list of such names.",
                      kUsual.c_str()};
  for (const Node* item : fields.list(tried, {ValueType::text(), ValueType::list({ValueType::text()})}))
    reader.read(*item);
  return stated ? reader.groups() : GroupReader(platform, reading).usual();
}

std::vector<Group> usual_groups(const Platform& platform) {
  Reading unheard;
  return GroupReader(platform, unheard).usual();
}

std::vector<int> sites_with_vms(const Platform& platform) {
  std::set<int> sites;
  for (const auto& vm : platform.vms) sites.insert(vm.site);
  return {sites.begin(), sites.end()};
}

std::vector<int> whole_sites(const Platform& platform, const std::vector<std::string>& names) {
  const std::set<std::string> in(names.begin(), names.end());
  std::map<int, bool> whole;
  std::size_t found = 0;
  for (const auto& vm : platform.vms) {
    const bool is_in = in.contains(vm.name);
    found += is_in ? 1 : 0;
    const auto [site, first] = whole.emplace(vm.site, is_in);
    if (!first && site->second != is_in) return {};
  }
  if (found != names.size()) return {};  // a GPU, not a VM
  std::vector<int> out;
  for (const auto& [site, is_in] : whole) {
    if (is_in) out.push_back(site);
  }
  return out;
}

std::vector<std::string> in_ranges(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (std::size_t first = 0; first < names.size();) {
    std::size_t end = first + 1;
    if (const auto from = numbered(names[first])) {
      while (end < names.size() &&
             names[end] == fmt::format("{}{}", from->stem, from->number + static_cast<long>(end - first)))
        ++end;
    }
    if (end - first >= kLeastInRange) {
      out.push_back(fmt::format("{}..{}", names[first], names[end - 1]));
    } else {
      out.insert(out.end(), names.begin() + static_cast<std::ptrdiff_t>(first),
                 names.begin() + static_cast<std::ptrdiff_t>(end));
    }
    first = end;
  }
  return out;
}

std::vector<std::string> names_of_gpus(const Platform& platform, const std::vector<int>& devices) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < devices.size();) {
    const Device& device = platform.devices[devices[at]];
    const Vm& vm = platform.vms[device.vm];
    std::size_t own = 0;
    while (own < static_cast<std::size_t>(vm.device_count) && at + own < devices.size() &&
           devices[at + own] == vm.first_device + static_cast<int>(own))
      ++own;
    const bool whole = own == static_cast<std::size_t>(vm.device_count);
    names.push_back(whole ? vm.name : device.name);
    at += whole ? own : 1;
  }
  return in_ranges(names);
}

}  // namespace slmsim
