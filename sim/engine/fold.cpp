#include "sim/engine/fold.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "sim/engine/refinement.h"

namespace slmsim {

struct ColourPartition {
  std::vector<Fold::ConnectionRecord> opened;
  std::vector<int> opened_links;
  std::vector<int> devices, connections, links;
  std::size_t device_colours = 0, connection_colours = 0;
  // Connections that cross each link, and where on their paths: for TCP, data arrives and queues at a link after the
  // links before.
  Lists crossing, places;
};

namespace {

// Connections, the numbers of the links that they cross, and the links.
struct Connected {
  const std::vector<Fold::ConnectionRecord>& opened;
  const std::vector<int>& crossed;
  const std::vector<Link>& links;

  template <class Add>
  void each_crossing(Add add) const {
    for (std::size_t i = 0; i < opened.size(); ++i) {
      for (std::size_t l = opened[i].first_link; l < opened[i].end_link; ++l) add(crossed[l], i, l);
    }
  }
};

std::vector<int> colours_given(const std::vector<Fold::ConnectionRecord>& opened) {
  std::vector<int> out;
  out.reserve(opened.size());
  for (const Fold::ConnectionRecord& one : opened) out.push_back(one.colour);
  return out;
}

std::vector<int> colours_by_rate(const std::vector<Link>& links) {
  std::map<double, int> rates;
  std::vector<int> out;
  out.reserve(links.size());
  for (const Link& link : links)
    out.push_back(rates.try_emplace(link.bandwidth.value, static_cast<int>(rates.size())).first->second);
  return out;
}

// Devices, connections, links and communicators that begin together, each with its neighbours.
class Refinement {
 public:
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  // `before`: pairs of connections, the first before the second.
  Refinement(const Connected& all, const std::vector<int>& devices, int last_group, const Pairs& before)
      : all_(all),
        crossing_(all.links.size(), [&](auto add) { all.each_crossing([&](int l, auto i, auto) { add(l, i); }); }),
        places_(all.links.size(),
                [&](auto add) {
                  all.each_crossing([&](int l, auto i, auto at) {
                    add(l, all.opened[i].windowed ? at - all.opened[i].first_link : 0);
                  });
                }),
        ends_(devices.size(),
              [&](auto add) {
                for (std::size_t i = 0; i < all.opened.size(); ++i) {
                  add(all.opened[i].from, 2 * i);
                  add(all.opened[i].to, 2 * i + 1);
                }
              }),
        before_(all.opened.size(),
                [&](auto add) {
                  for (const auto& [one, other] : before) add(one, other);
                }),
        after_(all.opened.size(),
               [&](auto add) {
                 for (const auto& [one, other] : before) add(other, one);
               }),
        answers_(all.links.size(),
                 [&](auto add) {
                   for (std::size_t l = 0; l < all.links.size(); ++l) {
                     if (all.links[l].back >= 0) add(all.links[l].back, l);
                   }
                 }),
        members_(static_cast<std::size_t>(last_group) + 1,
                 [&](auto add) {
                   for (std::size_t i = 0; i < all.opened.size(); ++i) {
                     if (is_in_set(all.opened[i])) add(all.opened[i].group, i);
                   }
                 }),
        devices_(devices),
        connections_(colours_given(all.opened)),
        links_(colours_by_rate(all.links)),
        sets_(std::vector<int>(static_cast<std::size_t>(last_group) + 1)) {}

  // Splits colours by those of their neighbours, once; whether one was split.
  bool split() {
    bool changes = split_links();
    changes |= split_devices();
    changes |= split_sets();
    changes |= split_connections();
    return changes;
  }

  ColourPartition taken() {
    return {.opened = all_.opened,
            .opened_links = all_.crossed,
            .devices = devices_.taken(),
            .connections = connections_.taken(),
            .links = links_.taken(),
            .device_colours = devices_.count(),
            .connection_colours = connections_.count(),
            .crossing = std::move(crossing_),
            .places = std::move(places_)};
  }

 private:
  static bool is_in_set(const Fold::ConnectionRecord& opened) { return opened.together != Fold::kApart; }
  static std::size_t set_of(const Fold::ConnectionRecord& opened) { return static_cast<std::size_t>(opened.group); }

  bool split_links() {
    std::vector<std::pair<int, int>> crossed;
    return links_.split(
        [&](std::size_t link, std::vector<int>& description) {
          crossed.clear();
          const auto by = crossing_.of(link), at = places_.of(link);
          for (std::size_t i = 0; i < by.size(); ++i) crossed.emplace_back(connections_[by[i]], at[i]);
          std::sort(crossed.begin(), crossed.end());
          for (const auto& [colour, place] : crossed) description.insert(description.end(), {colour, place});
          const int back = all_.links[link].back;
          description.push_back(back < 0 ? -1 : links_[back]);
        },
        [&](std::size_t link) {
          for (const std::uint32_t i : crossing_.of(link)) connections_.describe_again(i);
          for (const std::uint32_t other : answers_.of(link)) links_.describe_again(other);
        });
  }

  bool split_devices() {
    return devices_.split(
        [&](std::size_t device, std::vector<int>& description) {
          for (const std::uint32_t end : ends_.of(device))
            description.push_back(2 * connections_[end / 2] + static_cast<int>(end % 2));
          std::sort(description.begin() + 1, description.end());
        },
        [&](std::size_t device) {
          for (const std::uint32_t end : ends_.of(device)) {
            const Fold::ConnectionRecord& opened = all_.opened[end / 2];
            if (is_in_set(opened)) {
              sets_.describe_again(set_of(opened));
            } else {
              connections_.describe_again(end / 2);
            }
          }
        });
  }

  bool split_sets() {
    return sets_.split(
        [&](std::size_t set, std::vector<int>& description) {
          for (const std::uint32_t i : members_.of(set)) description.push_back(devices_[all_.opened[i].from]);
          std::sort(description.begin() + 1, description.end());
        },
        [&](std::size_t set) {
          for (const std::uint32_t i : members_.of(set)) connections_.describe_again(i);
        });
  }

  bool split_connections() {
    return connections_.split(
        [&](std::size_t connection, std::vector<int>& description) {
          const Fold::ConnectionRecord& opened = all_.opened[connection];
          if (is_in_set(opened)) {
            description.push_back(sets_[set_of(opened)]);
          } else {
            description.insert(description.end(), {devices_[opened.from], devices_[opened.to]});
          }
          const auto ahead = static_cast<long>(description.size());
          for (const std::uint32_t other : before_.of(connection)) description.push_back(connections_[other]);
          std::sort(description.begin() + ahead, description.end());
          description.push_back(Fold::kApart);
          for (std::size_t l = opened.first_link; l < opened.end_link; ++l)
            description.push_back(links_[all_.crossed[l]]);
        },
        [&](std::size_t connection) {
          const Fold::ConnectionRecord& opened = all_.opened[connection];
          for (std::size_t l = opened.first_link; l < opened.end_link; ++l) links_.describe_again(all_.crossed[l]);
          devices_.describe_again(opened.from);
          devices_.describe_again(opened.to);
          for (const std::uint32_t other : after_.of(connection)) connections_.describe_again(other);
        });
  }

  Connected all_;
  // By link: connections that cross it, and the places of that link on their paths. By device: ends of connections. By
  // connection: those before and after it. By link: those that it answers. By communicator: its connections.
  Lists crossing_, places_, ends_, before_, after_, answers_, members_;
  Refined devices_, connections_, links_, sets_;
};

}  // namespace

Fold::Fold(Colouring colours) : given_(std::move(colours)) {
  std::map<int, int> first;
  for (std::size_t i = 0; i < given_.devices.size(); ++i)
    first_.push_back(first.try_emplace(given_.devices[i], static_cast<int>(i)).first->second);
  for (const int device : first_) {
    for (const int line : {computing(device), hosting(device), holding(device)}) lines_.push_back({line, 0});
  }
  sequences_.resize(lines_.size());
}

void Fold::begin_group(std::span<const int> together) {
  begins_group_ = true;
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
  begins_group_ = true;
  together_ = opened.together;
  devices_together_.clear();  // no new connections are opened
}

int Fold::open(ConnectionRecord asked, std::span<const double> traits, const std::vector<int>& links) {
  const std::vector<int>& colours = given_.connections;
  if (!colours.empty() && opened_.size() >= colours.size()) throw ColouringError();
  if (std::exchange(begins_group_, false)) ++group_;
  // Two devices may be joined several times, once per communicator; a device may begin with others in several sets.
  const int trait = static_cast<int>(traits_.number(traits));
  const int given = colours.empty() ? kApart : colours[opened_.size()];
  const std::array ends = {trait, given, asked.from, is_together() ? kApart : asked.to};
  const std::uint32_t number = pair_numbers_.number(ends);
  if (number == pairs_.size()) pairs_.emplace_back();
  Pair& pair = pairs_[number];
  if (pair.group != group_) ++pair.count;
  pair.group = group_;
  asked.together = together_;
  // Numbers below 0 denote sets.
  const auto at_end = [&](int device) { return is_together() ? -1 - together_ : first(device); };
  const std::array described = {trait, given, pair.count, at_end(asked.from), at_end(asked.to)};
  asked.colour = static_cast<int>(colours_.number(described));
  sequences_.resize(static_cast<std::size_t>(line_of(static_cast<int>(colours_.size()))));
  lines_.push_back({line_of(asked.colour), 0});
  asked.first_link = links_.size();
  links_.insert(links_.end(), links.begin(), links.end());
  asked.end_link = links_.size();
  asked.group = group_;
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

// The coarsest partition into which splitting by neighbours leads.
std::shared_ptr<const ColourPartition> Fold::refined(const std::vector<Link>& links) const {
  const auto is_like = [](const ConnectionRecord& one, const ConnectionRecord& other) { return one.is_like(other); };
  if (given_.known && holds(*given_.known) && links_ == given_.known->opened_links &&
      std::ranges::equal(opened_, given_.known->opened, is_like))
    return given_.known;
  Refinement refinement({opened_, links_, links}, first_, group_, connections_before());
  while (refinement.split()) {
  }
  return std::make_shared<const ColourPartition>(refinement.taken());
}

// Whether it splits none of the colours.
bool Fold::holds(const ColourPartition& partition) const {
  std::vector<bool> is_first(first_.size());
  for (const int device : first_) is_first[device] = true;
  const auto device_colours = static_cast<std::size_t>(std::count(is_first.begin(), is_first.end(), true));
  return partition.device_colours == device_colours && partition.connection_colours == colours_.size();
}

Colouring Fold::coarsest(const std::vector<Link>& links) const {
  auto known = refined(links);
  if (holds(*known)) return {given_.devices, given_.connections, std::move(known)};
  return {known->devices, known->connections, known};
}

Colouring Fold::settle(const std::vector<Link>& links, std::vector<std::vector<int>*> routes,
                       std::vector<int>& taken_for) const {
  // A line may have ended early.
  const bool differ = differs_ || std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
                        return line.next != sequences_[line.sequence].size();
                      });
  const auto known = refined(links);
  const ColourPartition& partition = *known;
  if (!holds(partition)) return {partition.devices, partition.connections, known};
  if (differ) throw ColouringError();
  std::map<int, int> first_link;
  for (std::size_t l = 0; l < links.size(); ++l)
    taken_for.push_back(first_link.try_emplace(partition.links[l], static_cast<int>(l)).first->second);
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
      const auto by = partition.crossing.of(link), at = partition.places.of(link);
      for (std::size_t c = 0; c < by.size(); ++c) {
        if (partition.connections[by[c]] != partition.connections[i]) continue;
        ++shares;
        // An equal connection reaches it over other links.
        if (only_place >= 0 && static_cast<int>(at[c]) != only_place) throw ColouringError();
        only_place = static_cast<int>(at[c]);
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
