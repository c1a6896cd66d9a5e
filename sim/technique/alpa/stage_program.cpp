#include "sim/technique/alpa/stage_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <boost/range/iterator_range.hpp>

#include "sim/compute/operator_graph.h"
#include "sim/technique/common/holding.h"

namespace slmsim {
namespace {

// Times of one operator on every GPU of the mesh; GPUs of one kind with equal shares are computed once.
std::vector<OperatorTime> times_on_mesh(const Operator& op, const Stage& stage, std::size_t index,
                                        const std::vector<int>& kinds, double sequences, double summed,
                                        const Scenario& scenario) {
  std::vector<OperatorTime> times;
  std::map<std::pair<int, double>, OperatorTime> known;
  for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
    const Gpu& gpu = scenario.platform.devices[stage.mesh[rank]].gpu;
    Share share = share_of(stage, index, rank, sequences);
    share.summed = summed;
    const auto [at, is_new] = known.try_emplace({kinds[rank], share.sequences});
    if (is_new) at->second = operator_time(op, share, gpu, scenario.training.precision, scenario.software);
    times.push_back(at->second);
  }
  return times;
}

// Times of every operator of the stage; repeated layers are computed once.
std::vector<std::vector<OperatorTime>> all_times(const OperatorGraph& operators, const Stage& stage, double sequences,
                                                 double summed, const Scenario& scenario) {
  const std::vector<int> kinds = gpu_kinds(scenario.platform, stage.mesh);
  std::map<Role, std::size_t> last;
  std::vector<std::vector<OperatorTime>> times;
  for (std::size_t i = 0; i < stage.last - stage.first; ++i) {
    const Operator& op = operators[stage.first + i];
    const auto [known, is_new] = last.try_emplace(op.role, i);
    const std::size_t before = std::exchange(known->second, i);
    const bool repeats =
        !is_new && stage.shardings[before] == stage.shardings[i] && op.is_like(operators[stage.first + before]);
    times.push_back(repeats ? times[before] : times_on_mesh(op, stage, i, kinds, sequences, summed, scenario));
  }
  return times;
}

// Collects computation until a collective ends a segment.
class Collector {
 public:
  Collector(std::vector<Segment>& segments, std::size_t gpus) : segments_(segments), gpus_(gpus) { open(); }
  ~Collector() {
    if (!begun_) segments_.pop_back();
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  void add(std::size_t rank, Seconds time, Flops work, int layer) {
    Segment& segment = segments_.back();
    segment.first_layer = begun_ ? std::min(segment.first_layer, layer) : layer;
    segment.last_layer = begun_ ? std::max(segment.last_layer, layer) : layer;
    segment.time[rank] += time;
    segment.work[rank] += work;
    begun_ = true;
  }

  // Each GPU's host launches the operator.
  void launch(Seconds time) { segments_.back().host += time; }

  void end_with(CollectiveCall call, int layer) {
    Segment& segment = segments_.back();
    if (!begun_) segment.first_layer = segment.last_layer = layer;
    segment.then = call;
    open();
  }

 private:
  void open() {
    segments_.push_back({std::vector<Seconds>(gpus_), std::vector<Flops>(gpus_), Seconds{0}, std::nullopt, 0, 0});
    begun_ = false;
  }
  std::vector<Segment>& segments_;
  std::size_t gpus_;
  bool begun_ = false;
};

// The distinct layouts in which operators of a stage read the outputs of one of them.
std::vector<Layout> layouts_read(const OperatorGraph& operators, const Stage& stage, std::size_t producer) {
  std::vector<Layout> layouts;
  for (const auto edge : boost::make_iterator_range(boost::out_edges(producer, operators))) {
    const std::size_t reader = boost::target(edge, operators);
    if (reader >= stage.last) continue;
    const Layout layout = input_layout(operators[reader], stage.shardings[reader - stage.first]);
    if (std::find(layouts.begin(), layouts.end(), layout) == layouts.end()) layouts.push_back(layout);
  }
  return layouts;
}

Flops work_of(const Stage& stage, std::size_t index, std::size_t rank, const Operator& op, double sequences) {
  const Share share = share_of(stage, index, rank, sequences);
  return Flops{op.matrix.flops() * share.sequences / (share.columns * share.rows)};
}

double slowest_host(const std::vector<int>& mesh, const Platform& platform) {
  double out = 0;
  for (const int device : mesh) out = std::max(out, platform.devices[device].gpu.host);
  return out;
}

}  // namespace

StageProgram stage_program(const OperatorGraph& operators, const Stage& stage, double sequences, Recompute recompute,
                           const Scenario& scenario, double summed, bool weights_apart) {
  const std::size_t count = stage.last - stage.first, gpus = stage.mesh.size();
  const double size = element_bytes(scenario.training.precision);
  const MeshShape shape = stage.shape();
  const auto times = all_times(operators, stage, sequences, summed, scenario);
  const double slowest = slowest_host(stage.mesh, scenario.platform);
  const AttentionKernel attention =
      scenario.software.attention_on(scenario.platform.devices[stage.mesh[0]].gpu, scenario.training.precision);
  const auto host_of = [&](const Operator& op) { return host_time(op, attention, scenario.software) * slowest; };
  std::vector<Layout> outputs;
  std::vector<std::vector<CollectiveCall>> reduced;
  for (std::size_t i = 0; i < count; ++i) {
    const Operator& op = operators[stage.first + i];
    outputs.push_back(output_layout(op, stage.shardings[i]));
    reduced.push_back(forward_collectives(op, stage.shardings[i], shape, sequences, size));
  }
  const auto bytes_of = [&](std::size_t i) { return Bytes{operators[stage.first + i].outputs * sequences * size}; };

  const int layers = layer_count(operators);
  StageProgram program;
  program.basis.resize(gpus);
  {
    Collector forward(program.forward, gpus);
    // An activation is converted to a layout once, before its first reader.
    std::set<std::pair<std::size_t, Layout>> brought;
    for (std::size_t i = 0; i < count; ++i) {
      const Operator& op = operators[stage.first + i];
      const Layout needed = input_layout(op, stage.shardings[i]);
      for (const auto edge : boost::make_iterator_range(boost::in_edges(stage.first + i, operators))) {
        const std::size_t producer = boost::source(edge, operators);
        if (producer < stage.first || !brought.emplace(producer, needed).second) continue;
        const std::size_t from = producer - stage.first;
        for (const auto& call : resharding(bytes_of(from), outputs[from], needed, shape))
          forward.end_with(call, op.layer);
      }
      for (std::size_t rank = 0; rank < gpus; ++rank)
        forward.add(rank, times[i][rank].forward, work_of(stage, i, rank, op, sequences), op.layer);
      forward.launch(host_of(op).forward);
      for (const auto& call : reduced[i]) forward.end_with(call, op.layer);
    }
  }
  for (const auto& mesh : times) {
    for (std::size_t rank = 0; rank < gpus; ++rank) program.basis[rank] += mesh[rank].basis;
  }
  Collector backward(program.backward, gpus);
  program.weights = {std::vector<Seconds>(gpus), std::vector<Flops>(gpus), Seconds{0}, std::nullopt, 0, 0};
  program.weights.first_layer = operators[stage.first].layer;
  program.weights.last_layer = operators[stage.last - 1].layer;
  for (std::size_t i = count; i-- > 0;) {
    const Operator& op = operators[stage.first + i];
    for (const Layout& layout : layouts_read(operators, stage, stage.first + i)) {
      for (const auto& call : resharding(bytes_of(i), layout, outputs[i], shape)) backward.end_with(call, op.layer);
    }
    // Rematerialisation repeats the forward pass of the layers, with its collectives; if operators are selected, the
    // results of collectives are kept.
    const double again = share_computed_anew(op, recompute, layers);
    if (again > 0 && recompute != Recompute::kOperators) {
      for (const auto& call : reduced[i]) backward.end_with(call, op.layer);
    }
    for (std::size_t rank = 0; rank < gpus; ++rank) {
      // The gradients of both factors, and recomputation.
      const Flops product = work_of(stage, i, rank, op, sequences);
      const bool apart = weights_apart && times[i][rank].weights_gradient > Seconds{0};
      const Seconds later = apart ? times[i][rank].weights_gradient : Seconds{0};
      backward.add(rank, times[i][rank].backward - later + times[i][rank].forward * again,
                   product * (2.0 + again - (apart ? 1.0 : 0.0)), op.layer);
      program.weights.time[rank] += later;
      if (apart) program.weights.work[rank] += product;
    }
    // One of the two products of a backward pass.
    const HostTime host = host_of(op);
    const Seconds later = weights_apart && op.has_weights() ? host.backward / 2.0 : Seconds{0};
    backward.launch(host.backward - later + (again > 0 ? host.forward : Seconds{0}));
    program.weights.host += later;
    for (const auto& call : backward_collectives(op, stage.shardings[i], shape, sequences, size))
      backward.end_with(call, op.layer);
  }
  return program;
}

void mark_binding_hosts(const StageProgram& program, const std::vector<int>& mesh, std::vector<bool>& binds) {
  const auto mark = [&](const Segment& segment) {
    for (std::size_t rank = 0; rank < mesh.size(); ++rank)
      if (segment.host > segment.time[rank]) binds[mesh[rank]] = true;
  };
  for (const auto* segments : {&program.forward, &program.backward}) {
    for (const Segment& segment : *segments) mark(segment);
  }
  mark(program.weights);
}

}  // namespace slmsim
