// Devices, connections and links that are alike up to their names, each taken once while a graph is built.
//
// A graph that many GPUs make up often holds the same tasks over and over: those of each replica, of each tensor-parallel
// rank, of each edge of a ring. With colours that say which devices may be taken for one, TaskGraph keeps one task for
// all that do the same after the same: a device's i-th computation and a connection's i-th transfer is the i-th of its
// colour. Nothing is taken on trust. Each task that is added is compared with the one it is taken for (amount, tag, what
// it waits for), and at the end every link of a colour must be crossed by the same connections up to colour. Such a
// partition is equitable (McKay, Congressus Numerantium 30, 1981; fibrations in Boldi and Vigna, Discrete Mathematics
// 243, 2002): tasks of one colour begin and end together, and flows of one colour have one max-min rate. Where the
// partition is not, what comes back is the coarsest one finer than it that could be.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "sim/platform/network.h"

namespace slmsim {

using TaskId = std::uint32_t;
inline constexpr TaskId kNoTask = ~TaskId{0};

// What may be taken for one: equal numbers. `connections` in the order in which they are opened; empty: as devices and
// routes have it.
struct Colours {
  std::vector<int> devices, connections;

  bool operator==(const Colours&) const = default;
};

// Of a graph whose colours do not hold, where no finer ones are known.
struct NotAlike : std::runtime_error {
  NotAlike() : std::runtime_error("devices of one colour do not do the same") {}
};

class Fold {
 public:
  explicit Fold(Colours colours);

  // The first device of a device's colour.
  int first(int device) const { return first_[static_cast<std::size_t>(device)]; }

  // What a device computes, what its host launches, what collectives hold of it, and what a connection carries, each in order.
  static constexpr int kNoLine = -1;
  int computing(int device) const { return kLines * device; }
  int hosting(int device) const { return kLines * device + 1; }
  int holding(int device) const { return kLines * device + 2; }
  int line_of(int connection) const { return kLines * static_cast<int>(first_.size()) + connection; }

  static constexpr int kApart = -1;

  // A connection that is opened: how it was asked for, and all that tells it apart from others between devices of the same
  // colours. Its colour is one more than there are where it is the first of it.
  struct Opened {
    int from = 0, to = 0, sockets = 1, nic = -1, relay = -1, position = 0, traffic = 0;
    bool windowed = false;
    int group = 0, together = kApart, colour = 0;
    std::size_t first_link = 0, end_link = 0;
  };
  int open(Opened asked, std::vector<double> traits, const std::vector<int>& links);
  const Opened& opened(int connection) const { return opened_[static_cast<std::size_t>(connection)]; }
  int count() const { return static_cast<int>(opened_.size()); }
  // Connections that are opened from here on are parts of one communicator. `together`: its devices, where each call begins
  // for all of them at once. Its connections are then told apart by all of these, not by the two that each joins: they carry
  // the same at the same time, also where a device that computes less fast than the others is among them.
  void begin_group(std::span<const int> together = {});
  // As that of another connection, whose devices have the colours of these.
  void begin_group_like(const Opened& opened);
  bool is_together() const { return together_ != kApart; }
  // The first devices of the colours of those; none where they are apart.
  const std::vector<int>& together() const { return devices_together_; }
  int colour_of(int connection) const { return opened_[static_cast<std::size_t>(connection)].colour; }

  // The task that the next one of a line must be, or kNoTask where it is the first of its colour, which is then `made`.
  TaskId next(int line);
  void made(int line, TaskId task);
  // Whether two connections are at the same place of the same colour, and what says so.
  bool in_step(int a, int b) const { return place(a) == place(b); }
  std::uint64_t place(int connection) const;
  void skip(int connection, std::uint32_t tasks) {
    lines_[static_cast<std::size_t>(line_of(connection))].next += tasks;
  }

  // A line is where another one is, whose tasks are its own.
  void follow(int line, int other) {
    lines_[static_cast<std::size_t>(line)].next = lines_[static_cast<std::size_t>(other)].next;
  }

  // Of whole calls: what one that was alike in all that `key` says gave.
  std::map<std::vector<std::uint64_t>, std::vector<TaskId>>& calls() { return calls_; }

  // Devices of one colour were seen not to do the same. The graph is of no use then, but what all of its connections are says
  // which colours are finer: so it is still built to its end.
  void differ() { differs_ = true; }
  bool differs() const { return differs_; }

  // After the last task. Returns the coarsest finer colours that could hold where these do not, and throws NotAlike where
  // there are none; else nothing, and the routes of the colours' connections are made to lead over links of their colours,
  // each as many times as connections of the colour cross it, whose ways back are the first links of their colours too.
  // `taken_for`: of each link, the first of its colour.
  Colours settle(std::vector<Link>& links, std::vector<std::vector<int>*> routes, std::vector<int>& taken_for) const;

 private:
  static constexpr int kLines = 3;  // of a device
  struct Line {
    int sequence = 0;
    std::uint32_t next = 0;
  };
  struct Partition;
  Partition refined(const std::vector<Link>& links) const;
  std::vector<int> sets_of(const std::vector<int>& device_colours) const;

  std::vector<int> first_, given_;  // given_: of connections
  std::vector<Line> lines_;
  std::vector<std::vector<TaskId>> sequences_;
  std::vector<Opened> opened_;
  std::vector<int> links_;  // of all that were opened
  std::map<std::vector<double>, int> colours_;
  struct Pair {
    int group = -1, count = 0;
  };
  std::map<std::vector<double>, Pair> pairs_;  // how often one like it was opened between the same two devices
  int group_ = 0, together_ = kApart;          // of the connections to come
  std::vector<int> devices_together_;
  std::map<std::vector<int>, int> colours_of_groups_;
  std::map<std::vector<std::uint64_t>, std::vector<TaskId>> calls_;
  bool differs_ = false;
};

}  // namespace slmsim
