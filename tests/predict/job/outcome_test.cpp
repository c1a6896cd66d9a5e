#include "sim/predict/job/outcome.h"

#include <cmath>

#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "tests/named.h"

namespace slmsim::outcome_test {
namespace {

const std::string kFails = "job.failures={vm: {mtbf: 4 h, repair: 2 min}}";
const std::string kStore = "job.checkpoint={to: store, rate: 500 MB/s, interval: best}";

Scenario study(const Overrides& more) {
  Overrides all = {"models=gpt2m", "groups=[[gat, amst]]"};
  all.insert(all.end(), more.begin(), more.end());
  return load_scenario(SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml", all);
}

struct Study {
  Scenario scenario;
  Prediction prediction;
  JobOutcome outcome;
};
Study run(const std::string& technique, const Overrides& more, const PredictOptions& options = {}) {
  Overrides all = {"techniques=" + technique};
  all.insert(all.end(), more.begin(), more.end());
  Study out{study(all), {}, {}};
  out.prediction = predict(out.scenario, options).front();
  out.outcome = *outcome_of(out.scenario, out.prediction);
  return out;
}

TEST(JobOutcome, IsNothingWithoutAJob) {
  const Scenario scenario = study({"techniques=Data"});
  EXPECT_TRUE(outcomes_of(scenario, predict(scenario)).empty());
}

TEST(JobOutcome, WithoutFailuresIsThePredictionToTheBit) {
  const Study one = run("Data", {"job.lease=100 d"});
  EXPECT_EQ(one.outcome.length.median, one.prediction.job.value);
  EXPECT_EQ(one.outcome.length.low, one.outcome.length.high);
  EXPECT_EQ(one.outcome.before_lease, 1);
  EXPECT_EQ(run("Data", {"job.lease=1 min"}).outcome.before_lease, 0);
}

// gpt2m in fp16 with Adam: 2 B of weights, 4 of the master, 8 of moments for each parameter, each once.
TEST(JobOutcome, ACheckpointHoldsEachStateOnce) {
  for (const char* technique : {"Data", "ZeRO2", "Shard", "Pipeshard"}) {
    const Study one = run(technique, {kFails, kStore});
    const double parameters = parameter_count(build_operator_graph(one.scenario.models.front()));
    EXPECT_NEAR(one.outcome.checkpoint->bytes.value, 14 * parameters, 1) << technique;
  }
  // Two replicas' Adam beside the common weights; DiLoCo's outer parameters and momentum in fp32.
  const Study local = run("LocalSGD", {kFails, kStore, "techniques={LocalSGD: {replica: vm}}"});
  const double parameters = parameter_count(build_operator_graph(local.scenario.models.front()));
  EXPECT_NEAR(local.outcome.checkpoint->bytes.value, (2 + 2 * 12) * parameters, 1);
  const Study outer = run("DiLoCo", {kFails, kStore, "techniques={DiLoCo: {replica: vm}}"});
  EXPECT_NEAR(outer.outcome.checkpoint->bytes.value, (2 + 2 * 12 + 8) * parameters, 1);
}

// Adapters of rank 8 have an optimizer, the frozen weights have not.
TEST(JobOutcome, ACheckpointOfAdaptersHoldsNoOptimizerOfFrozenWeights) {
  const Study one = run("DDP", {kFails, kStore, "training.lora={rank: 8}"});
  const OperatorGraph operators = build_operator_graph(one.scenario.models.front());
  const double trained = trained_count(operators), all = parameter_count(operators);
  EXPECT_LT(100 * trained, all);
  EXPECT_NEAR(one.outcome.checkpoint->bytes.value, 2 * all + 12 * trained, 1);
}

// Both VMs write their half at 500 MB/s each.
TEST(JobOutcome, ACheckpointTakesItsBytesByTheRateOfEachVm) {
  const Study one = run("Data", {kFails, kStore});
  EXPECT_NEAR(one.outcome.checkpoint->write.value, one.outcome.checkpoint->bytes.value / 2 / 500e6, 1e-6);
  EXPECT_EQ(one.outcome.checkpoint->pause, one.outcome.checkpoint->write);
  EXPECT_EQ(one.outcome.checkpoint->read, one.outcome.checkpoint->write);
  const Study measured =
      run("Data", {kFails, "job.checkpoint={to: store, time: 40 s, read_time: 90 s, interval: 1 h}"});
  EXPECT_EQ(measured.outcome.checkpoint->write, Seconds{40});
  EXPECT_EQ(measured.outcome.checkpoint->read, Seconds{90});
}

// One TCP connection over 103 ms, bound by its window, is slower than the disk.
TEST(JobOutcome, ACheckpointToASiteGoesOverTheLink) {
  const Study one = run("Data", {kFails, "job.checkpoint={to: amst, rate: 10 GB/s, interval: best}"});
  const CheckpointTimes& times = *one.outcome.checkpoint;
  EXPECT_NEAR(times.egress.value, times.bytes.value / 2, 1);
  EXPECT_GT(times.write, times.bytes / BytesPerSecond{10e9});
  const Study near =
      run("Data", {kFails, "job.checkpoint={to: amst, rate: 10 GB/s, interval: best}", "platform.links.wan.rtt=1 ms"});
  EXPECT_LT(near.outcome.checkpoint->write, times.write);
}

// 1 Gbps one way and 0.1 Gbps the other, both below what a connection without losses carries over 1 ms.
TEST(JobOutcome, ACheckpointToASiteTakesTheRateOfItsDirection) {
  const auto times = [](const std::string& rates) {
    return *run("Data", {kFails, "job.checkpoint={to: amst, rate: 10 GB/s, interval: best}",
                         "platform.links.wan.rtt=1 ms", "platform.links.wan.loss=0", "platform.links.wan." + rates})
                .outcome.checkpoint;
  };
  const CheckpointTimes equal = times("bandwidth=1 Gbps");
  EXPECT_NEAR(equal.write.value, equal.egress.value / 125e6, 1e-6 * equal.write.value);
  const CheckpointTimes other = times("reverse={bandwidth: 100 Mbps}");
  EXPECT_NEAR(other.read.value, other.egress.value / 12.5e6, 1e-6 * other.read.value);
  EXPECT_LT(other.write, other.read);
}

// Two VMs send over a link that gives each connection its rate, in place of one for all.
TEST(JobOutcome, ACheckpointToASiteTakesTheRateOfEachConnection) {
  const auto time = [](const std::string& of) {
    const Scenario scenario = load_scenario(
        SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml",
        {"models=gpt2m", "groups=[[gat]]", "techniques=Data", kFails, "platform.vms.gat.count=2",
         "platform.links.wan.loss=0", "platform.links.wan.rtt=1 ms", "platform.links.wan.bandwidth=100 Mbps",
         "platform.links.wan.bandwidth_of=" + of, "job.checkpoint={to: amst, rate: 10 GB/s, interval: best}"});
    return outcome_of(scenario, predict(scenario).front())->checkpoint->write;
  };
  EXPECT_NEAR(time("path") / time("connection"), 2, 1e-6);
  EXPECT_NEAR(time("pair") / time("connection"), 1, 1e-6);
}

TEST(JobOutcome, InTheBackgroundTrainingWaitsForTheCopyOverPcieOnly) {
  const Study one =
      run("Data", {kFails, "job.checkpoint={to: store, rate: 50 MB/s, interval: 5 min, background: yes}"});
  const Gpu& gpu = one.scenario.platform.devices.front().gpu;
  EXPECT_NEAR(one.outcome.checkpoint->pause.value, one.outcome.checkpoint->bytes.value / 4 / gpu.pcie.value, 1e-9);
  EXPECT_LT(one.outcome.checkpoint->pause, one.outcome.checkpoint->write);
}

// Rates add up: 4 GPUs, 2 VMs, 2 sites and a link.
TEST(JobProcess, AddsTheRatesOfWhatFails) {
  const Study one =
      run("Data", {"job.failures={gpu: {mtbf: 100 h, repair: 1 s}, vm: {mtbf: 50 h, repair: 2 s}, site: {mtbf: 200 h, "
                   "repair: 3 s}, link: {mtbf: 25 h, repair: 4 s}}"});
  const JobProcess process = process_of(one.scenario, one.prediction, std::nullopt);
  EXPECT_EQ(process.replicas, 1);
  EXPECT_NEAR(process.stop_rate() * 3600, 4 / 100.0 + 2 / 50.0 + 2 / 200.0 + 1 / 25.0, 1e-12);
  EXPECT_NEAR(one.outcome.stops_per_day, 24 * 0.13, 1e-9);
  // On one VM there is no link to fail, and one site.
  Scenario alone = one.scenario;
  alone.groups.front() = study({"groups=[gat]"}).groups.front();
  const JobProcess gat = process_of(alone, predict(alone).front(), std::nullopt);
  EXPECT_NEAR(gat.stop_rate() * 3600, 2 / 100.0 + 1 / 50.0 + 1 / 200.0, 1e-12);
}

TEST(JobProcess, OfReplicasThatGoOnKnowsWhichEachFailureTakes) {
  const Study one =
      run("LocalSGD", {"techniques={LocalSGD: {replica: vm}}",
                       "job.failures={gpu: {mtbf: 100 h, repair: 1 s}, link: {mtbf: 25 h, repair: 1 s}}"});
  const JobProcess process = process_of(one.scenario, one.prediction, std::nullopt);
  EXPECT_EQ(process.replicas, 2);
  ASSERT_EQ(process.stops.size(), 3);
  EXPECT_EQ(process.stops[0].replicas, std::vector{0});
  EXPECT_EQ(process.stops[1].replicas, std::vector{1});
  EXPECT_TRUE(process.stops[2].replicas.empty());
  EXPECT_NEAR(process.stops[0].rate * 3600, 2 / 100.0, 1e-12);
}

TEST(JobProcess, HasIntervalsOfWholeIterations) {
  const Study one = run("Data", {kFails, "job.checkpoint={to: store, rate: 5 GB/s, interval: 100 s}"});
  const double iteration = one.prediction.iteration.value;
  EXPECT_NEAR(one.outcome.interval->value, std::ceil(100 / iteration) * iteration, 1e-9);
}

TEST(JobOutcome, PricesTheWholeTime) {
  const Overrides prices = {"platform.vms.gat.price_per_hour=3", "platform.vms.amst.price_per_hour=2"};
  Overrides all = prices;
  all.insert(all.end(), {kFails, kStore, "job.pue=1.5", "job.grams_per_kwh=200"});
  const Study one = run("Data", all);
  EXPECT_NEAR(one.outcome.cost->median, 5 * one.outcome.length.median / 3600, 1e-9);
  const double power = one.prediction.bill.energy->value / one.prediction.job.value;
  EXPECT_NEAR(one.outcome.energy->median, 1.5 * power * one.outcome.length.median, 1);
  EXPECT_NEAR(one.outcome.carbon->median, one.outcome.energy->median / 3.6e6 * 0.2, 1e-9);
  all.insert(all.end(), {"job.billed=1 h", "job.samples=1"});
  const Study billed = run("Data", all);
  EXPECT_NEAR(billed.outcome.cost->median, 5 * std::ceil(billed.outcome.length.median / 3600), 1e-9);
}

// Without failures: what each iteration sends between the sites, times the iterations.
TEST(JobOutcome, PricesWhatLeavesASite) {
  const Overrides all = {"platform.vms.gat.price_per_hour=0", "platform.vms.amst.price_per_hour=0",
                         "job.egress_per_gigabyte=0.1"};
  const Study one = run("Data", all, {.links = true});
  double bytes = 0;
  for (const LinkUse& use : one.prediction.links) bytes += use.link.starts_with("wan:") ? use.bytes.value : 0;
  ASSERT_GT(bytes, 0);
  EXPECT_NEAR(one.outcome.cost->median / (bytes * one.prediction.iterations / 1e9 * 0.1), 1, 1e-9);
}

// A last, shorter round exchanges as much as a full one: 300 steps in rounds of 200 are two exchanges, as are 400.
TEST(JobOutcome, PricesTheExchangeOfAShorterRound) {
  const auto cost = [](const char* samples) {
    return run("LocalSGD",
               {"platform.vms.gat.price_per_hour=0", "platform.vms.amst.price_per_hour=0",
                "job.egress_per_gigabyte=0.1", "techniques={LocalSGD: {inner_steps: 200}}",
                std::string("training={batch: 8, samples: ") + samples + "}"},
               {.links = true})
        .outcome.cost->median;
  };
  EXPECT_GT(cost("2400"), 0);
  EXPECT_NEAR(cost("2400") / cost("3200"), 1, 1e-9);
}

// A day that is always as the platform is the plain job's; a link with a tenth of the rate by day makes it longer, and the
// state that was simulated is the one of a scenario that states it.
TEST(LinksOverTheDay, AreSimulatedAtEachState) {
  const Study same = run("Data", {"job.links={wan: {hours: [{from: 0 h}, {from: 12 h}]}}"});
  EXPECT_NEAR(same.outcome.length.median, same.prediction.job.value, 1e-3);
  const Overrides slow = {"job.links={wan: {hours: [{from: 0 h}, {from: 8 h, bandwidth: 100 Mbps}]}}"};
  const Study one = run("Data", slow);
  const auto speeds = one.outcome.iterations->day;
  ASSERT_EQ(speeds.size(), 2);
  EXPECT_EQ(speeds[0].speed, 1);
  const Study stated = run("Data", {"platform.links.wan.bandwidth=100 Mbps", "job.lease=1 d"});
  EXPECT_NEAR(speeds[1].speed, one.prediction.iteration / stated.prediction.iteration, 1e-6);
  EXPECT_LT(speeds[1].speed, 1);
}

TEST(JobOutcome, IsTheSameForTheSameSeed) {
  const Study a = run("Data", {kFails, kStore}), b = run("Data", {kFails, kStore});
  EXPECT_EQ(a.outcome.length.high, b.outcome.length.high);
  EXPECT_NEAR(a.outcome.mean.useful / a.outcome.mean.total(), a.outcome.goodput, 1e-12);
}

}  // namespace
}  // namespace slmsim::outcome_test
