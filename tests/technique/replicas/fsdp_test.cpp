// PyTorch's replicas against closed forms: DDP with accumulated gradients and buffers, FSDP's strategies and their order.
#include "sim/technique/replicas/fsdp.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/common/holding.h"
#include "sim/technique/common/layer_work.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::fsdp_test {
namespace {

constexpr double kLayer = 3280, kRoot = 1792;  // parameters of the small model: 3280 L + 1792

struct Case {
  Scenario scenario;
  OperatorGraph operators;
  Plan plan;

  TaskGraph graph() const { return lowered(plan, operators, scenario); }
  // Time of a kernel that moves `bytes`.
  double seconds_of(double bytes) const {
    const Gpu& gpu = scenario.platform.devices.front().gpu;
    return bytes / (gpu.memory_bandwidth.value * scenario.software.memory);
  }
  int buffer_tasks() const {
    const TaskGraph all = graph();
    return static_cast<int>(std::count_if(all.tasks().begin(), all.tasks().end(),
                                          [&](const Task& t) { return all.tag_of(t).of == TaskClass::kBuffer; }));
  }
  // Without Adam.
  double time() const {
    TaskGraph graph = this->graph();
    graph.scale(TaskClass::kOptimizer, 0);
    return simulate(graph).end.value;
  }
};

// One sequence per GPU and micro-batch; links of `rate`, GPUs that compute in no time or at 200 B/s.
Case of(const std::string& technique, int vms, int gpus, int layers, double rate, bool computes = false,
        int micro_batches = 1, double wan = 0) {
  Case out{small_scenario(vms, gpus, rate), {}, {}};
  out.scenario.training.batch = vms * gpus * micro_batches;
  if (!computes) {
    for (auto& device : out.scenario.platform.devices) device.gpu.memory_bandwidth = BytesPerSecond{1e18};
  }
  for (auto& link : out.scenario.platform.links) {
    if (wan > 0) link.forward.bandwidth = link.backward.bandwidth = BytesPerSecond{wan};
  }
  const Transformer model = small_model(layers);
  out.operators = build_operator_graph(model);
  out.plan = plan_of(out.scenario, model, out.operators, written(technique));
  return out;
}

TEST(Fsdp, SendsWhatItsStrategyDivides) {
  // 4 GPUs; each pass of a collective of B bytes sends 3 B in all. Layers are gathered twice, the root once; 2 B per element.
  const auto full = of("{FSDP: {}}", 1, 4, 2, 1e6).graph();
  EXPECT_EQ(bytes_over(full, "all-gather"), 3 * 2 * (kRoot + 2 * 2 * kLayer));
  EXPECT_EQ(bytes_over(full, "reduce-scatter"), 3 * 2 * (kRoot + 2 * kLayer));
  const auto grad = of("{FSDP: {strategy: shard_grad_op}}", 1, 4, 2, 1e6).graph();
  EXPECT_EQ(bytes_over(grad, "all-gather"), 3 * 2 * (kRoot + 2 * kLayer));
  EXPECT_EQ(bytes_over(grad, "reduce-scatter"), 3 * 2 * (kRoot + 2 * kLayer));
  // Two VMs of two: gathers inside each (one B in each of two VMs), half of the gradients of each GPU between them.
  const auto hybrid = of("{FSDP: {strategy: hybrid_shard}}", 2, 2, 2, 1e6).graph();
  EXPECT_EQ(bytes_over(hybrid, "all-gather"), 2 * 2 * (kRoot + 2 * 2 * kLayer));
  EXPECT_EQ(bytes_over(hybrid, "", "wan:a->b"), 2 * (kRoot + 2 * kLayer));  // 2 pairs, each the half of it
  EXPECT_EQ(bytes_over(hybrid, "all-gather", "wan"), 0);
  EXPECT_EQ(bytes_over(hybrid, "reduce-scatter", "wan"), 0);
}

TEST(Fsdp, AddsUpGradientsWhereItDoesNotSynchronise) {
  const auto once = of("{FSDP: {micro_batches: 3}}", 1, 4, 2, 1e6, false, 3).graph();
  EXPECT_EQ(bytes_over(once, "reduce-scatter"), 3 * 2 * (kRoot + 2 * kLayer));
  EXPECT_EQ(bytes_over(once, "all-gather"), 3 * 3 * 2 * (kRoot + 2 * 2 * kLayer));
  const auto each = of("{FSDP: {micro_batches: 3, no_sync: no}}", 1, 4, 2, 1e6, false, 3).graph();
  EXPECT_EQ(bytes_over(each, "reduce-scatter"), 3 * 3 * 2 * (kRoot + 2 * kLayer));
  // Parameters that are kept for the backward pass are kept from micro-batch to micro-batch too.
  const auto kept = of("{FSDP: {micro_batches: 3, strategy: shard_grad_op}}", 1, 4, 2, 1e6, false, 3).graph();
  EXPECT_EQ(bytes_over(kept, "all-gather"), 3 * 2 * (kRoot + 2 * kLayer));
}

TEST(Fsdp, IsItsCollectivesWhereComputingTakesNoTime) {
  // Per GPU 3/4 of each, one after the other at 1000 B/s.
  const double all = 2 * (kRoot + 4 * kLayer), layers = 2 * 4 * kLayer;
  EXPECT_NEAR(of("{FSDP: {}}", 1, 4, 4, 1000).time(), 0.75 * (2 * all + layers) / 1000, 0.01 * 0.75 * 3 * all / 1000);
  EXPECT_NEAR(of("{FSDP: {strategy: shard_grad_op}}", 1, 4, 4, 1000).time(), 0.75 * 2 * all / 1000,
              0.01 * 0.75 * 2 * all / 1000);
  // Between VMs each pair sends and receives half of each parameter's gradient: at 100 B/s all of it for both pairs.
  EXPECT_NEAR(of("{FSDP: {strategy: hybrid_shard}}", 2, 2, 4, 1e15, false, 1, 100).time(), all / 100, 0.01 * all / 100);
}

// The host issues the first gather, so that the launch of the iteration delays it as it delays kernels.
TEST(Fsdp, BeginsAfterTheLaunchOfTheIteration) {
  for (const char* technique : {"{FSDP: {}}", "{ZeRO-3: {}}", "{DDP: {}}"}) {
    Case one = of(technique, 1, 4, 4, 1000, true);
    const double time = one.time();
    one.scenario.training.iteration_overhead = Seconds{3};
    EXPECT_NEAR(one.time(), time + 3, 1e-9 * time) << technique;
  }
}

TEST(Fsdp, IsItsComputingWhereLinksTakeNoTime) {
  const double ddp = of("{DDP: {}}", 1, 4, 3, 1e15, true).time();
  for (const char* strategy : {"full_shard", "shard_grad_op"}) {
    for (const char* prefetch : {"backward_pre", "backward_post", "none"}) {
      const std::string text = std::string("{FSDP: {strategy: ") + strategy + ", backward_prefetch: " + prefetch + "}}";
      EXPECT_NEAR(of(text, 1, 4, 3, 1e15, true).time(), ddp, 1e-6 * ddp) << text;
    }
  }
}

TEST(Fsdp, GathersAheadWithinItsLimit) {
  // Computing and gathering take about as long: what is not gathered ahead is waited for.
  const auto time = [](const std::string& options) { return of("{FSDP: " + options + "}", 1, 4, 6, 20, true).time(); };
  const double usual = time("{}");
  EXPECT_LT(usual, time("{backward_prefetch: none}"));
  EXPECT_LE(usual, time("{backward_prefetch: backward_post}"));
  EXPECT_LE(time("{limit_all_gathers: no}"), usual);
  EXPECT_LE(time("{forward_prefetch: yes}"), usual);
}

TEST(Fsdp, WaitsForTheOldestFreedLayerBeforeItGathers) {
  // In the forward pass the third layer's gathering begins when the first one is computed.
  const TaskGraph graph = of("{FSDP: {}}", 1, 2, 4, 1e15, true).graph();
  const Timeline timeline = simulate(graph);
  std::vector<double> gathered;  // when each gather's first transfer began
  double first_done = 0;
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    const std::string& name = graph.tag_of(task).name;
    if (task.kind == TaskKind::kTransfer && name.starts_with("all-gather")) gathered.push_back(timeline.start[id]);
    if (name == "fwd L0" && task.kind == TaskKind::kCompute) first_done = timeline.finish[id];
  }
  // Root and four layers on two GPUs: a transfer of each for each GPU.
  ASSERT_GE(gathered.size(), 10);
  EXPECT_NEAR(gathered[4], gathered[0], kClock);  // the second layer, at once
  EXPECT_NEAR(gathered[6], first_done, kClock);
}

TEST(Fsdp, HoldsPartsInFp32AndThreeLayersWhole) {
  // 4 layers on 4 GPUs: 14912 parameters, 3728 of each GPU's own.
  const Case one = of("{FSDP: {}}", 1, 4, 4, 1e6);
  const auto memory = memory_of(one.plan, one.operators, one.scenario);
  EXPECT_DOUBLE_EQ(memory[0].parameters.value, 2 * (kRoot + 3 * kLayer) + 4 * 3728);
  EXPECT_DOUBLE_EQ(memory[0].gradients.value, 2 * (kRoot + 2 * kLayer) + 4 * 3728);
  EXPECT_DOUBLE_EQ(memory[0].optimizer.value, 8 * 3728);
  // AdamW of weights in 16 bits has no copy in fp32.
  Case half = of("{FSDP: {micro_batches: 2}}", 1, 4, 4, 1e6, false, 2);
  const auto whole = memory_of(half.plan, half.operators, half.scenario);
  half.scenario.training.optimizer = UpdateRule::kAdam16bit;
  const auto halves = memory_of(half.plan, half.operators, half.scenario);
  EXPECT_DOUBLE_EQ((whole[0].parameters - halves[0].parameters).value, 2 * 3728);
  EXPECT_DOUBLE_EQ((whole[0].gradients - halves[0].gradients).value, 2 * 3728);
  EXPECT_DOUBLE_EQ(halves[0].optimizer.value, 4 * 3728);
  const Case kept = of("{FSDP: {strategy: shard_grad_op}}", 1, 4, 4, 1e6);
  EXPECT_DOUBLE_EQ(memory_of(kept.plan, kept.operators, kept.scenario)[0].parameters.value, 2 * 14912 + 4 * 3728);
  const Case hybrid = of("{FSDP: {strategy: hybrid_shard}}", 2, 2, 4, 1e6);
  EXPECT_DOUBLE_EQ(memory_of(hybrid.plan, hybrid.operators, hybrid.scenario)[0].optimizer.value, 8 * 14912 / 2);
}

TEST(Fsdp, AddsUpWholeGradientsWithoutSynchronisation) {
  const Case one = of("{FSDP: {micro_batches: 2}}", 1, 4, 4, 1e6, false, 2);
  EXPECT_DOUBLE_EQ(memory_of(one.plan, one.operators, one.scenario)[0].gradients.value, 2 * 14912 + 4 * 3728);
}

TEST(Ddp, IsItsAllReduceWhereComputingTakesNoTime) {
  // 2 x 3/4 of all gradients at 1000 B/s, whatever the micro-batches; without no_sync after each.
  const double once = 2 * 0.75 * 2 * (kRoot + 4 * kLayer) / 1000;
  EXPECT_NEAR(of("{DDP: {}}", 1, 4, 4, 1000).time(), once, 0.01 * once);
  EXPECT_NEAR(of("{DDP: {bucket: 4 kB}}", 1, 4, 4, 1000).time(), once, 0.01 * once);
  EXPECT_NEAR(of("{DDP: {micro_batches: 3}}", 1, 4, 4, 1000, false, 3).time(), once, 0.01 * once);
  EXPECT_NEAR(of("{DDP: {micro_batches: 3, no_sync: no}}", 1, 4, 4, 1000, false, 3).time(), 3 * once, 0.03 * once);
}

TEST(Ddp, AccumulatesInTheTimeOfItsMicroBatches) {
  const double one = of("{DDP: {}}", 1, 4, 3, 1e15, true).time();
  const double each = of("{DDP: {micro_batches: 3, no_sync: no}}", 1, 4, 3, 1e15, true, 3).time();
  // Gradients of two are added to those before: two elements read, one written.
  const Case once = of("{DDP: {micro_batches: 3}}", 1, 4, 3, 1e15, true, 3);
  const double all = kRoot + 3 * kLayer;
  EXPECT_NEAR(each, 3 * one + 2 * once.seconds_of(3 * 2 * all), 1e-6 * one);
  // Without exchange gradients are not copied to buckets and back: 2 elements read and written each time.
  EXPECT_NEAR(each - once.time(), 2 * once.seconds_of(2 * 4 * all), 1e-6 * one);
  // With autocast they are in fp32. FSDP that reduces each micro-batch adds a GPU's shard alone.
  const auto summed = [](const Case& of_it) { return summed_bytes(of_it.plan, of_it.scenario); };
  EXPECT_DOUBLE_EQ(summed(once), 3 * 2 * 2.0 / 3);
  Case other = once;
  other.scenario.software.autocast = true;
  EXPECT_DOUBLE_EQ(summed(other), 3 * 4 * 2.0 / 3);
  EXPECT_DOUBLE_EQ(summed(of("{FSDP: {micro_batches: 3, no_sync: no}}", 1, 4, 3, 1e15, true, 3)), 2 * 3 * 2.0 / 3 / 4);
}

TEST(Buffers, MoveWhatFrameworksCopy) {
  // Bytes that are read and written for each parameter of 16 bits, over 3 layers; what is gathered is copied by ZeRO-3 alone,
  // which keeps so few parameters for the backward pass.
  const auto moved = [](const char* technique) {
    const Case one = of(technique, 1, 4, 3, 1e15, true);
    double time = 0;
    const TaskGraph graph = one.graph();
    for (const Task& task : graph.tasks()) {
      if (graph.tag_of(task).of == TaskClass::kBuffer && task.place == 0) time += task.amount;
    }
    return time / one.seconds_of(1);
  };
  const double all = kRoot + 3 * kLayer;
  EXPECT_NEAR(moved("{DDP: {}}"), (4 + 4) * all, 1e-6 * all);
  EXPECT_NEAR(moved("{DDP: {gradient_as_bucket_view: yes}}"), 4 * all, 1e-6 * all);
  EXPECT_NEAR(moved("{FSDP: {}}"), (4 + 4) * all, 1e-6 * all);
  EXPECT_NEAR(moved("ZeRO-1"), (4 + 4) * all, 1e-6 * all);
  EXPECT_NEAR(moved("ZeRO-2"), (4 + 4) * all, 1e-6 * all);
  EXPECT_NEAR(moved("ZeRO-3"), (4 + 4 + 4) * all + 4 * all, 1e-6 * all);
  EXPECT_EQ(of("{DDP: {}}", 1, 1, 3, 1e15, true).buffer_tasks(), 0);  // one GPU alone
  EXPECT_GT(of("{DDP: {}}", 1, 2, 3, 1e15, true).buffer_tasks(), 0);
}

TEST(Zero, KeepsWhatItUsesAgainSoonAndReducesByBuckets) {
  // The head's parameters, fewer than the root's, are used twice between both uses of the last layer: 5000 is more than these,
  // and less than with another layer of 3280.
  Case one = of("ZeRO-3", 1, 4, 4, 1e6);
  const double all = kRoot + 4 * kLayer;
  EXPECT_EQ(bytes_over(one.graph(), "all-gather"), 3 * 2 * all);
  one.scenario.framework.live_parameters = 5000;
  EXPECT_NEAR(bytes_over(one.graph(), "all-gather"), 3 * 2 * (all + 3 * kLayer + kRoot / 2), 3 * 2 * kRoot / 2);
  one.scenario.framework.live_parameters = 0;
  EXPECT_NEAR(bytes_over(one.graph(), "all-gather"), 3 * 2 * 2 * all, 1e-6);
  // The head and two layers are reduced together, then the other two and the embedding.
  const auto transfers = [&] {
    const TaskGraph graph = one.graph();
    return std::count_if(graph.tasks().begin(), graph.tasks().end(), [&](const Task& t) {
      return t.kind == TaskKind::kTransfer && graph.tag_of(t).name.find("reduce-scatter") != std::string::npos;
    });
  };
  const auto at_once = transfers();
  one.scenario.framework.reduce_bucket = kRoot + 2 * kLayer;
  EXPECT_EQ(transfers(), 2 * at_once);
  EXPECT_EQ(bytes_over(one.graph(), "reduce-scatter"), 3 * 2 * all);
}

TEST(Ddp, BroadcastsBuffersOnceForEachExchange) {
  // 1000 B to each of 3 others: per link 1000 B. With no_sync before the first micro-batch only.
  EXPECT_EQ(bytes_over(of("{DDP: {buffers: 1000 B}}", 1, 4, 2, 1e6).graph(), "broadcast"), 3000);
  EXPECT_EQ(bytes_over(of("{DDP: {buffers: 1000 B, micro_batches: 2}}", 1, 4, 2, 1e6, false, 2).graph(), "broadcast"),
            3000);
  EXPECT_EQ(bytes_over(of("{DDP: {buffers: 1000 B, micro_batches: 2, no_sync: no}}", 1, 4, 2, 1e6, false, 2).graph(),
                       "broadcast"),
            6000);
  // 3 hops of 1000 B at 1000 B/s.
  EXPECT_NEAR(of("{DDP: {buffers: 1000 B}}", 1, 4, 2, 1000).time() - of("{DDP: {}}", 1, 4, 2, 1000).time(), 3, 0.01);
}

TEST(Zero, AccumulatesAsDeepSpeedDoes) {
  // ZeRO-1 adds up and reduces once; ZeRO-2 and ZeRO-3 reduce after each micro-batch.
  const double all = 2 * (kRoot + 2 * kLayer);
  const auto reduced = [](const char* technique) {
    const TaskGraph graph = of(std::string("{") + technique + ": {micro_batches: 3}}", 1, 4, 2, 1e6, false, 3).graph();
    return bytes_over(graph, "all-reduce") + bytes_over(graph, "reduce-scatter");
  };
  EXPECT_EQ(reduced("ZeRO-1"), 2 * 3 * all);
  EXPECT_EQ(reduced("ZeRO-2"), 3 * 3 * all);
  EXPECT_EQ(reduced("ZeRO-3"), 3 * 3 * all);
}

TEST(Recompute, OfTheCoreOfAttentionKeepsQueriesKeysAndValues) {
  const Case none = of("{DDP: {recompute: none}}", 1, 2, 3, 1e6),
             core = of("{DDP: {recompute: selective}}", 1, 2, 3, 1e6);
  double saved = 0;
  for (std::size_t v = 0; v < boost::num_vertices(none.operators); ++v) {
    const Operator& op = none.operators[v];
    if (op.is_attention_core()) saved += kept_activations(none.operators, none.plan.stages[0], v, 0, 2, none.scenario);
    if (op.role == Role::kQkv) saved -= op.outputs * 2;  // one sequence per GPU, 2 B
  }
  const auto activations = [](const Case& c) {
    return activations_by_moment(c.plan, c.operators, 0, c.scenario).kept.value;
  };
  EXPECT_DOUBLE_EQ(activations(none) - activations(core), saved);
}

// 10 tokens of 16 in 2 B: queries, values and attention's output 160 each, up 640; for two heads' 100 scores each the softmax,
// dropout's output and a byte of mask. Beside the layer's input.
TEST(Recompute, ByOperatorsKeepsAttentionAndEveryOtherProduct) {
  const Case of_operators = of("{DDP: {recompute: operators}}", 1, 2, 3, 1e6);
  double kept = 0;
  for (std::size_t v = 0; v < boost::num_vertices(of_operators.operators); ++v) {
    if (of_operators.operators[v].layer != 1) continue;
    kept += kept_activations(of_operators.operators, of_operators.plan.stages[0], v, 0, 2, of_operators.scenario,
                             of_operators.plan.recompute);
  }
  EXPECT_DOUBLE_EQ(kept, 2 * (3 * 160 + 640) + 2 * 200 + 2 * 200 + 200);
}

// Keys, projection and down, behind which dropout makes its mask anew.
TEST(Recompute, ByOperatorsRepeatsEverySecondProduct) {
  const auto flops = [](const char* recompute) {
    Case c = of(std::string("{DDP: {recompute: ") + recompute + "}}", 1, 2, 3, 1e6);
    double sum = 0;
    const auto work = layer_work(c.operators, {.recompute = c.plan.recompute}, 1,
                                 c.scenario.platform.devices.front().gpu, c.scenario);
    for (const LayerWork& unit : work) sum += unit.backward_work.value;
    return sum;
  };
  // 2 x 10 tokens x 16 outputs x (16 inputs of keys, 16 of the projection, 64 of down), in three layers.
  EXPECT_DOUBLE_EQ(flops("operators") - flops("none"), 3 * 2 * 10 * 16 * (16 + 16 + 64));
}

}  // namespace
}  // namespace slmsim::fsdp_test
