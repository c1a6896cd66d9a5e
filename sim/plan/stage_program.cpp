#include "sim/plan/stage_program.h"

#include <algorithm>
#include <array>
#include <map>

#include "sim/plan/holding.h"

namespace slmsim {
namespace {

// Times of one operator on every GPU of the mesh; equal GPUs with equal shares are computed once.
std::vector<OperatorTime> times_on_mesh(const Operator& op, const Stage& stage, std::size_t index, double sequences,
                                        const Scenario& scenario) {
  std::vector<OperatorTime> times;
  std::map<std::pair<std::string_view, double>, OperatorTime> known;
  for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
    const Gpu& gpu = scenario.platform.devices[static_cast<std::size_t>(stage.mesh[rank])].gpu;
    const Share share = share_of(stage, index, rank, sequences);
    const auto [at, is_new] = known.try_emplace({gpu.name, share.sequences});
    if (is_new) at->second = operator_time(op, share, gpu, scenario.training.precision, scenario.efficiency);
    times.push_back(at->second);
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

  void add(std::size_t rank, Seconds time, int layer) {
    Segment& segment = segments_.back();
    segment.first_layer = begun_ ? std::min(segment.first_layer, layer) : layer;
    segment.last_layer = begun_ ? std::max(segment.last_layer, layer) : layer;
    segment.time[rank] += time;
    begun_ = true;
  }

  void end_with(CollectiveCall call) {
    segments_.back().then = call;
    open();
  }

 private:
  void open() {
    segments_.push_back({std::vector<Seconds>(gpus_), std::nullopt, 0, 0});
    begun_ = false;
  }
  std::vector<Segment>& segments_;
  std::size_t gpus_;
  bool begun_ = false;
};

// A softmax over a divided vocabulary needs each token's maximum, and then the sum and the target's logit, of all GPUs
// (Megatron-LM's vocabulary-parallel cross entropy); fp32.
std::array<Bytes, 2> loss_statistics(const Operator& loss, double sequences) {
  const double tokens = loss.tokens * sequences;
  return {Bytes{4 * tokens}, Bytes{8 * tokens}};
}

}  // namespace

StageProgram stage_program(const OperatorGraph& operators, const Stage& stage, double sequences,
                           const Scenario& scenario) {
  const std::size_t count = stage.last - stage.first, gpus = stage.mesh.size();
  const double size = element_bytes(scenario.training.precision) * sequences;
  const auto is_batch = [&](std::size_t i) { return stage.shardings[i] == Sharding::kBatch; };
  std::vector<std::vector<OperatorTime>> times;
  for (std::size_t i = 0; i < count; ++i)
    times.push_back(times_on_mesh(operators[stage.first + i], stage, i, sequences, scenario));

  const int layers = operators[boost::num_vertices(operators) - 1].layer;
  StageProgram program;
  {
    Collector forward(program.forward, gpus);
    for (std::size_t i = 0; i < count; ++i) {
      const Operator& op = operators[stage.first + i];
      if (gpus > 1 && i > 0 && is_batch(i - 1) && !is_batch(i)) {
        forward.end_with({Collective::kAllGather, Bytes{operators[stage.first + i - 1].outputs * size}});
      }
      for (std::size_t rank = 0; rank < gpus; ++rank) forward.add(rank, times[i][rank].forward, op.layer);
      if (gpus > 1 && stage.shardings[i] == Sharding::kRow) {
        forward.end_with({Collective::kAllReduce, Bytes{op.outputs * size}});
      }
      if (gpus > 1 && stage.shardings[i] == Sharding::kColumn && op.kind == OperatorKind::kLoss) {
        for (const Bytes statistic : loss_statistics(op, sequences))
          forward.end_with({Collective::kAllReduce, statistic});
      }
    }
  }
  Collector backward(program.backward, gpus);
  for (std::size_t i = count; i-- > 0;) {
    const Operator& op = operators[stage.first + i];
    if (gpus > 1 && i + 1 < count && !is_batch(i) && is_batch(i + 1)) {
      backward.end_with({Collective::kAllGather, Bytes{op.outputs * size}});
    }
    // Rematerialisation does the forward pass of the layers once more, with its collectives.
    const bool again = scenario.training.rematerialisation && op.layer >= 0 && op.layer < layers;
    if (again && gpus > 1 && stage.shardings[i] == Sharding::kRow) {
      backward.end_with({Collective::kAllReduce, Bytes{op.outputs * size}});
    }
    for (std::size_t rank = 0; rank < gpus; ++rank) {
      backward.add(rank, times[i][rank].backward + (again ? times[i][rank].forward : Seconds{0}), op.layer);
    }
    if (gpus > 1 && stage.shardings[i] == Sharding::kColumn && op.has_weights()) {
      backward.end_with({Collective::kAllReduce, Bytes{op.inputs * size}});
    }
  }
  return program;
}

}  // namespace slmsim
