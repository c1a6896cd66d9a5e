#include "sim/engine/fold.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace slmsim {

namespace {

struct HashOfNumbers {
  std::size_t operator()(const std::vector<int>& numbers) const {
    std::uint64_t hash = 14695981039346656037U;  // FNV-1a
    for (const int number : numbers) hash = (hash ^ static_cast<std::uint32_t>(number)) * 1099511628211U;
    return static_cast<std::size_t>(hash);
  }
};

// Numbers descriptions; equal descriptions get equal numbers.
class Numbers {
 public:
  int of(const std::vector<int>& description) {
    return known_.try_emplace(description, static_cast<int>(known_.size())).first->second;
  }
  std::size_t count() const { return known_.size(); }

 private:
  std::unordered_map<std::vector<int>, int, HashOfNumbers> known_;
};

}  // namespace

struct Fold::Partition {
  std::vector<int> devices, connections, links;
  std::size_t device_colours = 0, connection_colours = 0;
  // Sorted crossings of each link: colours of connections; for TCP also the position of the link on the path, since
  // data arrives and queues there after the links before.
  std::vector<std::vector<std::pair<int, int>>> crossing;
};

Fold::Fold(Colouring colours) : given_(std::move(colours.connections)) {
  std::map<int, int> first;
  for (std::size_t i = 0; i < colours.devices.size(); ++i)
    first_.push_back(first.try_emplace(colours.devices[i], static_cast<int>(i)).first->second);
  for (const int device : first_) {
    for (const int line : {computing(device), hosting(device), holding(device)}) lines_.push_back({line, 0});
  }
  sequences_.resize(lines_.size());
}

void Fold::begin_group(std::span<const int> together) {
  ++group_;
  together_ = kApart;
  devices_together_.clear();
  if (together.empty()) return;
  std::vector<int> colours;
  for (const int device : together) colours.push_back(first(device));
  std::sort(colours.begin(), colours.end());
  std::unique_copy(colours.begin(), colours.end(), std::back_inserter(devices_together_));
  together_ =
      colours_of_groups_.try_emplace(std::move(colours), static_cast<int>(colours_of_groups_.size())).first->second;
}

void Fold::begin_group_like(const ConnectionRecord& opened) {
  ++group_;
  together_ = opened.together;
  devices_together_.clear();  // no new connections are opened
}

int Fold::open(ConnectionRecord asked, std::vector<double> traits, const std::vector<int>& links) {
  if (!given_.empty()) {
    if (opened_.size() >= given_.size()) throw ColouringError();
    traits.push_back(given_[opened_.size()]);
  }
  // Two devices may be joined several times, once per communicator; a device may begin with others in several sets.
  const int trait = traits_.try_emplace(std::move(traits), static_cast<int>(traits_.size())).first->second;
  Pair& pair = pairs_[{trait, asked.from, is_together() ? kApart : asked.to}];
  if (pair.group != group_) ++pair.count;
  pair.group = group_;
  asked.together = together_;
  // Numbers below 0 denote sets.
  const auto at_end = [&](int device) { return is_together() ? -1 - together_ : first(device); };
  const std::array described = {trait, pair.count, at_end(asked.from), at_end(asked.to)};
  const auto [known, is_new] = colours_.try_emplace(described, static_cast<int>(colours_.size()));
  if (is_new) sequences_.emplace_back();
  lines_.push_back({line_of(known->second), 0});
  asked.first_link = links_.size();
  links_.insert(links_.end(), links.begin(), links.end());
  asked.end_link = links_.size();
  asked.group = group_;
  asked.colour = known->second;
  opened_.push_back(asked);
  return asked.colour;
}

TaskId Fold::next(int line) {
  Line& own = lines_[line];
  const auto& sequence = sequences_[own.sequence];
  return own.next < sequence.size() ? sequence[own.next++] : kNoTask;
}

void Fold::made(int line, TaskId task) {
  Line& own = lines_[line];
  sequences_[own.sequence].push_back(task);
  ++own.next;
}

std::uint64_t Fold::place(int connection) const {
  const Line& line = lines_[line_of(connection)];
  return (static_cast<std::uint64_t>(line.sequence) << 32) | line.next;
}

// For each connection of a group that begins together: a number for the colours of the group's devices.
std::vector<int> Fold::sets_of(const std::vector<int>& device_colours) const {
  Numbers numbers;
  std::vector<int> sets(opened_.size(), kApart);
  for (std::size_t i = 0, end = 0; i < opened_.size(); i = end) {
    std::vector<int> colours;
    for (end = i; end < opened_.size() && opened_[end].group == opened_[i].group; ++end)
      colours.push_back(device_colours[opened_[end].from]);
    if (opened_[i].together == kApart) continue;
    std::sort(colours.begin(), colours.end());
    std::fill(sets.begin() + static_cast<long>(i), sets.begin() + static_cast<long>(end), numbers.of(colours));
  }
  return sets;
}

// Pairs of connections of one communicator and NIC, the second of which ends where the first begins: in a ring, a transfer waits
// for that of the connection before.
std::vector<std::pair<std::uint32_t, std::uint32_t>> Fold::connections_before() const {
  using Key = std::array<int, 3>;  // communicator, NIC, device
  const auto key = [this](std::uint32_t i, bool begins) {
    const ConnectionRecord& one = opened_[i];
    return Key{one.group, one.nic, begins ? one.from : one.to};
  };
  std::vector<std::uint32_t> ends;
  for (std::uint32_t i = 0; i < opened_.size(); ++i) {
    if (opened_[i].together == kApart) ends.push_back(i);
  }
  const std::vector<std::uint32_t> begins = ends;
  std::sort(ends.begin(), ends.end(), [&](auto a, auto b) { return key(a, false) < key(b, false); });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (const std::uint32_t i : begins) {
    const Key own = key(i, true);
    auto at = std::lower_bound(ends.begin(), ends.end(), own, [&](auto a, const Key& b) { return key(a, false) < b; });
    for (; at != ends.end() && key(*at, false) == own; ++at) out.emplace_back(i, *at);
  }
  return out;
}

// Refines colours by those of their neighbours until none is split.
Fold::Partition Fold::refined(const std::vector<Link>& links) const {
  Partition now;
  now.devices = first_;
  for (const ConnectionRecord& opened : opened_) now.connections.push_back(opened.colour);
  std::map<double, int> rates;
  for (const Link& link : links)
    now.links.push_back(rates.try_emplace(link.bandwidth.value, static_cast<int>(rates.size())).first->second);
  const auto before = connections_before();
  std::vector<std::vector<std::pair<int, int>>> crossing(links.size());
  std::vector<std::vector<int>> of_device(first_.size());
  std::vector<int> description;
  for (std::size_t counted = 0;;) {
    for (auto& one : crossing) one.clear();
    for (auto& one : of_device) one.clear();
    for (std::size_t i = 0; i < opened_.size(); ++i) {
      const ConnectionRecord& opened = opened_[i];
      for (std::size_t l = opened.first_link; l < opened.end_link; ++l)
        crossing[links_[l]].emplace_back(now.connections[i],
                                         opened.windowed ? static_cast<int>(l - opened.first_link) : 0);
      of_device[opened.from].push_back(2 * now.connections[i]);
      of_device[opened.to].push_back(2 * now.connections[i] + 1);
    }
    Numbers of_links, of_connections, of_devices;
    const std::vector<int> sets = sets_of(now.devices);
    Partition finer;
    for (std::size_t l = 0; l < links.size(); ++l) {
      std::sort(crossing[l].begin(), crossing[l].end());
      description.clear();
      for (const auto& [colour, place] : crossing[l]) {
        description.push_back(colour);
        description.push_back(place);
      }
      description.push_back(now.links[l]);
      description.push_back(links[l].back < 0 ? -1 : now.links[links[l].back]);
      finer.links.push_back(of_links.of(description));
    }
    for (std::size_t d = 0; d < first_.size(); ++d) {
      std::sort(of_device[d].begin(), of_device[d].end());
      of_device[d].push_back(now.devices[d]);
      finer.devices.push_back(of_devices.of(of_device[d]));
    }
    auto other = before.begin();
    for (std::size_t i = 0; i < opened_.size(); ++i) {
      const ConnectionRecord& opened = opened_[i];
      description = {now.connections[i], sets[i]};
      if (sets[i] == kApart) description = {now.connections[i], now.devices[opened.from], now.devices[opened.to]};
      const auto ahead = static_cast<long>(description.size());
      for (; other != before.end() && other->first == i; ++other) description.push_back(now.connections[other->second]);
      std::sort(description.begin() + ahead, description.end());
      description.push_back(kApart);
      for (std::size_t l = opened.first_link; l < opened.end_link; ++l) description.push_back(now.links[links_[l]]);
      finer.connections.push_back(of_connections.of(description));
    }
    finer.device_colours = of_devices.count();
    finer.connection_colours = of_connections.count();
    const std::size_t count = of_links.count() + of_connections.count() + of_devices.count();
    // Crossings use the colours of `now`, which equal these up to renumbering.
    if (count == counted) {
      now.device_colours = finer.device_colours;
      now.connection_colours = finer.connection_colours;
      now.crossing = std::move(crossing);
      return now;
    }
    counted = count;
    now = std::move(finer);
  }
}

Colouring Fold::settle(std::vector<Link>& links, std::vector<std::vector<int>*> routes,
                       std::vector<int>& taken_for) const {
  // A line may have ended early.
  const bool differ = differs_ || std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
                        return line.next != sequences_[line.sequence].size();
                      });
  const Partition partition = refined(links);
  std::vector<bool> is_first(first_.size());
  for (const int device : first_) is_first[device] = true;
  const auto device_colours = static_cast<std::size_t>(std::count(is_first.begin(), is_first.end(), true));
  if (partition.device_colours != device_colours || partition.connection_colours != colours_.size())
    return {partition.devices, partition.connections};
  if (differ) throw ColouringError();
  std::map<int, int> first_link;
  for (std::size_t l = 0; l < links.size(); ++l)
    taken_for.push_back(first_link.try_emplace(partition.links[l], static_cast<int>(l)).first->second);
  for (Link& link : links) link.back = link.back < 0 ? -1 : taken_for[link.back];
  std::vector<bool> done(routes.size());
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    const ConnectionRecord& opened = opened_[i];
    if (done[opened.colour]) continue;
    done[opened.colour] = true;
    std::vector<int> way;
    for (std::size_t l = opened.first_link; l < opened.end_link; ++l) {
      const int link = first_link.at(partition.links[links_[l]]);
      if (std::find(way.begin(), way.end(), link) != way.end()) continue;
      std::size_t shares = 0;
      int only_place = -1;
      for (const auto& [colour, place] : partition.crossing[link]) {
        if (colour != partition.connections[i]) continue;
        ++shares;
        // An equal connection reaches it over other links.
        if (only_place >= 0 && place != only_place) throw ColouringError();
        only_place = place;
      }
      way.insert(way.end(), shares, link);
    }
    *routes[opened.colour] = std::move(way);
  }
  return {};
}

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
