// Resources that may be taken to be without limit, one by one or several at once: what `slmsim explain` asks of a case is
// how long an iteration takes with them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/model/operator.h"
#include "sim/predict/predict.h"

namespace slmsim {

// A case that is no longer as the scenario has it. Links and TCP are those of `network`; NCCL's choices, the GPUs and what
// the framework does remain those of the scenario where `scenario` is not changed too.
struct IdealCase {
  Scenario scenario;
  Platform network;
  std::vector<TaskClass> timeless = {};  // tasks of these classes take no time
};

struct Ideal {
  std::string name;        // "GPU", "window", "wan", "nic:gat", ...
  std::string what;        // what is taken to be without limit
  std::string whole = {};  // of which other ideal this is a part: "window" of "loss"; empty for a whole
  std::function<void(IdealCase&)> apply;
  bool without_latency = false;  // what messages wait for on their way; a window hides it
  // Told only where none of its parts gives anything back: of two VMs that are alike, a faster one may give nothing.
  bool only_together = false;
};

using Ideals = std::vector<const Ideal*>;

// One technique with its plan, and what a steady iteration takes with some resources idealised.
class IdealRuns {
 public:
  IdealRuns(const Scenario& scenario, const Transformer& model, const Plan& plan);

  // The task graph of the case as it is.
  const TaskGraph& graph() const { return graph_; }
  // All that concern the case: a link that it does not use is left out. Wholes come before their parts.
  const std::vector<Ideal>& ideals() const { return ideals_; }
  // Mean time of a step, of an iteration or of a round's steps; each is simulated once, however often it is asked for.
  Seconds with(const Ideals& ideals);
  // The same of several at once: over all cores, so that with() has them.
  void prepare(const std::vector<Ideals>& sets);
  // How many were simulated.
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
  // Added where it makes a link faster that the case uses.
  bool add_rate(Ideal ideal);
  bool concerns(const Ideal& ideal) const;

  const Scenario& scenario_;
  const Plan& plan_;
  std::shared_ptr<const OperatorGraph> operators_;
  TaskGraph graph_;         // of every GPU
  TaskGraph folded_;        // with GPUs that are alike taken once
  std::vector<bool> used_;  // links of the network, by index
  std::vector<Ideal> ideals_;
  std::map<std::set<const Ideal*>, Seconds> known_;
};

}  // namespace slmsim
