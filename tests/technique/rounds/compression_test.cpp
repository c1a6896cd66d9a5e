// Compressed gradients: what goes over links and what it takes, without contention.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "sim/compute/operator_graph.h"
#include "sim/predict/iterations.h"
#include "sim/predict/predict.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::compression_test {
namespace {

using testing::HasSubstr;

// With 2 layers: P = 2 x 3280 + 1792 = 8352. Matrices of h = 16: qkv 48 x 16, projection 16 x 16, up 64 x 16, down 16 x 64
// per layer, the table 100 x 16 and the positions 10 x 16.
constexpr double kParameters = 8352;

struct World {
  Scenario scenario;
  Transformer model = small_model(2);
  OperatorGraph operators = build_operator_graph(model);

  World(int vms, int gpus, double rate = 1e15) : scenario(small_scenario(vms, gpus, rate)) {
    scenario.training.batch = vms * gpus;
    scenario.training.epochs = 1;
    scenario.training.blocks_per_epoch = 1e4 * vms * gpus;
    scenario.training.precision = scenario.training.gradient_precision = Precision::kFp32;
  }
  Plan plan(const std::string& techniques) const { return plan_of(scenario, model, operators, written(techniques)); }
  TaskGraph graph(const std::string& techniques) const { return lowered(plan(techniques), operators, scenario); }
  double end(const std::string& techniques) const { return simulate(graph(techniques)).end.value; }
  std::string reason(const std::string& techniques) const {
    Group group;
    for (std::size_t i = 0; i < scenario.platform.devices.size(); ++i) group.devices.push_back(static_cast<int>(i));
    const TechniqueOptions options = written(techniques);
    return make_plan({scenario, model, operators, group, options}).reason;
  }
};

TEST(CompressedGradients, SendWhatTheirFormatTakes) {
  // A ring of four sends 2 x 3/4 of the buffer per GPU, shares as much; each of 24 messages is rounded to bytes.
  const World world(2, 2);
  EXPECT_NEAR(bytes_over(world.graph("{DDP: {compress: bf16}}"), ""), 6 * 2 * kParameters, 1);
  EXPECT_NEAR(bytes_over(world.graph("{DDP: {compress: fp16, bucket: 4 KiB}}"), ""), 6 * 2 * kParameters, 1);
  EXPECT_NEAR(bytes_over(world.graph("{DDP: {compress: int8}}"), ""), 6 * kParameters * (1 + 4.0 / 2048), 12);
  EXPECT_NEAR(bytes_over(world.graph("{DDP: {compress: int4}}"), ""), 6 * kParameters * (0.5 + 4.0 / 2048), 12);
}

TEST(CompressedGradients, TakeTheTimeOfTheirKernelsAndBytes) {
  // Two GPUs with 1000 B/s between them, one bucket: 8352 numbers are read in fp32 and written in bf16, 6 B each at 200 B/s
  // before; a ring of two sends 2 x 1/2 of 16704 B; 6 B each after. Adam comes behind.
  const World world(2, 1, 1000);
  const double kernels = 6 * kParameters / 200;
  const double plain = world.end("{DDP: {}}") - 4 * kParameters / 1000;
  EXPECT_NEAR(world.end("{DDP: {compress: bf16}}"), plain + 2 * kernels + 2 * kParameters / 1000, 1e-3);
  // As int8 by shares: half of the numbers each way, twice; a share of half is read from two and written.
  const double wire = kParameters * (1 + 4.0 / 2048);
  const double encode = (4 * kParameters + wire) / 200, sum = 3 * wire / 2 / 200;
  EXPECT_NEAR(world.end("{DDP: {compress: int8}}"), plain + 2 * encode + sum + wire / 1000, 1e-3);
}

TEST(CompressedGradients, OfLowRankSendBothFactorsAndVectors) {
  // Rank 2, worth it where 2 (n + m) 2 < n m: qkv 64 x 4 < 768, up and down 80 x 4 < 1024, table 116 x 4 < 1600, projection
  // 32 x 4 < 256; positions 26 x 4 < 160. P: 2 x (48 + 16 + 64 + 16) + 100 + 10 = 398 rows x 2; Q: 2 x (16 + 16 + 16 + 64) +
  // 16 + 16 = 256 x 2. Vectors: 2 layers of 13 h, and 2 h: 448.
  const World world(2, 2);
  const std::string powersgd = "{DDP: {compress: powersgd, rank: 2, warm_up: 10}}";
  const TaskGraph graph = world.graph(powersgd);
  const double ring = 6 * 4;  // of four, fp32
  EXPECT_NEAR(bytes_over(graph, "all-reduce P"), ring * 2 * 398, 1);
  EXPECT_NEAR(bytes_over(graph, "all-reduce Q"), ring * 2 * 256, 1);
  EXPECT_NEAR(bytes_over(graph, "all-reduce grads"), ring * 448, 1);
  // Whatever the buckets, which end with a tensor.
  const TaskGraph small = world.graph("{DDP: {compress: powersgd, rank: 2, warm_up: 10, bucket: 2 KiB}}");
  EXPECT_NEAR(bytes_over(small, ""), ring * (2 * (398 + 256) + 448), 1);
  EXPECT_GT(count_of(small, "all-reduce P"), count_of(graph, "all-reduce P"));
}

TEST(CompressedGradients, OfLowRankWaitForOneSumAfterTheOther) {
  // Three ring all-reduces of two GPUs at 10 B/s: (448 + 2 x 398 + 2 x 256) x 4 B; the kernels of one bucket around them.
  const World world(2, 1, 10);
  LowRankBucket all;
  for (std::size_t v = 0; v < boost::num_vertices(world.operators); ++v)
    all.add(gradient_tensors(world.operators[v]), 2);
  EXPECT_EQ(all.elements(), kParameters);
  const Gpu& gpu = world.scenario.platform.devices.front().gpu;
  const LowRankTimes t = low_rank_times(all, Precision::kFp32, gpu, world.scenario.software);
  const double wire = (448 + 2 * 398 + 2 * 256) * 4 / 10.0;
  const double plain = world.end("{DDP: {}}") - 4 * kParameters / 10;
  EXPECT_NEAR(world.end("{DDP: {compress: powersgd, rank: 2, warm_up: 10}}"),
              plain + (t.before + t.between + t.after).value + wire, 1e-3);
}

TEST(CompressedGradients, OfTheLargestAreGatheredFromAll) {
  // 1 % of 8352 is 84 numbers and their places, 8 B each; to gather those of four each GPU passes on three.
  const World world(2, 2);
  const TaskGraph graph = world.graph("{DDP: {compress: topk}}");
  EXPECT_NEAR(bytes_over(graph, "all-gather grads"), 4 * 3 * 84 * 4, 1e-6);
  EXPECT_NEAR(bytes_over(graph, "all-gather places"), 4 * 3 * 84 * 4, 1e-6);
  EXPECT_NEAR(bytes_over(world.graph("{DDP: {compress: topk, density: 0.5}}"), ""), 4 * 3 * 4176 * 8, 1e-6);
  // It grows with the number of GPUs, where a ring's all-reduce does not.
  EXPECT_NEAR(bytes_over(World(4, 2).graph("{DDP: {compress: topk}}"), ""), 8 * 7 * 84 * 8, 1e-6);
  const World slow(2, 1, 10);
  const TopKTimes t =
      top_k_times(kParameters, 0.01, 2, 4, slow.scenario.platform.devices.front().gpu, slow.scenario.software);
  const double plain = slow.end("{DDP: {}}") - 4 * kParameters / 10;
  EXPECT_NEAR(slow.end("{DDP: {compress: topk}}"), plain + (t.before + t.after).value + 84 * 8 / 10.0, 1e-3);
}

TEST(CompressedGradients, GoBesideTheBackwardPassInBuckets) {
  // Smaller buckets, an earlier end: only the last one's exchange is not hidden.
  const World world(2, 1, 1000);
  EXPECT_LT(world.end("{DDP: {compress: bf16, bucket: 4 KiB}}"), world.end("{DDP: {compress: bf16, bucket: 1 TB}}"));
}

TEST(OneBitAdam, SendsABitPerParameterTwice) {
  // Each GPU sends 3/4 of 8352 / 8 B to the others, and gathers as much; two scales of 4 B from all.
  const World world(2, 2);
  const TaskGraph graph = world.graph("{OneBitAdam: {warm_up: 10}}");
  EXPECT_NEAR(bytes_over(graph, "all-to-all signs"), 4 * 0.75 * kParameters / 8, 1e-6);
  EXPECT_NEAR(bytes_over(graph, "all-gather signs"), 4 * 0.75 * kParameters / 8, 1e-6);
  EXPECT_NEAR(bytes_over(graph, "all-gather scales"), 2 * 4 * 3 * 4, 1e-6);
}

TEST(OneBitAdam, TakesItsKernelsAndBytesInTurn) {
  const World world(2, 1, 10);
  const SignTimes t =
      sign_times(kParameters, 2, 4, world.scenario.platform.devices.front().gpu, world.scenario.software);
  const double copies =
      elementwise_time(Bytes{16 * kParameters}, world.scenario.platform.devices.front().gpu, world.scenario.software)
          .value;
  const double plain = world.end("{DDP: {bucket: 1 TB}}") - 4 * kParameters / 10 - copies;
  // Between two GPUs: half of the signs each way, twice, and a scale of 4 B, twice.
  EXPECT_NEAR(world.end("{OneBitAdam: {warm_up: 10}}"),
              plain + (t.momentum + t.encode + t.sum + t.decode).value + (kParameters / 8 + 8) / 10, 1e-3);
}

TEST(WarmUp, IsThePlainSibling) {
  World world(2, 2, 1e4);
  for (auto& link : world.scenario.platform.links) link.forward.delay = link.backward.delay = Seconds{0.5};
  const auto warming = [&](const std::string& techniques) {
    Plan plan = world.plan(techniques);
    plan.workload.warming = true;
    return simulate_iterations(lowered(plan, world.operators, world.scenario)).steady().value;
  };
  const double ddp = warming("{DDP: {bucket: 8 KiB}}");
  EXPECT_NEAR(warming("{DDP: {bucket: 8 KiB, compress: powersgd, warm_up: 100}}"), ddp, 1e-9 * ddp);
  EXPECT_LT(world.end("{DDP: {bucket: 8 KiB, compress: none}}") - world.end("{DDP: {bucket: 8 KiB}}"), 1e-9);
  // All gradients at once, behind the backward pass.
  world.scenario.framework.reduce_bucket = 1e12;
  const double whole = warming("{DDP: {bucket: 1 TB}}");
  // DDP divides gradients as it copies them to their buckets, DeepSpeed's engine afterwards.
  const double division =
      elementwise_time(Bytes{8 * kParameters}, world.scenario.platform.devices.front().gpu, world.scenario.software)
          .value;
  EXPECT_NEAR(warming("{OneBitAdam: {warm_up: 100}}"), whole + division, 1e-9 * whole);
}

TEST(WarmUp, AddsItsStepsToTheJob) {
  World world(2, 1, 1000);
  world.scenario.models = {world.model};
  world.scenario.groups = {{{"a", "b"}, {0, 1}}};
  world.scenario.training.blocks_per_epoch = 200;  // 100 steps of 2 sequences
  world.scenario.techniques = {written("{DDP: {}}"), written("{DDP: {compress: powersgd, warm_up: 40}}")};
  const auto predictions = predict(world.scenario, {.ignore_memory = true});
  const Prediction &plain = predictions[0], &compressed = predictions[1];
  ASSERT_TRUE(compressed.warm_up);
  EXPECT_EQ(compressed.warm_up->steps, 40);
  EXPECT_NEAR(compressed.warm_up->iteration.value, plain.iteration.value, 1e-9 * plain.iteration.value);
  EXPECT_NEAR(compressed.job.value, 40 * plain.iteration.value + 60 * compressed.iteration.value,
              1e-9 * compressed.job.value);
  EXPECT_FALSE(plain.warm_up);
  EXPECT_TRUE(plain.remarks.empty());
  EXPECT_EQ(compressed.remarks.size(), 1u);
}

TEST(CompressedGradients, RefuseOptionsWithoutEffect) {
  World world(2, 1);
  EXPECT_THAT(world.reason("{DDP: {rank: 2}}"), HasSubstr("rank has no effect"));
  EXPECT_THAT(world.reason("{DDP: {compress: bf16, density: 0.1}}"), HasSubstr("density has no effect"));
  EXPECT_THAT(world.reason("{DDP: {compress: topk, warm_up: 5}}"), HasSubstr("warm_up has no effect"));
  EXPECT_THAT(world.reason("{DDP: {compress: powersgd, rank: 16}}"), HasSubstr("choose a smaller one"));
  EXPECT_THAT(world.reason("{DDP: {compress: powersgd, warm_up: 10000}}"), HasSubstr("within the warm-up of 10000"));
  EXPECT_THAT(world.reason("{OneBitAdam: {}}"), HasSubstr("within the warm-up of 100000"));
  world.scenario.training.gradient_precision = Precision::kFp16;
  EXPECT_THAT(world.reason("{DDP: {compress: fp16}}"), HasSubstr("gradients are already fp16"));
  EXPECT_THAT(world.reason("{DDP: {compress: bf16}}"), HasSubstr("gradients are already fp16"));
  EXPECT_EQ(world.reason("{DDP: {compress: int8}}"), "");
  EXPECT_THAT(World(1, 1).reason("{DDP: {compress: int8}}"), HasSubstr("no effect on one GPU"));
}

}  // namespace
}  // namespace slmsim::compression_test
