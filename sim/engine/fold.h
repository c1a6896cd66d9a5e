// Folding: devices, connections and links that are equal up to their names are represented once while a graph is built.
//
// A graph of many GPUs often contains equal tasks: those of each replica, of each tensor-parallel rank, of each edge of
// a ring. With colours for devices that may be identified, TaskGraph keeps one task for all equal ones with equal
// predecessors: a device's i-th computation and a connection's i-th transfer is the i-th of its colour. All of this is
// verified: each new task is compared with its representative (amount, tag, predecessors), and at the end every link of
// a colour must be crossed by the same connections up to colour. Such a partition is equitable (McKay, Congressus
// Numerantium 30, 1981; fibrations in Boldi and Vigna, Discrete Mathematics 243, 2002): tasks of one colour begin and
// end together, and flows of one colour have one max-min rate. If the partition is not equitable, the result is the
// coarsest refinement that may be.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/engine/hash_places.h"
#include "sim/platform/network.h"
#include "sim/platform/platform.h"

namespace slmsim {

using TaskId = std::uint32_t;
inline constexpr TaskId kNoTask = ~TaskId{0};

struct ColourPartition;  // the colours of one graph's connections (fold.cpp)

// Elements that may be identified have equal numbers. `connections` in the order of opening; empty: derived from
// devices and routes.
struct Colouring {
  std::vector<int> devices, connections;
  // The partition these colours come from: a graph of the same plan with equal connections takes it as it is.
  std::shared_ptr<const ColourPartition> known = {};

  bool operator==(const Colouring& other) const { return devices == other.devices && connections == other.connections; }
};

// Thrown where the colours of a graph do not hold and no finer ones are known.
struct ColouringError : std::runtime_error {
  ColouringError() : std::runtime_error("devices of one colour do not do the same") {}
};

class Fold {
 public:
  explicit Fold(Colouring colours);

  // The first device of a device's colour.
  int first(int device) const { return first_[device]; }

  // Lines of tasks, each in order: a device's computations, its host's launches, the holds of collectives, and a
  // connection's transfers.
  static constexpr int kNoLine = -1;
  int computing(int device) const { return kLines * device; }
  int hosting(int device) const { return kLines * device + 1; }
  int holding(int device) const { return kLines * device + 2; }
  int line_of(int connection) const { return kLines * static_cast<int>(first_.size()) + connection; }

  static constexpr int kApart = -1;

  // A connection as requested, with everything that distinguishes it from others between devices of the same colours.
  // For the first connection of a colour, the colour is a new number.
  struct ConnectionRecord {
    int from = 0, to = 0, sockets = 1, nic = -1, relay = -1, position = 0, traffic = 0;
    bool windowed = false;
    int group = 0, together = kApart, colour = 0;
    std::size_t first_link = 0, end_link = 0;

    // Colours are apart from what distinguishes it.
    bool is_like(ConnectionRecord other) const {
      if ((together == kApart) == (other.together == kApart)) other.together = together;
      other.colour = colour;
      return *this == other;
    }
    bool operator==(const ConnectionRecord&) const = default;
  };
  // `traits`: in figures, what two connections of one colour have in common.
  int open(ConnectionRecord asked, std::span<const double> traits, const std::vector<int>& links);
  const ConnectionRecord& opened(int connection) const { return opened_[connection]; }
  int count() const { return static_cast<int>(opened_.size()); }
  // Connections opened from here on belong to one communicator. `together`: its devices, if each call begins for all of
  // them at once. Its connections are then distinguished by the whole set, not by their two ends: they carry the same
  // data at the same time, even if one device of the set computes more slowly.
  void begin_group(std::span<const int> together = {});
  // A group like that of another connection, whose devices have the same colours.
  void begin_group_like(const ConnectionRecord& opened);
  bool is_together() const { return together_ != kApart; }
  // The first devices of the set's colours; none where devices are apart.
  const std::vector<int>& together() const { return devices_together_; }
  int colour_of(int connection) const { return opened_[connection].colour; }

  // The representative of a line's next task, or kNoTask where the task is the first of its colour, which made() then
  // records.
  TaskId next(int line);
  void made(int line, TaskId task);
  // Whether two connections are at the same position of the same colour, and the number of that position.
  bool in_step(int a, int b) const { return place(a) == place(b); }
  std::uint64_t place(int connection) const;
  void skip(int connection, std::uint32_t tasks) { lines_[line_of(connection)].next += tasks; }

  // Sets a line to the position of another one, whose tasks it shares.
  void follow(int line, int other) { lines_[line].next = lines_[other].next; }

  // Results of whole calls; `key` describes everything that equal calls have in common.
  std::map<std::vector<std::uint64_t>, std::vector<TaskId>>& calls() { return calls_; }

  // Records that devices of one colour differ. The graph is then unusable, but it is built to the end, since its full
  // set of connections determines the finer colours.
  void differ() { differs_ = true; }
  bool differs() const { return differs_; }

  // Call after the last connection. The coarsest colours that may hold, those given or finer ones.
  Colouring coarsest(const std::vector<Link>& links) const;
  // Call after the last task. If the colours do not hold, returns the coarsest finer colours that could, and throws
  // ColouringError where there are none. Else returns nothing; the routes of their connections then use links of the
  // colours, each as often as connections of the colour cross it. `taken_for`: for each link, the first of its colour.
  Colouring settle(const std::vector<Link>& links, std::vector<std::vector<int>*> routes,
                   std::vector<int>& taken_for) const;

 private:
  static constexpr int kLines = 3;  // per device
  struct Line {
    int sequence = 0;
    std::uint32_t next = 0;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> connections_before() const;
  std::shared_ptr<const ColourPartition> refined(const std::vector<Link>& links) const;
  bool holds(const ColourPartition& partition) const;

  std::vector<int> first_;
  Colouring given_;
  std::vector<Line> lines_;
  std::vector<std::vector<TaskId>> sequences_;
  std::vector<ConnectionRecord> opened_;
  std::vector<int> links_;  // of all opened connections
  SequenceNumbers<double> traits_;
  // Traits with the given colour, then the number of such connections between the two devices, and their ends; or the two
  // devices.
  SequenceNumbers<int> colours_, pair_numbers_;
  struct Pair {
    int group = -1, count = 0;
  };
  std::vector<Pair> pairs_;            // by pair_numbers_
  int group_ = 0, together_ = kApart;  // for the next connections
  bool begins_group_ = false;          // with the next connection
  std::vector<int> devices_together_;
  std::map<std::vector<int>, int> colours_of_groups_;
  std::map<std::vector<std::uint64_t>, std::vector<TaskId>> calls_;
  bool differs_ = false;
};

// Parts of a plan that are equal as a whole, so that the tasks of one represent those of the other (TaskGraph::repeat).
// Maps the first devices to the second ones at the same positions; empty unless devices at each position have one
// colour and share VMs with others in the same way.
std::map<int, int> twins_of(const Fold& fold, const Platform& platform, const std::vector<int>& first,
                            const std::vector<int>& second);

}  // namespace slmsim
