// What must happen in one iteration: computations on GPUs, transfers over connections, and what waits for
// what.
//
// A task may only wait for tasks that were added before it, so a graph cannot hold a cycle. From here on
// nothing knows of techniques or models: there are only devices, bytes, seconds and labels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/base/unit.h"
#include "sim/platform/network.h"

namespace slmsim {

using TaskId = std::uint32_t;
inline constexpr TaskId kNoTask = ~TaskId{0};

enum class TaskKind : std::uint8_t {
  kCompute,   // `amount` seconds on device `place`
  kTransfer,  // `amount` bytes over connection `place`
  kDelay,     // `amount` seconds on nothing; 0 seconds: a join
};

// What a computation's time is counted as; of delays, kKernels are what NCCL's kernels need, all others are latencies.
enum class Activity : std::uint8_t { kModel, kOptimizer, kOverhead, kCommunication, kKernels };

struct Task {
  double amount = 0;
  std::int32_t place = -1;
  std::uint32_t label = 0;              // index into TaskGraph::labels()
  std::uint32_t first_predecessor = 0;  // predecessors end where the next task's begin
  TaskKind kind = TaskKind::kDelay;
  Activity activity = Activity::kCommunication;
};

constexpr bool is_latency(const Task& task) {
  return task.kind == TaskKind::kDelay && task.activity != Activity::kKernels;
}

// What a connection carries: messages between GPUs, or what one GPU's process does with its host, in the order in which
// people look at it. kMedium: what the drive itself takes of its I/O.
enum class Traffic : std::uint8_t { kMessages, kHostOptimizer, kCopies, kDrive, kMedium };

// Sockets between two GPUs that carry their transfers in order, one after the other. `sockets` equal TCP
// connections that share each transfer evenly are one Connection with that many times the rate and window.
struct Connection {
  int from = 0, to = 0;  // devices; the same one where it carries no messages
  int sockets = 1;
  Route route;
  Traffic traffic = Traffic::kMessages;
  std::string name = {};  // where it carries no messages: "to host memory", "reads nvme0"
  int nic = -1;           // that it uses between VMs; -1: the nearest
};

class TaskGraph {
 public:
  explicit TaskGraph(std::vector<Link> links, int device_count)
      : links_(std::move(links)), device_count_(device_count) {}

  TaskId compute(int device, Seconds time, Activity activity, std::uint32_t label, std::span<const TaskId> after);
  TaskId transfer(int connection, Bytes size, std::uint32_t label, std::span<const TaskId> after);
  TaskId delay(Seconds time, std::uint32_t label, std::span<const TaskId> after,
               Activity activity = Activity::kCommunication);

  int add_connection(Connection connection);
  std::uint32_t label(const std::string& text);  // the same text gives the same number

  // For what-ifs. Computations and delays that are counted as `activity` take `factor` times as long; a transfer arrives
  // with its last byte and latencies are over at once.
  void scale(Activity activity, double factor);
  void remove_latency();

  // For another network that differs between VMs only. Tasks remain as they are.
  void move_to(const Network& network);
  // Every computation that is counted as `activity` takes so long.
  void set_time(Activity activity, Seconds time);

  const std::vector<Task>& tasks() const { return tasks_; }
  std::span<const TaskId> predecessors(TaskId task) const {
    const std::size_t first = tasks_[task].first_predecessor;
    const std::size_t last = task + 1 < tasks_.size() ? tasks_[task + 1].first_predecessor : predecessors_.size();
    return {predecessors_.data() + first, last - first};
  }
  const std::vector<Connection>& connections() const { return connections_; }
  const std::vector<Link>& links() const { return links_; }
  const std::vector<std::string>& labels() const { return labels_; }
  int device_count() const { return device_count_; }

 private:
  TaskId add(Task task, std::span<const TaskId> after);

  std::vector<Task> tasks_;
  std::vector<TaskId> predecessors_;
  std::vector<Connection> connections_;
  std::vector<Link> links_;
  std::vector<std::string> labels_;
  std::unordered_map<std::string, std::uint32_t> label_numbers_;
  int device_count_ = 0;
};

}  // namespace slmsim
