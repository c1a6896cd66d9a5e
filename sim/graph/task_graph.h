// What must happen in one iteration: computations on GPUs, transfers over connections, and what waits for
// what.
//
// A task may only wait for tasks that were added before it, so a graph cannot hold a cycle. From here on
// nothing knows of techniques or models: there are only devices, bytes, seconds and, for people, what a task is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/unit.h"
#include "sim/graph/fold.h"
#include "sim/graph/hash_places.h"
#include "sim/platform/network.h"

namespace slmsim {

enum class TaskKind : std::uint8_t {
  kCompute,   // `amount` seconds on device `place`
  kTransfer,  // `amount` bytes over connection `place`
  kDelay,     // `amount` seconds on nothing; 0 seconds: a join
  kHold,      // no time: from here on a kernel of NCCL's holds multiprocessors of device `place`,
  kRelease,   // until here
};

// What a task is to a person who looks at an iteration, and what its time is counted as.
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
  kBuffer,   // copies on the GPU between tensors and what collectives take
  kKernels,  // a delay: what NCCL's kernels need, however fast the links
  kHost,     // a delay: what a host needs to launch a GPU's kernels, while the GPU does earlier ones
};

// The pass in which a task happens; of collectives and messages too.
enum class Pass : std::uint8_t { kNone, kForward, kBackward };

// What tasks that do the same have in common.
struct Tag {
  std::string name;  // "fwd mb0 L3"
  TaskClass of = TaskClass::kCollective;
  Pass pass = Pass::kNone;

  bool operator==(const Tag&) const = default;
};
using TagId = std::uint32_t;

struct Task {
  double amount = 0;
  std::int32_t place = -1;
  TagId tag = 0;                        // index into TaskGraph::tags()
  std::uint32_t first_predecessor = 0;  // predecessors end where the next task's begin
  TaskKind kind = TaskKind::kDelay;
  // Of a transfer: so many of this size, each ready when the one before has arrived. Of a hold: multiprocessors.
  std::uint16_t times = 1;
};

// Of a computation of the model: its matrix products, and the share of its time, alone on its GPU, that it would take longer
// in proportion if the GPU had fewer multiprocessors; memory bounds the rest.
struct Work {
  Flops products;
  double bound = 0;

  bool operator==(const Work&) const = default;
};

// What a connection carries: messages between GPUs, or what one GPU's process does with its host, in the order in which
// people look at it. kMedium: what the drive itself takes of its I/O.
enum class Traffic : std::uint8_t { kMessages, kHostOptimizer, kCopies, kDrive, kMedium };

// Messages between two devices in a VM that go by the memory of a third one.
struct Relay {
  int from = 0, to = 0, by = 0;

  bool operator==(const Relay&) const = default;
};
using Relays = std::vector<Relay>;
// By which they go; -1: by none.
int relay_between(const Relays& relays, int from, int to);

// Sockets between two GPUs that carry their transfers in order, one after the other. `sockets` equal TCP
// connections that share each transfer evenly are one Connection with that many times the rate and window.
struct Connection {
  int from = 0, to = 0;  // devices; the same one where it carries no messages
  int sockets = 1;
  Route route;
  Traffic traffic = Traffic::kMessages;
  std::string name = {};  // where it carries no messages: "to host memory", "reads nvme0"
  int nic = -1;           // that it uses between VMs; -1: the nearest
  int relay = -1;         // the GPU by whose memory it goes inside a VM; -1: none
  // Where it stands for those of a ring whose devices are of several kinds: one of each kind (fold.h).
  std::vector<int> of = {};

  bool joins(int device) const {
    return from == device || to == device || std::find(of.begin(), of.end(), device) != of.end();
  }
};

// What is left of a task when some time has passed.
struct TaskRest {
  double amount = 0;
  std::uint16_t times = 1;
  bool as_delay = false;  // nothing but so many seconds of it is left; 0: it is over
};

class TaskGraph {
 public:
  explicit TaskGraph(std::vector<Link> links, int device_count)
      : links_(std::move(links)), device_count_(device_count) {}
  // One in which devices that `alike` gives one colour are taken once (fold.h). While it is built NotAlike may be thrown.
  TaskGraph(std::vector<Link> links, const Colours& alike);

  TaskId compute(int device, Seconds time, TagId tag, std::span<const TaskId> after, const Work& work = {});
  TaskId transfer(int connection, Bytes size, TagId tag, std::span<const TaskId> after, int times = 1);
  TaskId delay(Seconds time, TagId tag, std::span<const TaskId> after);
  // A delay on the host of a device, whose tag is of class kHost.
  TaskId host(int device, Seconds time, TagId tag, std::span<const TaskId> after);
  // After these tasks a kernel holds so many of a device's multiprocessors, until they are released.
  struct Held {
    int held = 0, of = 1;
  };
  TaskId hold(int device, Held multiprocessors, TagId tag, std::span<const TaskId> after);
  TaskId release(int device, Held multiprocessors, TagId tag, std::span<const TaskId> after);

  // `position`: of those that a communicator has in a row, which tells them apart where their routes do not.
  int add_connection(Connection connection, int position = 0);
  // The connection of that number, or the one that it is taken for.
  const Connection& connection(int number) const {
    return connections_[static_cast<std::size_t>(fold_ ? fold_->colour_of(number) : number)];
  }
  // Connections that are opened until the next call are parts of one communicator. `together`: its devices, where all of
  // them begin each call at once (fold.h).
  void begin_group(std::span<const int> together = {}) {
    if (fold_) fold_->begin_group(together);
  }
  // nullptr where every device is itself.
  Fold* fold() { return fold_.get(); }
  // Where it folds: what devices have done over the connections from `first` to `end` - 1, opened for it, other devices of the
  // same colours are taken to do over their own. For equal parts as a whole, which then need not be gone through.
  void repeat(int first, int end, const std::map<int, int>& devices, const Network& network);
  // After the last task: whether what was taken for one is alike. If not, the colours to try next.
  Colours settle();
  // Whether tasks stand for several ones: then it is the time of the iteration that can be told, and of each device and
  // connection that is the first of its colour.
  bool is_folded() const { return folded_; }
  // The link whose flows say what crosses this one.
  int link_of(int link) const { return taken_for_.empty() ? link : taken_for_[static_cast<std::size_t>(link)]; }

  TagId tag(Tag tag);  // the same tag gives the same number

  // For what-ifs. Computations and delays of this class take `factor` times as long; a transfer arrives with its last byte
  // and latencies are over at once.
  void scale(TaskClass of, double factor);
  void remove_latency();

  // For another network that differs between VMs only. Tasks remain as they are.
  void move_to(const Network& network);
  // Every computation of this class takes so long.
  void set_time(TaskClass of, Seconds time);
  // Goes on from where its tasks are, one rest for each.
  void go_on_with(const std::vector<TaskRest>& rests);
  // Computations take so many times as long, by their device and their place among those of the device, which are `count`.
  void scale_computations(const std::function<double(int device, std::size_t place, std::size_t count)>& factor);

  const std::vector<Task>& tasks() const { return tasks_; }
  std::span<const TaskId> predecessors(TaskId task) const {
    const std::size_t first = tasks_[task].first_predecessor;
    const std::size_t last = task + 1 < tasks_.size() ? tasks_[task + 1].first_predecessor : predecessors_.size();
    return {predecessors_.data() + first, last - first};
  }
  const std::vector<Connection>& connections() const { return connections_; }
  const std::vector<Link>& links() const { return links_; }
  const std::vector<Tag>& tags() const { return tags_; }
  const Tag& tag_of(const Task& task) const { return tags_[task.tag]; }
  // A delay that passes on links, rather than in NCCL's kernels or in launching kernels.
  bool is_latency(const Task& task) const {
    if (task.kind != TaskKind::kDelay) return false;
    const TaskClass of = tag_of(task).of;
    return of != TaskClass::kKernels && of != TaskClass::kHost;
  }
  // Nothing of what is no computation of the model.
  Work work(TaskId task) const;
  // Of devices of which anything is held; 0 of others.
  int multiprocessors(int device) const { return is_held() ? multiprocessors_[static_cast<std::size_t>(device)] : 0; }
  bool is_held() const { return !multiprocessors_.empty(); }
  int device_count() const { return device_count_; }

 private:
  TaskId append(Task task, std::span<const TaskId> after);
  TaskId add(const Task& task, std::span<const TaskId> after, int line = Fold::kNoLine);
  TaskId add_hold(TaskKind kind, int device, Held multiprocessors, TagId tag, std::span<const TaskId> after);
  int open_folded(Connection connection, int position);
  TaskId add_folded(const Task& task, std::span<const TaskId> after, int line);
  static std::uint32_t hash_of(const Task& task, std::span<const TaskId> after);
  bool is_like(TaskId known, const Task& task, std::span<const TaskId> after) const;

  std::vector<Task> tasks_;
  std::vector<TaskId> predecessors_;
  std::vector<Connection> connections_;
  std::vector<Link> links_;
  std::vector<Tag> tags_;
  HashPlaces tag_places_;                      // of tags_
  std::vector<std::pair<TaskId, Work>> work_;  // of those that have any, in their order
  std::vector<int> multiprocessors_;           // of each device; empty where nothing is held of any
  int device_count_ = 0;
  std::shared_ptr<Fold> fold_;
  bool folded_ = false;
  std::vector<int> taken_for_;    // of links, once it is folded
  std::vector<TaskId> distinct_;  // while it is folded: what a new task waits for
  HashPlaces joins_;              // while it is folded: of delays that take place nowhere
};

}  // namespace slmsim
