// The inside of a node: parts (GPUs, sockets, memories, NICs, drives) and the links between them.
//
// Enters: the map `inside` of a VM type, and `storage` of a VM. Leaves: a graph over which routes are found, so that any
// node is a file and no code. A link has a rate in each direction (or one for both, as a memory channel has). What goes
// through a switching part from one kind of link to another may be slower than either link: two I/O ports of one die
// contend. Such a pass is a resource of its own, one per part, pair of kinds and direction.
#pragma once

#include <string>
#include <vector>

#include "sim/base/fields.h"

namespace slmsim {

// Routes begin and end anywhere, and go through switches only (a socket's I/O die, a PCIe switch, an NVSwitch).
enum class PartKind { kGpu, kSwitch, kMemory, kNic, kDrive };

struct NodePart {
  std::string name;
  PartKind kind = PartKind::kSwitch;
  Bytes capacity;              // of a memory or a drive
  BytesPerSecond read, write;  // of a drive, sequential, as rated
  Seconds command;             // what a drive's controller takes for a command, whatever its size

  bool operator==(const NodePart&) const = default;
};

struct PartLink {
  std::string interconnect;  // its kind: "NVLink", "xGMI", ...
  int from = 0, to = 0;      // parts
  BytesPerSecond peak;       // of each direction, or of both together where half duplex; data sheet
  double efficiency = 1;     // what software reaches of the peak
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

// Drives that are written to as one (RAID 0 if several), and the GPUs whose ranks keep their state there.
struct Volume {
  std::string name;
  std::vector<int> drives;  // parts
  std::vector<int> gpus;    // of the VM, from 0

  bool operator==(const Volume&) const = default;
};

struct NodeInside {
  std::vector<NodePart> parts;
  std::vector<PartLink> links;
  std::vector<Crossing> crossings;
  std::vector<Volume> volumes;
  Bytes stripe;         // of a RAID 0: what goes to one drive before the next
  std::string network;  // the kind of what the NICs are joined by
  int rails = 1;        // so many of its NICs, from the first on, carry a collective together, each its part

  bool empty() const { return parts.empty(); }
  std::vector<int> of_kind(PartKind kind) const;

  bool operator==(const NodeInside&) const = default;
};

// One link of a way, and in which direction it is gone.
struct PartHop {
  int link = 0;
  bool forward = true;
};

// The way on which a message of 1 MiB takes least time, link after link (Dijkstra); empty where there is none.
std::vector<PartHop> way_inside(const NodeInside& inside, int from, int to);

// What such a message takes; infinite where there is no way.
Seconds way_length(const NodeInside& inside, int from, int to);

// The part of a kind that is nearest to a given one, the first of equals; -1 where none can be reached.
int nearest_part(const NodeInside& inside, int from, PartKind kind);

// Whether it is between two switches, not both of which have memory: GPUs on one side of it share it.
bool is_uplink(const NodeInside& inside, const PartLink& link);

// The GPUs, from 0 on, by how far they are from a part: the nearest first, of equals the first.
std::vector<int> gpus_by_distance(const NodeInside& inside, int part);

NodeInside read_inside(const Node& node, const std::string& path, Reading& reading);
// Adds drives, each with a link to its socket, and volumes.
void read_storage(const Node& node, const std::string& path, Reading& reading, NodeInside& inside);

}  // namespace slmsim
