#include "sim/technique/alpa/planner/stage_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include <boost/range/iterator_range.hpp>

#include "sim/collective/collective_time.h"
#include "sim/compute/operator_graph.h"
#include "sim/platform/network.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/alpa/planner/option.h"
#include "sim/technique/alpa/planner/planning_cost.h"
#include "sim/technique/alpa/planner/stage_plan.h"
#include "sim/technique/common/holding.h"
#include "sim/technique/common/memory.h"
#include "sim/technique/common/technique.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostClusters = 48;   // maximum number of layers into which operators are clustered,
constexpr std::size_t kFewLayers = 16;      // and for groups of more than kMostGpusApart GPUs
constexpr std::size_t kMostGpusApart = 32;  // in larger groups only whole VMs are submeshes

using Vms = std::vector<std::vector<int>>;  // the group's devices by VM

Vms by_vm(const PlanRequest& request) {
  Vms vms;
  const auto& devices = request.scenario.platform.devices;
  for (const int device : request.group.devices) {
    const int vm = devices[device].vm;
    const auto same = [&](const std::vector<int>& other) { return devices[other.front()].vm == vm; };
    const auto at = std::find_if(vms.begin(), vms.end(), same);
    (at == vms.end() ? vms.emplace_back() : *at).push_back(device);
  }
  return vms;
}

// Rounds to steps of 2^-40 s, about a picosecond, which doubles add exactly up to 2^13 s. Equal cuts then have equal
// costs, independent of rounding errors.
double in_steps(double seconds) {
  constexpr double kStep = 0x1p-40;
  return std::round(seconds / kStep) * kStep;
}

// `tensor`: a stage's number of GPUs is a multiple of it.
std::vector<Submesh> submeshes_of(const Vms& vms, std::size_t tensor) {
  std::vector<std::size_t> starts = {0};
  for (const auto& vm : vms) starts.push_back(starts.back() + vm.size());
  std::vector<Submesh> out;
  for (std::size_t vm = 0; vm < vms.size(); ++vm) {
    const std::size_t size = vms[vm].size();
    for (std::size_t wide = tensor; wide < size && starts.back() <= kMostGpusApart; wide *= 2) {
      for (std::size_t first = 0; first + wide <= size; ++first)
        out.push_back({starts[vm] + first, starts[vm] + first + wide});
    }
    for (std::size_t wide = 1; vm + wide <= vms.size(); wide *= 2) out.push_back({starts[vm], starts[vm + wide]});
    if ((vms.size() & (vms.size() - 1)) != 0 && vm == 0) out.push_back({0, starts.back()});  // all of them
  }
  std::erase_if(out, [&](const Submesh& submesh) { return (submesh.last - submesh.first) % tensor != 0; });
  return out;
}

class Chooser {
 public:
  Chooser(const PlanRequest& request, const Network& network)
      : request_(request),
        network_(network),
        cuts_(stage_cuts(request)),
        starts_(cuts_.starts),
        kinds_(request.scenario.platform) {
    sequences_ = static_cast<double>(request.scenario.training.batch) / request.options.micro_batches();
    recompute_ = request.options.recompute(request.scenario.training.rematerialisation);
  }

  // The best cut for VMs in any order; ties by the first order. Then those that may be better where pauses between micro-batches
  // shrink TCP's windows, which lengthens the pauses.
  std::vector<std::vector<ChosenStage>> best() {
    std::vector<Meshes> meshes;
    meshes.reserve(cuts_.orders.size());  // problems refer to them
    std::vector<PipelineProblem> problems;
    problems.reserve(cuts_.orders.size());
    for (const StageCuts::Order& order : cuts_.orders) problems.push_back(problem_of(order, meshes.emplace_back()));
    std::vector<std::vector<ChosenStage>> out;
    const auto add = [&](const std::optional<BestCut>& best) {
      if (!best) return;
      std::vector<ChosenStage> stages;
      for (const auto& stage : best->cut.stages)
        stages.push_back({starts_[stage.first], starts_[stage.last], meshes[best->problem].devices[stage.submesh]});
      if (std::ranges::find(out, stages) == out.end()) out.push_back(std::move(stages));
    };
    const auto usual = cut_pipelines(problems);
    add(usual);
    constexpr double kMatters = 1.01;
    if (!usual || lasting_time(problems, *usual) < kMatters * usual->cut.time) return out;
    for (const Seconds period : {period_, kLongPause}) {
      take(period);
      add(cut_pipelines(problems));
    }
    return out;
  }

 private:
  static constexpr Seconds kLongPause{60};

  // Time of an iteration once it repeats, and `period_` of its micro-batches: from windows that are as small as after a long pause.
  double lasting_time(const std::vector<PipelineProblem>& problems, const BestCut& best) {
    constexpr int kMostTries = 20;
    constexpr double kSame = 1 - 1e-6;
    double time = best.cut.time;
    Seconds period = kLongPause;
    for (int tries = 0; tries < kMostTries; ++tries) {
      take(period);
      time = pipeline_time(problems[best.problem], best.cut.stages);
      const Seconds next{time / request_.options.micro_batches()};
      if (next > period * kSame) break;
      period = next;
    }
    return time;
  }

  void take(Seconds period) {
    period_ = period;
    sent_.clear();
  }

  struct Meshes {
    std::vector<std::vector<int>> devices;
    std::vector<std::size_t> numbers;                        // the same for the same devices in all problems
    std::vector<std::array<const StageFigures*, 4>> tables;  // for stages with and without embedding and head
  };

  // The problem of cutting the VMs in this order, and its meshes.
  PipelineProblem problem_of(const StageCuts::Order& order, Meshes& meshes) {
    const std::vector<int>& devices = order.devices;
    PipelineProblem problem;
    problem.layers = starts_.size() - 1;
    problem.gpus = devices.size();
    problem.submeshes = order.submeshes;
    problem.micro_batches = request_.options.micro_batches();
    problem.all_in_flight = request_.options.get(kSchedule) == Schedule::kGpipe;
    problem.ahead = request_.options.get(kAhead);
    problem.in_turn = send_order_by(request_.options) != SendOrder::kAsynchronous;
    if (cuts_.stages > 0) problem.stages = cuts_.stages;
    for (const auto& submesh : problem.submeshes) {
      const auto& mesh = meshes.devices.emplace_back(devices.begin() + static_cast<long>(submesh.first),
                                                     devices.begin() + static_cast<long>(submesh.last));
      meshes.numbers.push_back(mesh_numbers_.try_emplace(mesh, mesh_numbers_.size()).first->second);
      problem.kinds.push_back(kind_numbers_.try_emplace(kinds_.of(mesh), kind_numbers_.size()).first->second);
    }
    meshes.tables.resize(meshes.devices.size(), {nullptr, nullptr, nullptr, nullptr});
    const auto table_of = [this, &meshes](std::size_t first, std::size_t last, std::size_t m) -> const StageFigures& {
      const bool begins = first == 0, ends = last + 1 == starts_.size();
      const StageFigures*& found = meshes.tables[m][begins * 2u + ends];
      if (!found) found = &table(meshes.devices[m], begins, ends);
      return *found;
    };
    problem.time = [table_of](std::size_t first, std::size_t last, std::size_t m) {
      const StageFigures& t = table_of(first, last, m);
      return t.seconds[last] - t.seconds[first] + t.begins[first] + t.ends[last];
    };
    problem.most_in_flight = [table_of](std::size_t first, std::size_t last, std::size_t m) {
      const StageFigures& t = table_of(first, last, m);
      const double left = t.limit - (t.bytes[last] - t.bytes[first]);
      const double each = t.bytes_in_flight[last] - t.bytes_in_flight[first] + t.received;
      return left < 0 ? 0 : static_cast<int>(std::min(1e6, left / std::max(each, 1.0)));
    };
    if (request_.options.get(kPlanner) == Planner::kSlmsim) {
      problem.traffic = [this, &meshes, &order, table_of](std::size_t layer, std::size_t from, std::size_t to) {
        Sending way = sent(meshes, from, to, crossing(starts_[layer]));
        way.gathered = table_of(order.submeshes[from].first, layer, from).ends[layer];
        return way;
      };
    }
    return problem;
  }

  Sending sent(const Meshes& meshes, std::size_t from, std::size_t to, Bytes size) {
    const auto [at, is_new] = sent_.try_emplace({meshes.numbers[from], meshes.numbers[to], size.value});
    if (is_new) {
      const TransferTime time = transfer_time(network_, request_.scenario.nccl_setup(), meshes.devices[from],
                                              meshes.devices[to], size, period_);
      at->second = {in_steps(time.whole.value), in_steps(time.each.value)};
    }
    return at->second;
  }

  const StageFigures& table(const std::vector<int>& mesh, bool begins, bool ends) {
    StageTables& tables = request_.tables ? *request_.tables : own_tables_;
    const Training& training = request_.scenario.training;
    const auto [at, is_new] = tables.known.try_emplace(
        {static_cast<int>(request_.options.get(kPlanner)), training.batch, request_.options.micro_batches(),
         request_.options.get(kTensor) > 0, recompute_, training.gradient_precision, kinds_.of(mesh), begins, ends});
    if (is_new) at->second = make_table(mesh, begins, ends);
    return at->second;
  }

  // Operators divided as in a stage of all layers, with embedding and head only if the stage has them: repeated layers
  // have equal divisions, which therefore apply to any stage.
  StageFigures make_table(const std::vector<int>& mesh, bool begins, bool ends) const {
    const OperatorGraph& operators = request_.operators;
    const int layers = layer_count(operators);
    const std::size_t count = boost::num_vertices(operators);
    std::size_t first = 0, last = count;
    while (!begins && operators[first].layer < 0) ++first;
    while (!ends && operators[last - 1].layer >= layers) --last;
    const Stage stage = *plan_stage({request_, &network_, first, last, mesh, 1, 1, std::nullopt}).stage;
    const PlanningCosts costs =
        time_costs(request_.scenario, network_, mesh, stage.shape(), sequences_, request_.options.micro_batches());
    const double boundary = stream_elements(operators) * share_of(stage, 0, 0, sequences_).sequences *
                            element_bytes(request_.scenario.training.precision);
    const double buffer = request_.scenario.nccl.buffer.value;
    StageFigures table;
    table.received = begins ? 0 : boundary;
    table.limit = memory_for_operators(request_.scenario, mesh).value - most_anew(stage) - (begins ? 0 : buffer) -
                  (ends ? 0 : buffer + boundary);
    double time = 0, held = 0, in_flight = 0;
    for (std::size_t v = 0, layer = 0; v <= count; ++v) {
      if (v == starts_[layer]) {
        table.seconds.push_back(time);
        table.bytes.push_back(held);
        table.bytes_in_flight.push_back(in_flight);
        const bool cuts = v > 0 && v < count;
        table.begins.push_back(cuts && v >= first && v < last ? gathered(costs, stage, v, v) : 0);
        table.ends.push_back(cuts && v > first && v <= last ? gathered(costs, stage, v, v - 1) : 0);
        ++layer;
      }
      if (v < first || v >= last) continue;
      time += in_steps(seconds(costs, stage, v));
      held += bytes(stage, v);
      in_flight += activations(stage, v);
    }
    return table;
  }

  // Time to gather what crosses the cut before operator v, where operator `reader` needs it whole.
  double gathered(const PlanningCosts& costs, const Stage& stage, std::size_t v, std::size_t reader) const {
    const Axes axes = axes_gathered(stage.shardings[reader - stage.first], stage.shape());
    if (axes == 0 || request_.options.get(kPlanner) != Planner::kSlmsim) return 0;
    const double groups = static_cast<double>(stage.mesh.size()) / span(axes, stage.shape());
    return in_steps(costs.collective({Collective::kAllGather, crossing(v) / groups, axes}));
  }

  // Bytes that a micro-batch sends over a cut before this operator.
  Bytes crossing(std::size_t v) const {
    return Bytes{request_.operators[v - 1].outputs * sequences_ * element_bytes(request_.scenario.training.precision)};
  }

  // Time of one micro-batch, with the conversions before the operator, and its part of the costs per iteration.
  double seconds(const PlanningCosts& costs, const Stage& stage, std::size_t v) const {
    const Operator& op = request_.operators[v];
    const Division& division = stage.shardings[v - stage.first];
    const double size = element_bytes(request_.scenario.training.precision);
    const MeshShape shape = stage.shape();
    const auto sum = [&](const std::vector<CollectiveCall>& calls) {
      double all = 0;
      for (const auto& call : calls) all += costs.collective(call);
      return all;
    };
    const ComputationCost computation = costs.compute(op, division);
    const double forward = computation.forward + sum(forward_collectives(op, division, shape, sequences_, size));
    const double again = share_computed_anew(op, recompute_, layer_count(request_.operators));
    double all =
        forward * (1 + again) + computation.backward + sum(backward_collectives(op, division, shape, sequences_, size));
    for (const auto edge : boost::make_iterator_range(boost::in_edges(v, request_.operators))) {
      const std::size_t producer = boost::source(edge, request_.operators);
      if (producer < stage.first) continue;
      const Operator& from = request_.operators[producer];
      const Layout have = output_layout(from, stage.shardings[producer - stage.first]),
                   need = input_layout(op, division);
      const Bytes moved{from.outputs * sequences_ * size};
      all += sum(resharding(moved, have, need, shape)) + sum(resharding(moved, need, have, shape));
    }
    const double weights = held_weights(request_.operators, stage, v - stage.first) / weight_parts(division, shape);
    const Axes axes = within(axes_of(division, Sharding::kBatch), shape);
    double once = costs.update(weights);
    if (axes != 0)
      once += costs.gradients(Bytes{weights * element_bytes(request_.scenario.training.gradient_precision)}, axes);
    return all + once / request_.options.micro_batches();
  }

  double bytes(const Stage& stage, std::size_t v) const {
    const Training& training = request_.scenario.training;
    const Division& division = stage.shardings[v - stage.first];
    const double weights =
        held_weights(request_.operators, stage, v - stage.first) / weight_parts(division, stage.shape());
    const bool summed = within(axes_of(division, Sharding::kBatch), stage.shape()) != 0;
    return weights * (StateBytes(training).all() + (summed ? element_bytes(training.gradient_precision) : 0.0));
  }

  double activations(const Stage& stage, std::size_t v) const {
    const Operator& op = request_.operators[v];
    const double kept =
        kept_activations(request_.operators, stage, v - stage.first, 0, sequences_, request_.scenario, recompute_);
    const bool opens = is_inside_layers(op, layer_count(request_.operators)) &&
                       (v == 0 || request_.operators[v - 1].layer != op.layer);
    if (!opens || !begins_with_input(recompute_)) return kept;
    const double share = share_of(stage, v - stage.first, 0, sequences_).sequences;
    return kept + op.inputs * share * request_.scenario.software.stream_bytes(request_.scenario.training.precision);
  }

  // Bytes without a micro-batch in flight: of the largest layer that is recomputed, beside what is kept of it.
  double most_anew(const Stage& stage) const {
    Plan plan = begin_plan(request_);
    plan.stages = {stage};
    return activations_of(plan, request_.operators, 0, 0, 0, request_.scenario).value;
  }

  const PlanRequest& request_;
  const Network& network_;
  Recompute recompute_;
  StageCuts cuts_;
  const std::vector<std::size_t>& starts_;
  double sequences_ = 0;
  MeshKinds kinds_;
  std::map<std::vector<int>, std::size_t> kind_numbers_, mesh_numbers_;
  std::map<std::tuple<std::size_t, std::size_t, double>, Sending> sent_;  // between meshes, by number
  Seconds period_{0};  // in which a micro-batch follows the one before
  StageTables own_tables_;
};

// The first VM that is equal to each: at one site, and with equal GPUs.
std::vector<std::size_t> equal_vms_of(const Platform& platform, const Vms& vms) {
  const MeshKinds kinds(platform);
  const auto kind = [&](const std::vector<int>& vm) {
    return std::pair(platform.vms[platform.devices[vm.front()].vm].site, kinds.of(vm));
  };
  std::vector<std::size_t> out;
  for (const auto& vm : vms) {
    const auto same = std::find_if(vms.begin(), vms.end(), [&](const auto& other) { return kind(other) == kind(vm); });
    out.push_back(static_cast<std::size_t>(same - vms.begin()));
  }
  return out;
}

// Whether the order is another one but for the exchange of equal VMs.
bool exchanges_equal_ones(const std::vector<std::size_t>& equal, const std::vector<std::size_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      if (order[i] > order[j] && equal[order[i]] == equal[order[j]]) return true;
    }
  }
  return false;
}

// Orders of the VMs that the planner tries.
std::vector<Vms> orders_of(const PlanRequest& request) {
  const Vms vms = by_vm(request);
  const std::vector<std::size_t> equal = equal_vms_of(request.scenario.platform, vms);
  std::vector<std::size_t> order(vms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool permuted = request.options.get(kPlanner) == Planner::kSlmsim && vms.size() <= kMostVmsPermuted;
  std::vector<Vms> out;
  do {
    if (exchanges_equal_ones(equal, order)) continue;
    out.emplace_back();
    for (const std::size_t i : order) out.back().push_back(vms[i]);
  } while (permuted && std::next_permutation(order.begin(), order.end()));
  return out;
}

}  // namespace

StageCuts stage_cuts(const PlanRequest& request) {
  const std::size_t gpus = request.group.devices.size(), most = gpus > kMostGpusApart ? kFewLayers : kMostClusters;
  StageCuts out;
  out.columns = std::max(1, request.options.get(kTensor));
  out.starts = cluster_operators(request.operators, std::min(static_cast<std::size_t>(request.model.layers), most));
  out.starts.push_back(boost::num_vertices(request.operators));
  out.stages = static_cast<std::size_t>(std::max(0, request.options.get(kStages)));
  for (const Vms& vms : orders_of(request)) {
    StageCuts::Order& order = out.orders.emplace_back();
    for (const auto& vm : vms) order.devices.insert(order.devices.end(), vm.begin(), vm.end());
    order.submeshes = submeshes_of(vms, static_cast<std::size_t>(out.columns));
  }
  return out;
}

std::vector<std::vector<ChosenStage>> choose_stages(const PlanRequest& request, const Network& network) {
  return Chooser(request, network).best();
}

}  // namespace slmsim
