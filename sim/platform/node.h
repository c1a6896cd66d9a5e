// The inside of a node: parts (GPUs, sockets, memories, NICs, drives) and the links between them.
//
// Enters: the map `inside` of a VM type, and `storage` of a VM. Leaves: a graph over which routes are found, so that a
// new node needs a file and no code. A link has a rate in each direction, or one for both, as a memory channel. Traffic
// that a switching part forwards from one kind of link to another may be slower than either link: two I/O ports of one
// die contend. Such a crossing is a resource of its own, one per part, pair of kinds and direction.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/fields.h"

namespace slmsim {

// Routes begin and end at any part, and pass through switches only (a socket's I/O die, a PCIe switch, an NVSwitch).
enum class PartKind { kGpu, kSwitch, kMemory, kNic, kDrive };

struct NodePart {
  std::string name;
  PartKind kind = PartKind::kSwitch;
  Bytes capacity;              // of a memory or a drive
  BytesPerSecond read, write;  // of a drive, sequential, as rated
  Seconds command;             // a drive controller's time per command, independent of size

  bool operator==(const NodePart&) const = default;
};

struct PartLink {
  std::string interconnect;  // its kind: "NVLink", "xGMI", ...
  int from = 0, to = 0;      // parts
  BytesPerSecond peak;       // of each direction, or of both together where half duplex; data sheet
  double efficiency = 1;     // share of the peak that software reaches
  bool half_duplex = false;
  Seconds latency;

  bool operator==(const PartLink&) const = default;
};

// From links of the first kind to links of the second kind and back.
struct Crossing {
  int part = 0;
  std::string first, second;
  BytesPerSecond rate;  // each direction

  bool operator==(const Crossing&) const = default;
};

// Drives written as one (RAID 0 if several), and the GPUs whose ranks keep their state there.
struct Volume {
  std::string name;
  std::vector<int> drives;  // parts
  std::vector<int> gpus;    // of the VM, from 0

  bool operator==(const Volume&) const = default;
};

// The last link of the shortest way to a part, and the part where it begins; link -1: no way.
struct LastHop {
  int link = -1, before = -1;
  bool forward = true;
};

// Last hops of the ways from each part to each part, and for each NIC the GPUs by distance, kept with the node from which they
// follow.
struct PartWays {
  struct Found {
    std::vector<std::vector<LastHop>> last;
    std::vector<std::vector<int>> by_distance;  // per part; empty where it is no NIC
  };
  std::shared_ptr<const Found> found;

  bool operator==(const PartWays&) const { return true; }
};

struct NodeInside {
  std::vector<NodePart> parts;
  std::vector<PartLink> links;
  std::vector<Crossing> crossings;
  std::vector<Volume> volumes;
  Bytes stripe;         // of a RAID 0: bytes to one drive before the next
  std::string network;  // kind of the network between NICs
  int rails = 1;        // number of NICs, from the first on, that share a collective
  PartWays ways = {};   // of the parts and links as they were read; way_inside() finds others by itself

  bool empty() const { return parts.empty(); }
  std::vector<int> of_kind(PartKind kind) const;

  bool operator==(const NodeInside&) const = default;
};

// One link of a way, with its direction.
struct PartHop {
  int link = 0;
  bool forward = true;
};

// Finds all ways of a node, once its parts and links are known.
void find_ways(NodeInside& inside);

// The way with the least store-and-forward time of a 1 MiB message (Dijkstra); empty where there is none.
std::vector<PartHop> way_inside(const NodeInside& inside, int from, int to);

// Time of such a message; infinite where there is no way.
Seconds way_length(const NodeInside& inside, int from, int to);

// The nearest part of a kind, the first of equals; -1 where none can be reached.
int nearest_part(const NodeInside& inside, int from, PartKind kind);

// Whether the link is between two switches, not both of which have memory: the GPUs on one side share it.
bool is_uplink(const NodeInside& inside, const PartLink& link);

// GPUs, numbered from 0, by distance from a part: the nearest first, equals in order.
std::vector<int> gpus_by_distance(const NodeInside& inside, int part);

NodeInside read_inside(const Node& node, const std::string& path, Reading& reading);
// Adds drives, each with a link to its socket, and volumes.
void read_storage(const Node& node, const std::string& path, Reading& reading, NodeInside& inside);

// A drive's data sheet: a file of platforms/drives/.

// The drive and its link to its socket; the caller sets the ends of the link.
std::pair<NodePart, PartLink> read_drive(const Node& node, const std::string& path, Reading& reading);

}  // namespace slmsim
