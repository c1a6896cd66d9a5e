// Time that an iteration would give back if a resource were infinitely fast: for each resource alone, in pairs that hide each
// other, and one after the other until most of the time is explained.
//
// Every number is a separate simulation: the same plan and the same choices of NCCL, with those resources idealised and the
// rest unchanged. Work that waits behind one limit may wait behind the next, so the numbers of single resources need not add
// up; those in turn do.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/compute/operator.h"
#include "sim/engine/simulate.h"
#include "sim/engine/task_graph.h"
#include "sim/predict/predict.h"

namespace slmsim {

// The critical path: the chain of tasks that an iteration's end waited for, and the latencies on it.

// From the first task to the one that finished last: each began when the one before it was done, or when that one's last byte
// left the connection that both use.
std::vector<TaskId> critical_path(const TaskGraph& graph, const Timeline& timeline);

// Latencies of transfers on the path whose arrival the next task waited for.
struct PathLatencies {
  int between_vms = 0, inside_vms = 0;
  Seconds sum;
};
PathLatencies latencies_of(const TaskGraph& graph, const Timeline& timeline, const std::vector<TaskId>& path);

struct Limit {
  std::string name;    // "GPU", "window", "wan", "nic:gat", ...
  std::string what;    // description of the unlimited resource
  Seconds given_back;  // of a steady iteration
};

// Two that hide each other: together they give back at least a tenth of an iteration more than both alone; one that alone makes
// the iteration longer counts as zero.
struct LimitPair {
  std::string first, second;
  Seconds alone_first, alone_second, together;
};

// Removed in addition to those before it in the list. Two at once where neither helps alone.
struct CumulativeLimit {
  std::vector<std::string> names;
  Seconds given_back;  // beyond the ones before
};

struct Limits {
  // The largest first; resources that give back less than a hundredth are left out. Latency is listed beside the window,
  // because windows depend on the same distance.
  std::vector<Limit> single;
  std::vector<LimitPair> pairs;          // the largest first
  std::vector<CumulativeLimit> in_turn;  // the largest of the rest next, until a tenth is left
  Seconds left;                          // iteration time without all of them
  PathLatencies latencies;               // on the critical path
};

// `in_depth`: pairs and in_turn too, which take about ten more simulations. `told`, if set, is called periodically with the
// number of simulations.
Limits find_limits(const Scenario& scenario, const Transformer& model, const Prediction& prediction, bool in_depth,
                   const std::function<void(std::size_t)>& on_progress = {});

// Resources taken as unlimited, one by one or several at once, and the length of an iteration with them: the cases of `slmsim
// explain`.

// A changed case. Links and TCP come from `network`; NCCL's choices, the GPUs and the framework stay those of the scenario
// unless `scenario` changes too.
struct IdealCase {
  Scenario scenario;
  Platform network;
  std::vector<TaskClass> timeless = {};  // tasks of these classes take no time
};

struct Ideal {
  std::string name;        // "GPU", "window", "wan", "nic:gat", ...
  std::string what;        // description of the unlimited resource
  std::string whole = {};  // the ideal that contains this one: "window" of "loss"; empty for a whole
  std::function<void(IdealCase&)> apply;
  bool without_latency = false;  // removes the latency of messages, which a window hides
  // Listed only where none of its parts gives anything back: a faster one of two equal VMs may give nothing.
  bool only_together = false;
};

using Ideals = std::vector<const Ideal*>;

// One technique with its plan, and the time of a steady iteration with some resources idealised.
class IdealRuns {
 public:
  IdealRuns(const Scenario& scenario, const Transformer& model, const Plan& plan);

  // The task graph of the unchanged case.
  const TaskGraph& graph() const { return graph_; }
  // Those that affect the case: links that it does not use are left out. Wholes come before their parts.
  const std::vector<Ideal>& ideals() const { return ideals_; }
  // Mean time of a step, for an iteration or a round; each set is simulated once.
  Seconds with(const Ideals& ideals);
  // Simulates several sets in parallel on all cores, for later calls of with().
  void prepare(const std::vector<Ideals>& sets);
  // Number of simulated sets.
  std::size_t count() const { return known_.size(); }

 private:
  IdealCase unchanged() const { return {.scenario = scenario_, .network = scenario_.platform}; }
  TaskGraph lowered(const IdealCase& changed) const;
  Seconds simulated(const Ideals& ideals) const;
  void list();
  void list_computation();
  void list_transport();
  void list_links();
  void list_machines();
  void list_insides();
  void add(Ideal ideal) { ideals_.push_back(std::move(ideal)); }
  // Added where it speeds up a link that the case uses.
  bool add_rate(Ideal ideal);
  bool concerns(const Ideal& ideal) const;

  const Scenario& scenario_;
  const Plan& plan_;
  std::shared_ptr<const OperatorGraph> operators_;
  TaskGraph graph_;         // of every GPU
  TaskGraph folded_;        // with equal GPUs merged
  std::vector<bool> used_;  // links of the network, by index
  std::vector<Ideal> ideals_;
  std::map<std::set<const Ideal*>, Seconds> known_;
};

}  // namespace slmsim
