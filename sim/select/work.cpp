#include "sim/select/work.h"

#include <map>
#include <tuple>

#include "sim/plan/holding.h"

namespace slmsim {
namespace {

constexpr double kRounding = 1e-9;

struct Piece {
  double time = 0, flops = 0;
};

// What one GPU does for one micro-batch, operator by operator in the order of the pass.
struct Passes {
  std::vector<Piece> forward, backward;
};

Passes passes_of(const Plan& plan, const Stage& stage, std::size_t rank, const OperatorGraph& operators,
                 const Scenario& scenario) {
  const double sequences = micro_batch_sequences(plan, scenario.training);
  const Gpu& gpu = scenario.platform.devices[static_cast<std::size_t>(stage.mesh[rank])].gpu;
  const int layers = operators[boost::num_vertices(operators) - 1].layer;
  Passes passes;
  for (std::size_t i = 0; i < stage.shardings.size(); ++i) {
    const Operator& op = operators[stage.first + i];
    const Share share = share_of(stage, i, rank, sequences);
    const double flops = op.matrix.flops() * share.sequences / (share.columns * share.rows);
    const OperatorTime time = operator_time(op, share, gpu, scenario.training.precision, scenario.efficiency);
    const bool again = scenario.training.rematerialisation && op.layer >= 0 && op.layer < layers;
    passes.forward.push_back({time.forward.value, flops});
    passes.backward.push_back(
        {time.backward.value + (again ? time.forward.value : 0.0), 2 * flops + (again ? flops : 0.0)});
  }
  passes.backward = {passes.backward.rbegin(), passes.backward.rend()};
  return passes;
}

// Deals the operators of a pass to its tasks by their times.
class Dealer {
 public:
  explicit Dealer(const std::vector<Piece>& pieces) : pieces_(pieces) {}

  double take(double time) {
    double taken = 0, flops = 0;
    while (next_ < pieces_.size() && taken + pieces_[next_].time <= time * (1 + kRounding)) {
      taken += pieces_[next_].time;
      flops += pieces_[next_++].flops;
    }
    if (next_ == pieces_.size()) next_ = 0;  // the next micro-batch
    return flops;
  }

 private:
  const std::vector<Piece>& pieces_;
  std::size_t next_ = 0;
};

// Where a plan is lowered by layers, a pass's FLOPs are dealt to its tasks by their times: a GPU's tasks of a pass are
// layers that do the same.
std::vector<Flops> flops_by_time(const TaskGraph& graph, const Plan& plan, const OperatorGraph& operators,
                                 const Scenario& scenario) {
  const bool full = recomputes_layers(plan, scenario.training);
  struct Pass {
    double flops = 0, time = 0;
  };
  std::map<std::pair<int, bool>, Pass> passes;  // by device, forward or not
  for (const Stage& stage : plan.stages) {
    for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
      for (std::size_t i = 0; i < stage.shardings.size(); ++i) {
        const Operator& op = operators[stage.first + i];
        const Share share = share_of(stage, i, rank, scenario.training.batch);
        const double flops = op.matrix.flops() * share.sequences / (share.columns * share.rows);
        const bool inside = op.layer >= 0 && op.layer < operators[boost::num_vertices(operators) - 1].layer;
        passes[{stage.mesh[rank], true}].flops += flops;
        passes[{stage.mesh[rank], false}].flops += flops * (full && inside ? 3 : 2);
      }
    }
  }
  const auto pass_of = [&](const Task& task) -> Pass* {
    if (task.kind != TaskKind::kCompute || task.activity != Activity::kModel) return nullptr;
    return &passes[{task.place, graph.labels()[task.label].starts_with("fwd")}];
  };
  for (const Task& task : graph.tasks()) {
    if (Pass* pass = pass_of(task)) pass->time += task.amount;
  }
  std::vector<Flops> flops(graph.tasks().size());
  for (std::size_t id = 0; id < flops.size(); ++id) {
    const Pass* pass = pass_of(graph.tasks()[id]);
    if (pass && pass->time > 0) flops[id] = Flops{pass->flops * graph.tasks()[id].amount / pass->time};
  }
  return flops;
}

}  // namespace

std::vector<Flops> task_flops(const TaskGraph& graph, const Plan& plan, const OperatorGraph& operators,
                              const Scenario& scenario) {
  if (plan.replicas || plan.megatron) return flops_by_time(graph, plan, operators, scenario);
  struct Dealt {
    Dealer forward, backward;
  };
  std::map<int, Dealt> devices;
  using Key = std::tuple<std::string, const KernelTable*, double>;
  std::vector<std::map<Key, Passes>> known(plan.stages.size());  // equal GPUs, equal shares
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
      const Gpu& gpu = scenario.platform.devices[static_cast<std::size_t>(stage.mesh[rank])].gpu;
      const auto [at, is_new] = known[s].try_emplace({gpu.name, gpu.kernels.get(), stage.batch_shares[rank]});
      if (is_new) at->second = passes_of(plan, stage, rank, operators, scenario);
      devices.emplace(stage.mesh[rank], Dealt{Dealer(at->second.forward), Dealer(at->second.backward)});
    }
  }
  std::vector<Flops> flops(graph.tasks().size());
  for (std::size_t id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    if (task.kind != TaskKind::kCompute || task.activity != Activity::kModel) continue;
    const auto device = devices.find(task.place);
    if (device == devices.end()) continue;
    const bool forward = graph.labels()[task.label].starts_with("fwd");
    flops[id] = Flops{(forward ? device->second.forward : device->second.backward).take(task.amount)};
  }
  return flops;
}

}  // namespace slmsim
