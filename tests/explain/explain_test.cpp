// Limits of techniques on clusters that are built to have one limit.
#include "sim/explain/explain.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "sim/explain/latency.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::explain_test {
namespace {

using testing::IsEmpty;

// With 2 layers: P = 8352; Data on two GPUs passes 16704 B of gradients around a ring of two in 2 steps of 8352 B.
constexpr double kStep = 8352;
constexpr Bytes kNarrow{2 * 1448};  // a window of two segments

// `vms` VMs of `gpus` GPUs whose computations take no time worth telling.
Scenario quick(int vms, int gpus, const Technique* technique = named("Data")) {
  Scenario scenario = small_scenario(vms, gpus);
  for (auto& device : scenario.platform.devices) {
    device.gpu.memory_bandwidth = BytesPerSecond{1e15};
    device.gpu.memory = Bytes{1e15};
  }
  scenario.models = {small_model(2)};
  scenario.training = {.batch = vms * gpus, .epochs = 1, .blocks_per_epoch = 100, .iteration_overhead = {}};
  Group all;
  for (int i = 0; i < vms * gpus; ++i) all.devices.push_back(i);
  for (const auto& vm : scenario.platform.vms) all.names.push_back(vm.name);
  scenario.groups = {all};
  scenario.techniques = {with(technique, 0)};
  return scenario;
}

void set_rtt(Scenario& scenario, double rtt) {
  for (auto& link : scenario.platform.links) link.forward.delay = link.backward.delay = Seconds{rtt / 2};
}

Explanation only(const Scenario& scenario) {
  const auto all = explain(scenario);
  EXPECT_EQ(all.size(), 1u);
  EXPECT_EQ(all.at(0).prediction.status, Status::kOk) << all.at(0).prediction.reason;
  return all.at(0);
}

std::string most(const Explanation& e) { return e.limits.single.empty() ? "" : e.limits.single.front().name; }

double given_back(const Explanation& e, const std::string& name) {
  for (const auto& limit : e.limits.single) {
    if (limit.name == name) return limit.given_back.value;
  }
  return 0;
}

TEST(Explain, AGpuAloneIsLimitedByItself) {
  Scenario scenario = quick(1, 1);
  scenario.platform.devices[0].gpu.memory_bandwidth = BytesPerSecond{200};
  scenario.training.batch = 100;
  const Explanation e = only(scenario);
  ASSERT_EQ(e.limits.single.size(), 2u);  // nothing else takes any time
  EXPECT_EQ(most(e), "GPU");
  // Adam reads gradient, master and moments and writes master, moments and weights: 28 B per parameter.
  EXPECT_NEAR(given_back(e, "optimizer"), kStep * 28 / 200, 1e-3);
  EXPECT_NEAR(given_back(e, "GPU") + given_back(e, "optimizer"), e.prediction.iteration.value, 1e-3);
}

// Passes of four micro-batches without their GPU take their host's time, however a technique makes tasks of them.
TEST(Explain, TechniquesAgreeOnAGpuAloneAndItsHost) {
  std::vector<double> gpu;
  for (const char* technique : {"DDP", "FSDP", "Data"}) {
    Scenario scenario = quick(1, 1, named(technique));
    scenario.platform.devices[0].gpu.memory_bandwidth = BytesPerSecond{1e4};
    scenario.training.batch = scenario.training.gradient_accumulation = 4;
    scenario.software.host.forward = scenario.software.host.backward = Seconds{0.05};
    const Explanation e = only(scenario);
    gpu.push_back(given_back(e, "GPU"));
    EXPECT_GT(gpu.back(), 0.01) << technique;
    EXPECT_LT(gpu.back(), 0.9 * e.prediction.iteration.value) << technique;
  }
  EXPECT_NEAR(gpu[1], gpu[0], 0.02 * gpu[0]);
  EXPECT_NEAR(gpu[2], gpu[0], 0.02 * gpu[0]);
}

TEST(Explain, ANarrowWindowIsFoundFirst) {
  Scenario scenario = quick(2, 1);
  set_rtt(scenario, 1);
  for (auto& vm : scenario.platform.vms) vm.type.tcp.send_buffer = kNarrow;
  // Two segments, 2896 B, per round trip: the last 2560 B of a step leave after 2 s and arrive half a second later, when the next
  // step finds the window full until they are acknowledged, another half second later.
  const Explanation e = only(scenario);
  EXPECT_NEAR(e.prediction.iteration.value, 6, 1e-3);
  EXPECT_EQ(most(e), "window");
  EXPECT_NEAR(given_back(e, "window"), 5, 1e-3);
  EXPECT_NEAR(given_back(e, "buffers"), 5, 1e-3);
  // Two hops of half a second; without them a window is spent in a few steps, and one of six or seven waits for it.
  EXPECT_NEAR(given_back(e, "latency"), 1 - 1 / 6.0, 1 / 30.0);
  EXPECT_EQ(given_back(e, "loss"), 0);
}

TEST(Explain, LossIsToldFromBuffers) {
  Scenario scenario = quick(2, 1);
  set_rtt(scenario, 1);
  for (auto& link : scenario.platform.links) link.forward.loss = link.backward.loss = 0.25;
  const Explanation e = only(scenario);
  EXPECT_EQ(most(e), "window");
  EXPECT_GT(given_back(e, "loss"), 0.5 * e.prediction.iteration.value);
  EXPECT_EQ(given_back(e, "buffers"), 0);
}

TEST(Explain, DistanceIsFoundFirstWhereMessagesAreTiny) {
  Scenario scenario = quick(2, 1);
  set_rtt(scenario, 2);  // windows start at 14480 B, more than a step
  const Explanation e = only(scenario);
  EXPECT_EQ(most(e), "latency");
  // One step of six or seven waits for the window that those before it have spent.
  EXPECT_NEAR(given_back(e, "latency"), 2 - 2 / 6.0, 2 / 30.0);
  EXPECT_EQ(e.limits.latencies.between_vms, 2);
  EXPECT_NEAR(e.limits.latencies.sum.value, 2, 1e-9);
}

TEST(Explain, ASlowLinkIsFoundByItsName) {
  Scenario scenario = quick(2, 1);
  for (auto& link : scenario.platform.links) link.forward.bandwidth = link.backward.bandwidth = BytesPerSecond{100};
  const Explanation e = only(scenario);
  ASSERT_EQ(e.limits.single.size(), 1u);
  EXPECT_EQ(most(e), "wan");
  EXPECT_NEAR(given_back(e, "wan"), 2 * kStep / 100, 1e-3);
}

TEST(SetWords, AreOfAShellAndOfManyTheFirst) {
  EXPECT_EQ(set_words({"a=1", "b=[x, y]"}), "a=1 --set 'b=[x, y]'");
  EXPECT_EQ(set_words(std::vector<std::string>(64, "a=1")), "a=1 --set a=1 and 62 more of --format json");
}

// Each pair of VMs has a rate of its own, and an unlimited one is one too.
TEST(Explain, ASlowLinkOfEachPairIsFoundByItsName) {
  Scenario scenario = quick(2, 1);
  for (auto& link : scenario.platform.links) {
    link.forward.bandwidth = link.backward.bandwidth = BytesPerSecond{100};
    link.bandwidth_of = BandwidthOf::kPair;
  }
  const Explanation e = only(scenario);
  EXPECT_EQ(most(e), scenario.platform.links.front().name);
  EXPECT_NEAR(given_back(e, most(e)), 2 * kStep / 100, 0.01 * 2 * kStep / 100);
}

TEST(Explain, ASlowNicAndASlowBusAreFoundByTheirVm) {
  Scenario nic = quick(2, 1);
  nic.platform.vms[1].type.nic = BytesPerSecond{100};
  EXPECT_EQ(most(only(nic)), "nic:b");
  Scenario bus = quick(2, 1);
  bus.platform.devices[0].gpu.pcie = BytesPerSecond{100};
  EXPECT_EQ(most(only(bus)), "pcie:a");
  Scenario both = quick(2, 1);
  for (auto& vm : both.platform.vms) vm.type.nic = BytesPerSecond{100};
  EXPECT_EQ(most(only(both)), "nic");  // one of them alone gives nothing back
}

TEST(Explain, ASlowSocketIsFoundFirst) {
  Scenario scenario = quick(2, 1);
  for (auto& vm : scenario.platform.vms) vm.type.tcp.copy_rate = BytesPerSecond{100};
  const Explanation e = only(scenario);
  EXPECT_EQ(most(e), "sockets");
  EXPECT_NEAR(given_back(e, "sockets"), 2 * kStep / 100, 1e-3);
}

TEST(Explain, LaunchingIsFoundFirstWhereTheDriverTalksALot) {
  Scenario scenario = quick(2, 1);
  set_rtt(scenario, 1);
  scenario.training.iteration_overhead = Seconds{5};
  scenario.training.control_round_trips = 20;
  const Explanation e = only(scenario);
  EXPECT_EQ(most(e), "launch");
  EXPECT_NEAR(given_back(e, "launch"), 25, 1e-3);
}

TEST(Explain, ABubbleIsWhatAPipelineWithoutMicroBatchesWaits) {
  // Two stages and one micro-batch: each GPU computes while the other waits. Only a faster GPU would give back more.
  Scenario scenario = quick(1, 2, named("Pipeshard"));
  for (auto& device : scenario.platform.devices) device.gpu.memory_bandwidth = BytesPerSecond{200};
  scenario.training.batch = 100;
  scenario.techniques = {with(named("Pipeshard"), 1)};
  const Explanation e = only(scenario);
  EXPECT_EQ(most(e), "GPU");
  ASSERT_GE(e.limits.single.size(), 2u);
  EXPECT_EQ(e.limits.single[1].name, "bubble");
  EXPECT_NEAR(given_back(e, "bubble"), e.prediction.breakdown.pipeline_bubble.value, 1e-6);
  const Breakdown& b = e.prediction.breakdown;
  EXPECT_NEAR(given_back(e, "bubble"), (e.prediction.iteration - b.compute - b.optimizer).value, 1e-3);
}

// 2000 B per round trip of a second, or 2000 B/s: either alone leaves the other in the way.
Scenario twice_limited() {
  Scenario scenario = quick(2, 1);
  set_rtt(scenario, 1);
  for (auto& vm : scenario.platform.vms) vm.type.tcp.send_buffer = Bytes{2000};
  for (auto& link : scenario.platform.links) link.forward.bandwidth = link.backward.bandwidth = BytesPerSecond{2000};
  return scenario;
}

TEST(Explain, TwoThatHideEachOtherAreToldTogether) {
  const Explanation e = only(twice_limited());
  const double iteration = e.prediction.iteration.value;
  EXPECT_GT(iteration, 2 * kStep / 2000);
  // Without both a step takes the half second of its way.
  ASSERT_FALSE(e.limits.pairs.empty());
  const LimitPair& pair = e.limits.pairs.front();
  EXPECT_THAT((std::vector{pair.first, pair.second}), testing::UnorderedElementsAre("window", "wan"));
  EXPECT_NEAR(pair.together.value, iteration - 1, 1e-3);
  EXPECT_GT(pair.together, pair.alone_first + pair.alone_second);
}

TEST(Explain, LimitsInTurnAddUpToTheIterationAndLeaveATenth) {
  for (const Scenario& scenario : {twice_limited(), quick(2, 2, named("Shard")), quick(1, 2, named("Pipeshard"))}) {
    const Explanation e = only(scenario);
    double sum = e.limits.left.value;
    for (const auto& limit : e.limits.in_turn) {
      EXPECT_GT(limit.given_back.value, 0);
      sum += limit.given_back.value;
    }
    EXPECT_NEAR(sum, e.prediction.iteration.value, 1e-9 * sum);
    EXPECT_LE(e.limits.left, e.prediction.iteration * 0.1);
  }
}

TEST(Explain, OneSlowDirectionIsTold) {
  Scenario scenario = quick(2, 1);
  scenario.platform.links[0].backward.bandwidth = BytesPerSecond{100};
  const Explanation e = only(scenario);
  EXPECT_NEAR(given_back(e, "wan, b to a"), 2 * kStep / 100, 1);
  EXPECT_EQ(given_back(e, "wan, a to b"), 0);
  scenario.platform.links[0].backward = scenario.platform.links[0].forward;
  set_rtt(scenario, 1);
  scenario.platform.links[0].backward.loss = 0.25;
  const Explanation lossy = only(scenario);
  EXPECT_GT(given_back(lossy, "loss, b to a"), 0.5 * lossy.prediction.iteration.value);
  EXPECT_EQ(given_back(lossy, "loss, a to b"), 0);
}

TEST(Explain, TheOrderOfVmsIsTried) {
  // Four VMs; a and c, b and d are neighbours by short ways, and the ring in the platform's order takes long ones.
  Group group{.names = {"a", "b", "c/0"}, .devices = {0, 1, 2, 3, 4}};
  Platform platform = small_scenario(3, 2).platform;
  const auto orders = other_orders(platform, group);
  ASSERT_EQ(orders.size(), 5u);  // 3! - 1
  EXPECT_THAT(orders[0].names, testing::ElementsAre("a", "c/0", "b"));
  EXPECT_THAT(orders[0].devices, testing::ElementsAre(0, 1, 4, 2, 3));
  EXPECT_THAT(orders[4].names, testing::ElementsAre("c/0", "b", "a"));
  Group six{.names = {}, .devices = {0, 2, 4, 6, 8, 10}};
  EXPECT_EQ(other_orders(small_scenario(6, 2).platform, six).size(), 6u);  // the reverse, five neighbours
}

TEST(Explain, NothingGivesBackMoreThanThereIs) {
  Scenario scenario = quick(2, 2, named("Shard"));
  set_rtt(scenario, 0.1);
  for (auto& device : scenario.platform.devices) device.gpu.memory_bandwidth = BytesPerSecond{1e6};
  const Explanation e = only(scenario);
  double before = e.prediction.iteration.value;
  for (const auto& limit : e.limits.single) {
    EXPECT_LE(limit.given_back.value, before);
    EXPECT_GT(limit.given_back.value, 0);
    before = limit.given_back.value;  // the most first
  }
}

// Two lossy runs of one plan differ by chance: a limit is compared with the run that it changes.
TEST(Explain, WhatTakesNoTimeGivesNothingBackOverALossyPath) {
  const Scenario scenario = load_scenario(
      SLMSIM_SOURCE_DIR "/scenarios/reported/lambda.yaml",
      {"platform={name: two, sites: {a: {}, b: {}}, links: {w: {between: [a, b], rtt: 30ms, bandwidth: 1Gbps, loss: "
       "1e-5}}, vms: {a: {site: a, type: workstation, gpus: [rtx3090, rtx3090]}, b: {site: b, type: workstation, gpus: "
       "[rtx5080]}}}",
       "models.0={name: q, family: qwen3, hidden: 1024, heads: 16, kv_heads: 8, head_dim: 128, layers: 28, "
       "intermediate: 3072, sequence: 2048, vocabulary: 151936, tied_embedding: yes}",
       "training={batch: 24, micro_batch: 1, precision: bf16, epochs: 1, blocks_per_epoch: 20000}",
       "techniques={Pipeshard: {planner: slmsim}}", "software.stack=compiled"});
  const Explanation e = only(scenario);
  EXPECT_GT(given_back(e, "loss"), 0);
  for (const char* none : {"launch", "sockets", "nic:a", "nic:b"}) EXPECT_EQ(given_back(e, none), 0) << none;
}

TEST(Explain, SaysNothingOfWhatDoesNotRun) {
  Scenario scenario = quick(1, 1);
  scenario.platform.devices[0].gpu.memory = Bytes{1};
  const auto all = explain(scenario);
  EXPECT_EQ(all.at(0).prediction.status, Status::kOutOfMemory);
  EXPECT_THAT(all.at(0).limits.single, IsEmpty());
  EXPECT_EQ(all.at(0).advice, "");
}

TEST(Explain, TriesChangesByPredictingThem) {
  Scenario scenario = quick(2, 1);
  set_rtt(scenario, 1);
  for (auto& vm : scenario.platform.vms) vm.type.tcp.send_buffer = kNarrow;
  int refused = 0;
  ExplainOptions options;
  options.reload = [&](const Overrides& more) -> std::optional<Scenario> {
    if (more.front().find("tcp_rmem") == std::string::npos) return ++refused, std::nullopt;
    EXPECT_THAT(more, testing::Contains("platform.vms.b.type.tcp.net.ipv4.tcp_wmem=11584B"));
    Scenario wider = scenario;
    for (auto& vm : wider.platform.vms) vm.type.tcp.send_buffer = kNarrow * 4;
    return wider;
  };
  const Explanation e = explain(scenario, options).at(0);
  EXPECT_GT(refused, 2);
  ASSERT_EQ(e.what_ifs.size(), 1u);
  // Two steps of two slices of 4176 B. One iteration in two finds the whole window: its first step leaves at once, and of the
  // second 3232 B, the rest half a second later, so that it ends after 1.5 s. The next finds 6464 B: its second slice waits
  // half a second for a quarter of the window, and so does each slice of the second step, in part: 2 s.
  EXPECT_NEAR(e.what_ifs[0].iteration.value, (1.5 + 2) / 2, 1e-3);
  EXPECT_THAT(
      e.advice,
      testing::HasSubstr("tcp_wmem=11584B, 1.75 s in place of 6 s (-71 %). Limited most by window, 83 % of the time."));
}

TEST(Explain, IsTheSameInThreads) {
  Scenario scenario = quick(2, 1);
  set_rtt(scenario, 1);
  for (auto& vm : scenario.platform.vms) vm.type.tcp.send_buffer = kNarrow;
  ExplainOptions options;
  options.reload = [&](const Overrides& more) -> std::optional<Scenario> {
    Scenario wider = scenario;
    for (auto& vm : wider.platform.vms) vm.type.tcp.send_buffer = kNarrow * static_cast<double>(more.front().size());
    return wider;
  };
  const auto alone = explain(scenario, options).at(0).what_ifs;
  options.threads = 4;
  const auto together = explain(scenario, options).at(0).what_ifs;
  ASSERT_EQ(alone.size(), together.size());
  EXPECT_GT(alone.size(), 3u);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(alone[i].set, together[i].set);
    EXPECT_EQ(alone[i].iteration, together[i].iteration);
  }
}

TEST(LatencySweep, IsTheSameInThreads) {
  Scenario scenario = quick(3, 1);
  set_rtt(scenario, 0.01);
  scenario.techniques.push_back(with(named("Pipeshard"), 1));
  const auto predictions = predict(scenario);
  const auto alone = sweep_latency(scenario, scenario.models.front(), predictions),
             together = sweep_latency(scenario, scenario.models.front(), predictions, {}, 4);
  ASSERT_TRUE(alone && together);
  ASSERT_EQ(alone->points.size(), together->points.size());
  for (std::size_t i = 0; i < alone->points.size(); ++i) {
    for (std::size_t p = 0; p < predictions.size(); ++p)
      EXPECT_EQ(alone->points[i].predictions[p].job, together->points[i].predictions[p].job);
  }
}

// A compiler halves what computing takes, where the GPU can run what it makes.
TEST(Explain, TriesACompilerWhereTheStackHasOne) {
  Scenario scenario = quick(1, 1);
  for (auto& device : scenario.platform.devices) {
    device.gpu.compute_capability = 80;
    device.gpu.peak.fill(FlopsPerSecond{1e9});
  }
  std::vector<std::string> asked;
  int least_capability = 0;
  ExplainOptions options;
  options.reload = [&](const Overrides& more) -> std::optional<Scenario> {
    asked.push_back(more.front());
    if (more.front() != "software.stack=compiled") return std::nullopt;
    Scenario compiled = scenario;
    compiled.software.least_capability = least_capability;
    for (auto& device : compiled.platform.devices) device.gpu.peak.fill(FlopsPerSecond{2e9});
    return compiled;
  };
  scenario.software.stack = "jax";
  EXPECT_THAT(explain(scenario, options).at(0).what_ifs, IsEmpty());
  EXPECT_THAT(asked, testing::Not(testing::Contains("software.stack=compiled")));
  scenario.software.stack = "eager";
  const Explanation e = explain(scenario, options).at(0);
  EXPECT_THAT(asked, testing::IsSupersetOf({"software.stack=compiled", "software.attention=flash"}));
  ASSERT_EQ(e.what_ifs.size(), 1u);
  EXPECT_EQ(e.what_ifs[0].set, Overrides{"software.stack=compiled"});
  EXPECT_NEAR(e.what_ifs[0].iteration / e.prediction.iteration, 0.5, 0.01);
  least_capability = 1000;
  EXPECT_THAT(explain(scenario, options).at(0).what_ifs, IsEmpty());
}

}  // namespace
}  // namespace slmsim::explain_test
