// Rounds of local SGD, DiLoCo and Streaming DiLoCo: what they send and when they are done.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/predict/iterations.h"
#include "sim/technique/rounds/rounds.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::round_test {
namespace {

// With 2 layers: P = 2 x 3280 + 1792 = 8352.
constexpr double kParameters = 8352;

struct World {
  Scenario scenario;
  Transformer model = small_model(2);
  OperatorGraph operators = build_operator_graph(model);

  World(int vms, int gpus, double rate = 1e15) : scenario(small_scenario(vms, gpus, rate)) {
    scenario.training.batch = vms * gpus;
    scenario.training.precision = scenario.training.gradient_precision = Precision::kFp32;
  }
  TaskGraph graph(const std::string& techniques) const {
    return lowered(plan_of(scenario, model, operators, written(techniques)), operators, scenario);
  }
  double steady(const std::string& techniques) const { return simulate_iterations(graph(techniques)).steady().value; }
  double end(const std::string& techniques) const { return simulate(graph(techniques)).end.value; }
};

// Total time of all kernels of this name on a device.
double time_of(const TaskGraph& graph, const std::string& name, int device = 0) {
  double sum = 0;
  for (const Task& task : graph.tasks()) {
    if (task.kind == TaskKind::kCompute && task.place == device && graph.tag_of(task).name.rfind(name, 0) == 0)
      sum += task.amount;
  }
  return sum;
}

TEST(Round, OfOneStepAveragesInTheTimeOfItsPlainSibling) {
  // fp32 parameters have the bytes of fp32 gradients, and in fp32 nothing is cast: with all gradients in one bucket DDP
  // does the same in another order, but for its copies to buckets and back. With windows too, since exchanges follow one another
  // at the same distance.
  World world(2, 2, 1e4);
  const double copies =
      elementwise_time(Bytes{16 * kParameters}, world.scenario.platform.devices.front().gpu, world.scenario.software)
          .value;
  const double ddp = world.steady("{DDP: {bucket: 1 TB}}") - copies;
  EXPECT_NEAR(world.steady("{LocalSGD: {inner_steps: 1}}"), ddp, 1e-9 * ddp);
  for (auto& vm : world.scenario.platform.vms) {
    vm.type.tcp.receive_buffer = vm.type.tcp.send_buffer = Bytes{64e3};
    vm.type.tcp.slow_start_after_idle = true;
  }
  for (auto& link : world.scenario.platform.links) link.forward.delay = link.backward.delay = Seconds{0.5};
  const double far = world.steady("{DDP: {bucket: 1 TB}}") - copies;
  EXPECT_GT(far, ddp);
  EXPECT_NEAR(world.steady("{LocalSGD: {inner_steps: 1}}"), far, 1e-9 * far);
}

TEST(Round, OfOneFragmentWithoutDelayIsThePlainOne) {
  const World world(2, 2, 1e4);
  for (const char* more : {"", ", format: int8", ", format: bf16", ", replica: vm"}) {
    const double plain = world.steady(fmt::format("{{DiLoCo: {{inner_steps: 3{}}}}}", more));
    const double streaming =
        world.steady(fmt::format("{{StreamingDiLoCo: {{inner_steps: 3, fragments: 1, delay: 0{}}}}}", more));
    EXPECT_NEAR(streaming, plain, 1e-9 * plain) << more;
  }
}

TEST(Round, SendsTheSameBytesWhateverItsStepsAndFragments) {
  // A ring of four sends 2 x 3/4 of 4 B x 8352 per GPU: 50112 B.
  const World world(2, 2);
  for (const char* one : {"{LocalSGD: {inner_steps: 1}}", "{LocalSGD: {inner_steps: 7}}", "{DiLoCo: {inner_steps: 7}}",
                          "{StreamingDiLoCo: {inner_steps: 7, fragments: 2, delay: 2}}",
                          "{DiLoCo: {inner_steps: 2, all_reduce: shares}}"})
    EXPECT_NEAR(bytes_over(world.graph(one), ""), 4 * 50112, 8) << one;
}

TEST(Round, SendsWhatTheFormatTakes) {
  const World world(2, 2);
  EXPECT_NEAR(bytes_over(world.graph("{DiLoCo: {inner_steps: 2, format: bf16}}"), ""), 2 * 50112, 8);
  // Half a byte, and 4 for each 2048 numbers.
  const double int4 = 1.5 * kParameters * (0.5 + 4.0 / 2048);
  EXPECT_NEAR(bytes_over(world.graph("{DiLoCo: {inner_steps: 2, format: int4}}"), ""), 4 * int4, 16);
}

TEST(Round, OfVmsSumsGradientsInsideAndExchangesEachPartOnceBetween) {
  // Inside, at every step, two GPUs send 2 x 1/2 of 33408 B each, and gather 1/2 of 33408 B each at the end. Between, each GPU
  // sends 2 x 1/2 of its half of 33408 B: 16704 B, two of them each way.
  const TaskGraph graph = World(2, 2).graph("{DiLoCo: {inner_steps: 3, replica: vm}}");
  EXPECT_EQ(bytes_over(graph, "all-reduce grads"), 3 * 4 * 33408);
  EXPECT_EQ(bytes_over(graph, "all-reduce grads", "wan"), 0);
  EXPECT_EQ(bytes_over(graph, "all-reduce differences", "wan:a->b"), 2 * 16704);
  EXPECT_EQ(bytes_over(graph, "all-reduce differences"), 4 * 16704);
  EXPECT_EQ(bytes_over(graph, "all-gather parameters"), 4 * 16704);
}

TEST(Round, TakesItsStepsAndThenItsExchange) {
  // Two GPUs, 1000 B/s between them: a ring of two sends 2 x 1/2 of 33408 B in 33.408 s. The difference moves 12 B per
  // parameter at 200 B/s, the outer update 20 B, and 8 B come to what the passes use: 40 x 8352 / 200 = 1670.4 s.
  const World world(2, 1, 1000);
  const TaskGraph graph = world.graph("{DiLoCo: {inner_steps: 5}}");
  EXPECT_DOUBLE_EQ(time_of(graph, "difference"), 12 * kParameters / 200);
  EXPECT_DOUBLE_EQ(time_of(graph, "outer update"), 20 * kParameters / 200);
  EXPECT_DOUBLE_EQ(time_of(graph, "cast"), 8 * kParameters / 200);
  const double step = (time_of(graph, "fwd") + time_of(graph, "bwd") + time_of(graph, "adam")) / 5;
  EXPECT_NEAR(simulate(graph).end.value, 5 * step + 1670.4 + 33.408, kClock);
  // Adam in fp32 reads 16 B per parameter and writes 12.
  EXPECT_DOUBLE_EQ(time_of(graph, "adam"), 5 * 28 * kParameters / 200);
}

TEST(Round, HidesItsExchangeBehindTheStepsOfItsDelay) {
  // The difference comes after step 2 of 4, the rest of the kernels after step 4: 4 B more are read, since the GPU's own
  // parameters went on. The exchange has two steps' time.
  World world(2, 1, 1000);
  const std::string streaming = "{StreamingDiLoCo: {inner_steps: 4, fragments: 1, delay: 2}}";
  const TaskGraph graph = world.graph(streaming);
  const double step = (time_of(graph, "fwd") + time_of(graph, "bwd") + time_of(graph, "adam")) / 4;
  const double kernels = 44 * kParameters / 200;
  ASSERT_GT(2 * step, 33.408);
  EXPECT_NEAR(simulate(graph).end.value, 4 * step + kernels, kClock);
  // At a thousandth of the rate it takes 33408 s, of which two steps are hidden.
  world.scenario = World(2, 1, 1).scenario;
  EXPECT_NEAR(world.end(streaming), 4 * step + kernels + 33408 - 2 * step, 1e-3);
}

TEST(Round, ExchangesFragmentsInTurn) {
  const auto when = fragment_steps(10, 3, 2);
  ASSERT_EQ(when.size(), 3u);
  EXPECT_EQ(when[0].end, 3);
  EXPECT_EQ(when[1].end, 6);
  EXPECT_EQ(when[2].end, 10);
  EXPECT_EQ(when[0].begin, 1);
  EXPECT_EQ(when[1].begin, 4);
  EXPECT_EQ(when[2].begin, 8);
  // A round that ends the job early exchanges all the same.
  for (const auto& [begin, end] : fragment_steps(2, 4, 3)) {
    EXPECT_GE(begin, 1);
    EXPECT_LE(end, 2);
  }
}

TEST(Round, CutsTheModelIntoLayersInTurn) {
  // 3280 per layer; the embedding (100 + 10) x 16 = 1760 with the first, the last norm's 32 with the last.
  const OperatorGraph operators = build_operator_graph(small_model(5));
  const auto parts = fragment_parameters(operators, 2);
  EXPECT_EQ(parts[0], 3 * 3280 + 1760);
  EXPECT_EQ(parts[1], 2 * 3280 + 32);
  EXPECT_EQ(parts[0] + parts[1], parameter_count(operators));
}

TEST(Round, AddsUpSharesInTwoPhases) {
  // Two ranks, 1 s apart, 16704 B each way and phase at 1000 B/s; between them each reads two shares and writes one,
  // 3 x 16704 B at 200 B/s. A ring of two takes the same two steps, hides the latency of one between slices, and sums nothing
  // that is counted.
  World world(2, 1, 1000);
  for (auto& link : world.scenario.platform.links) link.forward.delay = link.backward.delay = Seconds{1};
  const double ring = world.end("{DiLoCo: {inner_steps: 1}}");
  const double shares = world.end("{DiLoCo: {inner_steps: 1, all_reduce: shares}}");
  EXPECT_NEAR(shares - ring, 3 * 16704 / 200.0 + 1, 1e-3);
}

TEST(Round, TellsWhatItCannotDo) {
  const auto reason = [](const World& world, const std::string& techniques) {
    Group group;
    for (std::size_t i = 0; i < world.scenario.platform.devices.size(); ++i)
      group.devices.push_back(static_cast<int>(i));
    return make_plan({world.scenario, world.model, world.operators, group, written(techniques)}).reason;
  };
  EXPECT_EQ(reason(World(1, 2), "{LocalSGD: {replica: vm}}"),
            "LocalSGD needs at least two replicas; here all GPUs are of one vm");
  EXPECT_EQ(reason(World(1, 1), "{DiLoCo: {replica: gpu}}"), "DiLoCo needs at least two replicas; this is one GPU");
  EXPECT_EQ(reason(World(2, 1), "{DiLoCo: {format: int8, all_reduce: nccl}}"),
            "NCCL cannot add int8, whose numbers have scales; choose all_reduce: shares, or auto");
  EXPECT_EQ(reason(World(2, 1), "{DiLoCo: {outer: host}}"),
            "the host memory of a is not known: state vms.a.host_memory, such as 64 GiB");
  EXPECT_EQ(reason(World(2, 1), "{StreamingDiLoCo: {fragments: 3}}"),
            "3 fragments of 2 layers; choose at most one per layer");
  EXPECT_EQ(reason(World(2, 1), "{StreamingDiLoCo: {inner_steps: 1, fragments: 2, delay: 0}}"),
            "1 inner steps are too few for 2 fragments; choose at least one step per fragment");
  EXPECT_EQ(reason(World(2, 1), "{StreamingDiLoCo: {inner_steps: 8, fragments: 2, delay: 4}}"),
            "an update 4 inner steps late would come after the next fragment's: 8 inner steps for 2 fragments leave "
            "less than 4");
  World uneven(2, 2);
  uneven.scenario.platform.devices.erase(uneven.scenario.platform.devices.begin() + 3);
  EXPECT_EQ(reason(uneven, "{LocalSGD: {replica: vm}}"),
            "replicas of 2 and of 1 GPUs: LocalSGD needs the same number in each vm, or replica: gpu");
}

}  // namespace
}  // namespace slmsim::round_test
