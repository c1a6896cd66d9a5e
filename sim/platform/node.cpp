#include "sim/platform/node.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "sim/base/text.h"

namespace slmsim {
namespace {

constexpr Range<BytesPerSecond> kRateRange{{1e3}, {1e15}};
constexpr Range<Bytes> kCapacityRange{{1e6}, {1e18}};
constexpr std::size_t kMostParts = 256;
constexpr std::size_t kMostLinks = kMostParts * kMostParts;

bool ends_at(const PartLink& link, int part) { return link.from == part || link.to == part; }

class InsideReader {
 public:
  InsideReader(std::string path, Reading& reading, NodeInside& inside)
      : path_(std::move(path)), reading_(reading), inside_(inside) {}

  void add_part(const std::string& name, Fields& f) {
    if (inside_.parts.size() == kMostParts) {
      f.error("kind", fmt::format("more than {} parts; that is beyond this simulator", kMostParts));
      return;
    }
    NodePart part;
    part.name = name;
    part.kind = static_cast<PartKind>(f.forking_choice(
        {"kind", "Kind of part; messages pass through switches only: a socket's I/O die, a PCIe switch, an NVSwitch."},
        {"gpu", "switch", "memory", "nic"}));
    if (part.kind == PartKind::kMemory)
      part.capacity = f.quantity<Bytes>({"capacity", "Capacity of the memory."}, kCapacityRange);
    inside_.parts.push_back(std::move(part));
  }

  void add_links(const std::string& name, Fields& f) {
    PartLink link;
    link.interconnect = name;
    link.peak = f.quantity<BytesPerSecond>(
        {"rate", "The data sheet's rate of one such link in each direction, or of both together where half duplex."},
        kRateRange);
    link.efficiency = f.number({"efficiency", "Share of the rate that software reaches."}, {1e-3, 1.0}, 1.0);
    link.half_duplex =
        f.flag({"half_duplex", "Whether both directions share the rate, as those of a memory channel do."}, false);
    link.latency = f.quantity<Seconds>({"latency", "Latency of the link, independent of the message's size."},
                                       {{0}, {0.1}}, Seconds{0});
    const auto pairs = f.list({"between", "Pairs of parts that such links join, such as [cpu0 gpu0, cpu0 gpu1]."},
                              {ValueType::text()}, {1, kMostLinks});
    if (pairs.empty()) f.error("between", f.path_of("between") + " is missing; list pairs such as [cpu0 gpu0]");
    for (const Node* pair : pairs) {
      std::istringstream words(pair->scalar);
      std::string first, second, more;
      words >> first >> second >> more;
      if (!more.empty()) {
        reading_.error(pair->place, fmt::format("{}: \"{}\" names more than two parts; list pairs such as [cpu0 gpu0]",
                                                f.path_of("between"), pair->scalar.substr(0, 64)));
        continue;
      }
      link.from = part(pair->place, f.path_of("between"), first);
      link.to = part(pair->place, f.path_of("between"), second);
      if (link.from == link.to && link.from >= 0)
        reading_.error(pair->place, fmt::format("{}: \"{}\" joins a part with itself; name two, such as [cpu0 gpu0]",
                                                f.path_of("between"), pair->scalar.substr(0, 64)));
      const bool known = std::ranges::any_of(inside_.links, [&](const PartLink& other) {
        return other.interconnect == name && std::minmax(other.from, other.to) == std::minmax(link.from, link.to);
      });
      if (known)
        reading_.error(
            pair->place,
            fmt::format("{}: \"{}\" is listed twice; for several links between two parts, state their total rate",
                        f.path_of("between"), pair->scalar.substr(0, 64)));
      if (link.from >= 0 && link.to >= 0) inside_.links.push_back(link);
    }
  }

  void add_crossings(Fields& f) {
    Crossing crossing;
    const auto kinds =
        f.list({"between", "Two kinds of links, by the names under links."}, {ValueType::name()}, {2, 2});
    if (kinds.size() != 2) {
      f.error("between", f.path_of("between") + " must name two kinds of links");
      return;
    }
    std::vector<std::string> known;
    for (const auto& link : inside_.links) {
      if (std::ranges::find(known, link.interconnect) == known.end()) known.push_back(link.interconnect);
    }
    for (const Node* kind : kinds) {
      if (std::ranges::find(known, kind->scalar) == known.end())
        reading_.error(kind->place, fmt::format("{}: there is no kind of link \"{}\"; {}", f.path_of("between"),
                                                kind->scalar.substr(0, 64), did_you_mean(kind->scalar, known)));
    }
    crossing.first = kinds[0]->scalar;
    crossing.second = kinds[1]->scalar;
    crossing.rate =
        f.quantity<BytesPerSecond>({"rate", "Maximum rate from one kind to the other, in each direction."}, kRateRange);
    const auto places = f.list({"at", "Parts where this limit applies; links of both kinds meet there."},
                               {ValueType::name()}, {1, kMostParts});
    if (places.empty()) f.error("at", f.path_of("at") + " is missing; name the parts where links of both kinds meet");
    for (const Node* at : places) {
      crossing.part = part(at->place, f.path_of("at"), at->scalar);
      if (crossing.part < 0) continue;
      const auto meets = [&](const std::string& kind) {
        return std::ranges::any_of(inside_.links, [&](const PartLink& link) {
          return link.interconnect == kind && ends_at(link, crossing.part);
        });
      };
      if (inside_.parts[crossing.part].kind != PartKind::kSwitch) {
        reading_.error(at->place, fmt::format("{}: nothing passes through \"{}\"; name a part of kind switch",
                                              f.path_of("at"), at->scalar.substr(0, 64)));
      } else if (!meets(crossing.first) || !meets(crossing.second)) {
        reading_.error(at->place, fmt::format("{}: no links of both kinds, {} and {}, meet at \"{}\"", f.path_of("at"),
                                              crossing.first, crossing.second, at->scalar.substr(0, 64)));
      }
      inside_.crossings.push_back(crossing);
    }
  }

  bool has_volume(int gpu, const Volume& now) const {
    const auto has = [&](const Volume& v) { return std::ranges::find(v.gpus, gpu) != v.gpus.end(); };
    return has(now) || std::ranges::any_of(inside_.volumes, has);
  }

  bool is_taken(const std::string& name, const std::string& key, Fields& f) {
    const bool taken = std::ranges::any_of(inside_.parts, [&](const NodePart& p) { return p.name == name; });
    if (taken) f.error(key, fmt::format("two parts are named \"{}\"; names must differ", name));
    return taken;
  }

  void add_drive(const std::string& name, Fields& f, const NodePart& model, PartLink link) {
    const Node* at = f.child({"at", "The part of the node that it hangs on, such as cpu0."}, ValueType::name(), true);
    if (!at || is_taken(name, "at", f)) return;
    NodePart drive = model;
    drive.name = name;
    drive.kind = PartKind::kDrive;
    link.from = part(at->place, f.path_of("at"), at->scalar);
    link.to = static_cast<int>(inside_.parts.size());
    inside_.parts.push_back(std::move(drive));
    if (link.from >= 0) inside_.links.push_back(link);
  }

  void add_volume(const std::string& name, Fields& f) {
    Volume volume;
    volume.name = name;
    for (const Node* drive :
         f.list({"drives", "Drives of the volume; RAID 0 if several."}, {ValueType::name()}, {1, kMostParts})) {
      const int index = part(drive->place, f.path_of("drives"), drive->scalar);
      if (index >= 0 && inside_.parts[index].kind != PartKind::kDrive) {
        reading_.error(drive->place, fmt::format("{}: \"{}\" is not a drive; name those under drives",
                                                 f.path_of("drives"), drive->scalar.substr(0, 64)));
      } else if (std::ranges::find(volume.drives, index) != volume.drives.end()) {
        reading_.error(drive->place, fmt::format("{}: \"{}\" is named twice; once is enough", f.path_of("drives"),
                                                 drive->scalar.substr(0, 64)));
      } else if (index >= 0) {
        volume.drives.push_back(index);
      }
    }
    const auto gpus = inside_.of_kind(PartKind::kGpu);
    for (const Node* gpu : f.list({"gpus", "The GPUs of the node whose ranks keep their state there."},
                                  {ValueType::name()}, {1, kMostParts})) {
      const int index = part(gpu->place, f.path_of("gpus"), gpu->scalar);
      const auto at = std::ranges::find(gpus, index);
      if (index >= 0 && at == gpus.end()) {
        reading_.error(gpu->place, fmt::format("{}: \"{}\" is not a GPU; name GPUs of the node", f.path_of("gpus"),
                                               gpu->scalar.substr(0, 64)));
      } else if (index >= 0 && has_volume(static_cast<int>(at - gpus.begin()), volume)) {
        reading_.error(gpu->place, fmt::format("{}: \"{}\" has a volume already; a GPU's state lies on one",
                                               f.path_of("gpus"), gpu->scalar.substr(0, 64)));
      } else if (index >= 0) {
        volume.gpus.push_back(static_cast<int>(at - gpus.begin()));
      }
    }
    if (volume.gpus.empty())
      f.error("gpus", f.path_of("gpus") + " is empty; name the GPUs whose ranks keep their state there");
    if (volume.drives.empty()) f.error("drives", f.path_of("drives") + " is empty; name at least one drive");
    inside_.volumes.push_back(std::move(volume));
  }

 private:
  using Node = ::slmsim::Node;

  int part(const Place& place, const std::string& what, const std::string& name) {
    std::vector<std::string> names;
    for (const auto& p : inside_.parts) names.push_back(p.name);
    const auto at = std::ranges::find(names, name);
    if (at != names.end()) return static_cast<int>(at - names.begin());
    reading_.error(place,
                   fmt::format("{}: there is no part \"{}\"; {}", what, name.substr(0, 64), did_you_mean(name, names)));
    return -1;
  }

  std::string path_;
  Reading& reading_;
  NodeInside& inside_;
};

// Each GPU must reach every other GPU, and memory and NICs where present; with `kind` kDrive, each GPU's memory must
// reach the drives.
void check_reach(const NodeInside& inside, Fields& fields, const std::string& key, PartKind kind) {
  for (std::size_t i = 0; i < inside.parts.size(); ++i) {
    const bool joined =
        std::ranges::any_of(inside.links, [&](const PartLink& link) { return ends_at(link, static_cast<int>(i)); });
    if (!joined && inside.parts[i].kind == PartKind::kSwitch && kind != PartKind::kDrive)
      fields.error(
          key, fmt::format("{}: no link joins {}; join it or leave it out", fields.path_of(key), inside.parts[i].name));
  }
  const auto name = [&](int part) { return inside.parts[part].name; };
  const auto must = [&](int from, int to) {
    if (from != to && way_inside(inside, from, to).empty())
      fields.error(key, fmt::format("{}: no path leads from {} to {}; join them by links through switches",
                                    fields.path_of(key), name(from), name(to)));
  };
  for (const int gpu : inside.of_kind(PartKind::kGpu)) {
    const int memory = nearest_part(inside, gpu, PartKind::kMemory);
    if (kind == PartKind::kDrive) {
      if (memory < 0) fields.error(key, fmt::format("{} reaches no memory that drives could be read into", name(gpu)));
      for (const int drive : inside.of_kind(PartKind::kDrive)) {
        if (memory >= 0) must(memory, drive);
      }
      continue;
    }
    for (const int other : inside.of_kind(PartKind::kGpu)) must(gpu, other);
    for (const PartKind needed : {PartKind::kMemory, PartKind::kNic}) {
      for (const int part : inside.of_kind(needed)) must(gpu, part);
    }
  }
}

}  // namespace

std::vector<int> NodeInside::of_kind(PartKind kind) const {
  std::vector<int> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind == kind) out.push_back(static_cast<int>(i));
  }
  return out;
}

bool is_uplink(const NodeInside& inside, const PartLink& link) {
  const auto is = [&](int part, PartKind kind) { return inside.parts[part].kind == kind; };
  const auto has_memory = [&](int part) {
    return std::ranges::any_of(inside.links, [&](const PartLink& other) {
      return (other.from == part && is(other.to, PartKind::kMemory)) ||
             (other.to == part && is(other.from, PartKind::kMemory));
    });
  };
  return is(link.from, PartKind::kSwitch) && is(link.to, PartKind::kSwitch) &&
         !(has_memory(link.from) && has_memory(link.to));
}

NodeInside read_inside(const Node& node, const std::string& path, Reading& reading) {
  NodeInside inside;
  Fields fields(node, path, reading);
  const Owned owned = fields.owned_by(Scope::kInside);
  InsideReader reader(path, reading, inside);
  inside.network = fields.name({"network", "Name of the network between nodes, as tables show it."}, "NIC");
  fields.each({"parts", "GPUs, switches, memories and network cards, by names of your choice."}, true,
              [&](const Entry& entry, Fields& f) { reader.add_part(entry.key, f); });
  fields.each({"links", "Links by their kind: NVLink, PCIe-GPU, xGMI, or any other name."}, true,
              [&](const Entry& entry, Fields& f) { reader.add_links(entry.key, f); });
  fields.each(
      {"crossings", "Transitions between two kinds of links that are slower than either, by names of your choice."},
      false, [&](const Entry&, Fields& f) { reader.add_crossings(f); });
  inside.rails = static_cast<int>(fields.integer(
      {"rails", "Number of network cards of the node, counted from the first, that carry a collective together."},
      {1, 64}, 1));
  const std::size_t nics = inside.of_kind(PartKind::kNic).size();
  if (inside.rails > 1 && static_cast<std::size_t>(inside.rails) > nics)
    fields.error("rails", fmt::format("{} is {}, of {} NICs", fields.path_of("rails"), inside.rails, nics));
  fields.done();
  if (!reading.errors.empty()) return inside;
  find_ways(inside);
  check_reach(inside, fields, "links", PartKind::kSwitch);
  return inside;
}

std::pair<NodePart, PartLink> read_drive(const Node& node, const std::string& path, Reading& reading) {
  Fields f(node, path, reading);
  NodePart drive;
  PartLink link;
  f.name({"name", "Name of the drive."});
  f.text({"title", "Its full name.", "none"}, "");
  drive.capacity = f.quantity<Bytes>({"capacity", "Its capacity."}, kCapacityRange);
  drive.read = f.quantity<BytesPerSecond>({"read", "Its rated sequential read."}, kRateRange);
  drive.write = f.quantity<BytesPerSecond>({"write", "Its rated sequential write."}, kRateRange);
  drive.command = f.quantity<Seconds>({"command", "Time of its controller per command, independent of the size."},
                                      {{0}, {0.1}}, Seconds{0});
  link.interconnect = f.name({"interconnect", "The kind of link to its socket."});
  link.peak = f.quantity<BytesPerSecond>({"rate", "The rate of that link, in each direction."}, kRateRange);
  f.done();
  return {drive, link};
}

void read_storage(const Node& node, const std::string& path, Reading& reading, NodeInside& inside) {
  Fields fields(node, path, reading);
  const Owned owned = fields.owned_by(Scope::kDrives);
  InsideReader reader(path, reading, inside);
  inside.stripe =
      fields.quantity<Bytes>({"stripe", "Stripe unit of a RAID 0: bytes that go to one drive before the next."},
                             {{512}, {kGibi}}, Bytes{512 * kKibi});
  fields.each({"drives", "The drives, by names of your choice."}, true, [&](const Entry& entry, Fields& f) {
    const Node* model = f.file({"model", "Model of the drive."}, kDriveFile, true);
    if (!model) return;
    const auto [part, link] = read_drive(*model, f.path_of("model"), reading);
    reader.add_drive(entry.key, f, part, link);
  });
  fields.each({"volumes", "Volumes of one or more drives, by names of your choice."}, true,
              [&](const Entry& entry, Fields& f) { reader.add_volume(entry.key, f); });
  fields.done();
  if (!reading.errors.empty()) return;
  find_ways(inside);
  check_reach(inside, fields, "drives", PartKind::kDrive);
}

}  // namespace slmsim
