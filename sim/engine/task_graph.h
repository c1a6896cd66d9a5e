// The tasks of one iteration: computations on GPUs, transfers over connections, and the dependencies between them.
//
// A task may depend only on tasks added before it, so a graph has no cycle. The graph is independent of techniques and
// models: it has only devices, bytes, seconds and, for display, the kind of each task.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/unit.h"
#include "sim/engine/fold.h"
#include "sim/engine/hash_places.h"
#include "sim/engine/passage.h"
#include "sim/platform/network.h"

namespace slmsim {

enum class TaskKind : std::uint8_t {
  kCompute,   // `amount` seconds on device `place`
  kTransfer,  // `amount` bytes over connection `place`
  kDelay,     // `amount` seconds on nothing; 0 seconds: a join
  kHold,      // no time: from here on an NCCL kernel holds multiprocessors of device `place`,
  kRelease,   // until here
};

// The class of a task, for display and for the breakdown of time.
enum class TaskClass : std::uint8_t {
  kForward,
  kBackward,
  kOptimizer,  // Adam, on the GPU or on its host
  kLaunch,     // of an iteration
  kFramework,  // host work that the GPU waits for
  kCollective,
  kSend,     // activations and their gradients between stages
  kCopy,     // between GPU and host memory
  kDrive,    // I/O of drives
  kBuffer,   // copies on the GPU between tensors and the buffers of collectives
  kKernels,  // a delay: the minimum time of NCCL's kernels, independent of the links
  kHost,     // a delay: a host's time to launch a GPU's kernels, while the GPU runs earlier ones
};

// The pass of a task; collectives and messages have one too.
enum class Pass : std::uint8_t { kNone, kForward, kBackward };

// Properties shared by tasks that do the same.
struct Tag {
  std::string name;  // "fwd mb0 L3"
  TaskClass of = TaskClass::kCollective;
  Pass pass = Pass::kNone;

  bool operator==(const Tag&) const = default;
};
using TagId = std::uint32_t;

// Thrown by a graph that would grow beyond TaskGraph::limit().
struct TooManyTasks : std::runtime_error {
  TooManyTasks() : std::runtime_error("more tasks than are wanted") {}
};

struct Task {
  double amount = 0;
  std::int32_t place = -1;
  TagId tag = 0;                        // index into TaskGraph::tags()
  std::uint32_t first_predecessor = 0;  // predecessors end where the next task's begin
  TaskKind kind = TaskKind::kDelay;
  // For a transfer: the number of consecutive transfers of this size, each ready when the one before has arrived. For a
  // hold: multiprocessors.
  std::uint16_t times = 1;
};

// For a computation of the model: its matrix products, and the share of its stand-alone time that scales inversely with
// the number of multiprocessors; memory bounds the rest.
struct Work {
  Flops products;
  double bound = 0;

  bool operator==(const Work&) const = default;
};

// Traffic of a connection: messages between GPUs, or exchange of one GPU's process with its host, in the order of
// display. kMedium: a drive's own I/O time.
enum class Traffic : std::uint8_t { kMessages, kHostOptimizer, kCopies, kDrive, kMedium };

// Messages between two devices in a VM through the memory of a third one.
struct Relay {
  int from = 0, to = 0, by = 0;

  bool operator==(const Relay&) const = default;
};
using Relays = std::vector<Relay>;
// The relay between two devices; -1: none.
int relay_between(const Relays& relays, int from, int to);

// Sockets between two GPUs that carry their transfers in order. `sockets` equal TCP connections that share each
// transfer evenly are one Connection with that multiple of rate and window.
struct Connection {
  int from = 0, to = 0;  // devices; equal where it carries no messages
  int sockets = 1;
  Route route;
  Traffic traffic = Traffic::kMessages;
  std::string name = {};  // where it carries no messages: "to host memory", "reads nvme0"
  int nic = -1;           // NIC used between VMs; -1: the nearest
  int relay = -1;         // the GPU whose memory relays inside a VM; -1: none
  // Where it represents a ring's connections with devices of several kinds: one device of each kind (fold.h).
  std::vector<int> of = {};

  bool joins(int device) const {
    return from == device || to == device || std::find(of.begin(), of.end(), device) != of.end();
  }
};

// The nearest whole number of bytes: networks carry no parts of one. A call of std::round would dominate the cost.
inline Bytes whole_bytes(Bytes bytes) { return Bytes{std::trunc(bytes.value + 0.5)}; }

// The most that a connection carries alone: the least of its sockets' rates together and of its links'.
BytesPerSecond most_rate(const Connection& connection, const std::vector<Link>& links);

class TaskGraph {
 public:
  TaskGraph(std::vector<Link> links, int device_count)
      : TaskGraph(std::make_shared<const std::vector<Link>>(std::move(links)), device_count, nullptr) {}
  TaskGraph(std::vector<Link> links, const Colouring& alike)
      : TaskGraph(std::make_shared<const std::vector<Link>>(std::move(links)), static_cast<int>(alike.devices.size()),
                  &alike) {}
  TaskGraph(const Network& network, int device_count) : TaskGraph(network.shared_links(), device_count, nullptr) {}
  // With `alike`, a graph in which devices with equal colours are represented once (fold.h). Building it may throw
  // ColouringError.
  TaskGraph(std::shared_ptr<const std::vector<Link>> links, int device_count, const Colouring* alike);

  TaskId compute(int device, Seconds time, TagId tag, std::span<const TaskId> after, const Work& work = {});
  TaskId transfer(int connection, Bytes size, TagId tag, std::span<const TaskId> after, int times = 1);
  TaskId delay(Seconds time, TagId tag, std::span<const TaskId> after);
  // A delay on the host of a device; the tag must be of class kHost.
  TaskId host(int device, Seconds time, TagId tag, std::span<const TaskId> after);
  // After these tasks a kernel holds `held` of a device's `of` multiprocessors until the release.
  struct SmShare {
    int held = 0, of = 1;
  };
  TaskId hold(int device, SmShare share, TagId tag, std::span<const TaskId> after);
  TaskId release(int device, SmShare share, TagId tag, std::span<const TaskId> after);

  // `position`: index in a communicator's row of connections, which distinguishes connections with equal routes.
  int add_connection(Connection connection, int position = 0);
  // The connection of that number, or its representative.
  const Connection& connection(int number) const { return connections_[representative(number)]; }
  // Number of connections requested so far.
  int opened() const { return fold_ ? fold_->count() : static_cast<int>(connections_.size()); }
  // The number of the connection that represents this one.
  int representative(int number) const { return fold_ ? fold_->colour_of(number) : number; }
  // Connections opened until the next call belong to one communicator. `together`: its devices, if all of them begin
  // each call at once (fold.h).
  void begin_group(std::span<const int> together = {}) {
    if (fold_) fold_->begin_group(together);
  }
  // Whether only connections matter from here on, because devices of one colour differ (fold.h).
  bool has_only_connections() const { return fold_ && fold_->differs(); }
  // nullptr without folding.
  Fold* fold() { return fold_.get(); }
  // With folding: takes over the devices' work on the connections from `first` to `end` - 1 for other devices of the
  // same colours and their own connections. Equal parts need not be built again.
  void repeat(int first, int end, const std::map<int, int>& devices, const Network& network);
  // Call after the last task: verifies the colours. Returns the colours to try next if they do not hold.
  Colouring settle();
  // The colours to try first, by the connections alone.
  Colouring coarsest() const { return fold_->coarsest(*links_); }
  // Whether tasks represent several ones. Only the iteration's time, and the times of the first device and connection
  // of each colour, are then valid.
  bool is_folded() const { return folded_; }
  // The link whose flows represent the traffic of this one.
  int link_of(int link) const { return taken_for_.empty() ? link : taken_for_[link]; }
  // The link opposite to this one; -1: none.
  int link_back(int link) const {
    const int back = links()[link].back;
    return back < 0 ? -1 : link_of(back);
  }
  // The device whose tasks represent those of this one.
  int device_of(int device) const { return device_taken_for_.empty() ? device : device_taken_for_[device]; }

  // The same devices, links and connections, after folding.
  TaskGraph without_tasks() const;

  // Call where that many tasks will follow.
  void reserve(std::size_t tasks) {
    if (fold_) return;
    tasks_.reserve(tasks + tasks / 8);
    predecessors_.reserve(tasks + tasks / 2);
  }

  // No more tasks than these, after folding.
  void limit(std::size_t tasks) { most_tasks_ = tasks; }

  TagId tag(Tag tag);  // the same tag gives the same number

  // Records a passage of a new task; passages in the order of their tasks.
  void stands_for(Passage passage) { passages_.push_back(std::move(passage)); }
  const std::vector<Passage>& passages() const { return passages_; }
  void stands_for(const RepeatedSteps& steps) { repeated_steps_.push_back(steps); }
  const std::vector<RepeatedSteps>& repeated_steps() const { return repeated_steps_; }

  // For what-ifs. Computations and delays of this class take `factor` times as long; without latency, a transfer
  // arrives with its last byte and latencies take no time.
  void scale(TaskClass of, double factor);
  void remove_latency();

  // Replaces the network by one that differs between VMs only. Tasks are unchanged.
  void move_to(const Network& network);
  // Multiplies the bytes of transfers by a factor of their connection.
  void scale_transfers(const std::vector<double>& factors);
  // Multiplies the time of computations by a factor of the device and the computation's index among the device's
  // `count`.
  void scale_computations(const std::function<double(int device, std::size_t place, std::size_t count)>& factor);

  const std::vector<Task>& tasks() const { return tasks_; }
  std::span<const TaskId> predecessors(TaskId task) const {
    const std::size_t first = tasks_[task].first_predecessor;
    const std::size_t last = task + 1 < tasks_.size() ? tasks_[task + 1].first_predecessor : predecessors_.size();
    return {predecessors_.data() + first, last - first};
  }
  const std::vector<Connection>& connections() const { return connections_; }
  const std::vector<Link>& links() const { return *links_; }
  const std::vector<Tag>& tags() const { return tags_; }
  const Tag& tag_of(const Task& task) const { return tags_[task.tag]; }
  // A delay on links, and not in NCCL's kernels or in launching kernels.
  bool is_latency(const Task& task) const {
    if (task.kind != TaskKind::kDelay) return false;
    const TaskClass of = tag_of(task).of;
    return of != TaskClass::kKernels && of != TaskClass::kHost;
  }
  // Empty for tasks other than computations of the model.
  Work work(TaskId task) const;
  // Work::bound of each task.
  std::vector<double> bounds() const;
  // Multiprocessors of devices with holds; 0 for others.
  int multiprocessors(int device) const { return is_held() ? multiprocessors_[device] : 0; }
  bool is_held() const { return !multiprocessors_.empty(); }
  int device_count() const { return device_count_; }

 private:
  TaskId append(Task task, std::span<const TaskId> after);
  TaskId add(const Task& task, std::span<const TaskId> after, int line = Fold::kNoLine);
  TaskId add_hold(TaskKind kind, int device, SmShare share, TagId tag, std::span<const TaskId> after);
  int open_folded(Connection connection, int position);
  TaskId add_folded(const Task& task, std::span<const TaskId> after, int line);
  static std::uint32_t hash_of(const Task& task, std::span<const TaskId> after);
  bool is_like(TaskId known, const Task& task, std::span<const TaskId> after) const;

  std::vector<Task> tasks_;
  std::vector<TaskId> predecessors_;
  std::vector<Connection> connections_;
  std::shared_ptr<const std::vector<Link>> links_;
  std::vector<Tag> tags_;
  HashPlaces tag_places_;                      // of tags_
  std::vector<std::pair<TaskId, Work>> work_;  // of tasks with work, in order
  std::vector<Passage> passages_;
  std::vector<RepeatedSteps> repeated_steps_;
  std::vector<int> multiprocessors_;  // per device; empty without holds
  int device_count_ = 0;
  std::size_t most_tasks_ = std::numeric_limits<std::size_t>::max();
  std::shared_ptr<Fold> fold_;
  bool folded_ = false;
  std::vector<int> taken_for_, device_taken_for_;  // per link and per device, after folding
  std::vector<TaskId> distinct_;                   // during folding: predecessors of a new task
  std::vector<double> traits_;                     // during folding: of a new connection
  HashPlaces joins_;                               // during folding: of delays without a place
};

}  // namespace slmsim
