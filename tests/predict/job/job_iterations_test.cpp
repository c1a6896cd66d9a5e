// Iterations within a job: data that come late, GPUs and links that scatter.
#include "sim/predict/job/job_iterations.h"

#include <gtest/gtest.h>

#include "sim/predict/job/loading.h"
#include "sim/predict/job/outcome.h"
#include "sim/scenario/scenario.h"

namespace slmsim::job_iterations_test {
namespace {

struct Study {
  Scenario scenario;
  Prediction prediction;
  std::optional<JobOutcome> outcome;

  const JobIterations& iterations() const { return *outcome->iterations; }
};
Study run(const std::string& technique, const std::string& groups, const Overrides& more) {
  Overrides all = {"models=gpt2m", "groups=" + groups, "techniques=" + technique};
  all.insert(all.end(), more.begin(), more.end());
  Study out{load_scenario(SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml", all), {}, {}};
  out.prediction = predict(out.scenario, {.links = true}).front();
  out.outcome = outcome_of(out.scenario, out.prediction);
  return out;
}

const std::string kBoth = "[[gat, amst]]", kGat = "[gat]";
std::string data(const std::string& keys) { return "job.data={bytes_per_token: 2, " + keys + "}"; }

// A batch of 8 sequences of 1024 tokens of 2 B.
TEST(Data, AreReadByTheVmsWhoseGpusComputeThem) {
  for (const std::string technique : {"Data", "DDP", "FSDP", "ZeRO-2"}) {
    const Study both = run(technique, kBoth, {data("from: store, rate: 1 GB/s")});
    const auto shares = data_of_iteration(both.scenario, model_named(both.scenario, "gpt2m"), *both.prediction.plan);
    ASSERT_EQ(shares.size(), 2);
    EXPECT_EQ(shares[0].bytes, Bytes{8 * 1024 * 2 / 2}) << technique;
  }
  // In a pipeline the first stage's VMs read the whole batch.
  const Study stages = run("Pipeshard", kBoth, {data("from: store, rate: 1 GB/s")});
  const auto first = data_of_iteration(stages.scenario, model_named(stages.scenario, "gpt2m"), *stages.prediction.plan);
  ASSERT_EQ(first.size(), 1);
  EXPECT_EQ(first[0].bytes, Bytes{8 * 1024 * 2});
}

// 16 384 B at 2 kB/s are 8.192 s, longer than the iteration of 1.2 s.
TEST(Data, ThatAreReadAheadHideBehindComputingOrLimitIt) {
  const Study fast = run("Data", kGat, {data("from: local, rate: 1 GB/s")});
  EXPECT_DOUBLE_EQ(fast.iterations().mean.value, fast.prediction.iteration.value);
  EXPECT_EQ(fast.outcome->mean.loading, Seconds{0});
  EXPECT_NEAR(fast.outcome->length.median, fast.prediction.job.value, 1e-9 * fast.prediction.job.value);
  const Study slow = run("Data", kGat, {data("from: store, rate: 2 kB/s")});
  EXPECT_DOUBLE_EQ(slow.iterations().mean.value, 8.192);
  EXPECT_NEAR(slow.iterations().loading.value, 8.192 - slow.prediction.iteration.value, 1e-9);
  // The time spent waiting for data is reported, and all parts add up.
  const JobParts& parts = slow.outcome->mean;
  EXPECT_NEAR(parts.total().value, slow.outcome->length.median, 1e-6);
  EXPECT_NEAR(parts.loading / (parts.useful + parts.loading), slow.iterations().loading / slow.iterations().mean, 1e-9);
}

TEST(Data, ThatAreNotReadAheadComeBeforeTheIteration) {
  const Study one = run("Data", kGat, {data("from: store, rate: 2 kB/s, prefetch: no")});
  EXPECT_NEAR(one.iterations().mean.value, one.prediction.iteration.value + 8.192, 1e-9);
}

// 20 epochs: one at 8.192 s, nineteen as predicted.
TEST(Data, ThatAreKeptAreReadFromTheSourceInTheFirstEpochOnly) {
  const Study one = run("Data", kGat, {data("from: store, rate: 2 kB/s, cache: 1 GB/s")});
  ASSERT_EQ(one.scenario.training.epochs, 20);
  EXPECT_NEAR(one.iterations().mean.value, (8.192 + 19 * one.prediction.iteration.value) / 20, 1e-9);
}

// Large samples (60 kB a token) over 103 ms by one connection: alone they take longer than gat's own iteration.
TEST(Data, OfAnotherSiteComeOverItsLink) {
  const Study one = run("Data", kGat, {"job.data={from: amst, rate: 10 GB/s, bytes_per_token: 60000}"});
  const auto bytes = data_of_iteration(one.scenario, model_named(one.scenario, "gpt2m"), *one.prediction.plan);
  EXPECT_EQ(data_between_sites(one.scenario, bytes), Bytes{8 * 1024 * 60000.0});
  EXPECT_GT(one.iterations().mean, one.prediction.iteration);
  // Where they are there is nothing to send.
  const Study there = run("Data", kGat, {"job.data={from: gat, rate: 10 GB/s, bytes_per_token: 60000}"});
  EXPECT_DOUBLE_EQ(there.iterations().mean.value, there.prediction.iteration.value);
  EXPECT_EQ(there.iterations().data_between_sites, Bytes{0});
}

// All-reduce and data share the link: longer than either alone, hardly longer than one after the other: what goes one way
// keeps the other's acknowledgements waiting.
TEST(Data, CompeteWithTheIterationForALink) {
  const Overrides narrow = {"platform.links.wan.bandwidth=100 Mbps"};
  const auto with = [&](const std::string& text) {
    Overrides all = narrow;
    all.push_back(text);
    return run("Data", kBoth, all);
  };
  const std::string keys = "job.data={from: amst, rate: 10 GB/s, bytes_per_token: 60000, prefetch: ";
  const Study beside = with(keys + "yes}"), before = with(keys + "no}");
  const Seconds alone = before.iterations().mean - before.prediction.iteration;
  EXPECT_GT(alone, Seconds{10});  // 4 sequences, 246 MB, at no more than 12.5 MB/s
  EXPECT_GT(beside.iterations().mean.value, std::max(alone, beside.prediction.iteration).value);
  EXPECT_LT(beside.iterations().mean, 1.15 * before.iterations().mean);
}

TEST(Data, ThatLeaveTheirSiteArePaidFor) {
  const Overrides prices = {"platform.vms.gat.price_per_hour=0", "platform.vms.amst.price_per_hour=0",
                            "job.egress_per_gigabyte=0.1"};
  Overrides all = prices;
  all.push_back("job.data={from: amst, rate: 10 GB/s, bytes_per_token: 60000}");
  const Study one = run("Data", kGat, all);
  EXPECT_NEAR(one.outcome->cost->median, 8 * 1024 * 60000.0 * one.prediction.iterations / 1e9 * 0.1, 1e-6);
}

TEST(JobIterations, AreThePredictionsWithoutDataJitterAndADay) {
  EXPECT_FALSE(run("Data", kBoth, {"job.lease=1 d"}).outcome->iterations);
  // Links that scatter change nothing on one site.
  EXPECT_FALSE(run("Data", kGat, {"job.jitter={rate: {sd: 0.2, shape: lognormal}}"}).outcome->iterations);
}

// Data waits for the slowest of both sites at every step, local SGD once in a hundred.
TEST(JobIterations, ThatScatterCostLocalSgdLess) {
  const std::string near = "platform.links.wan={between: [gat, amst], rtt: 0.1 ms, bandwidth: 100 Gbps}";
  const std::string jitter = "job.jitter={gpu: {sd: 0.2, shape: normal}, states: 40}";
  const Study lockstep = run("Data", kBoth, {near, jitter}), rounds = run("LocalSGD", kBoth, {near, jitter});
  const double longer = lockstep.iterations().mean / lockstep.iterations().predicted;
  const double rounds_longer = rounds.iterations().mean / rounds.iterations().predicted;
  EXPECT_GT(longer, 1.02);
  EXPECT_LT(rounds_longer - 1, 0.35 * (longer - 1));
  EXPECT_GT(lockstep.iterations().sd, 0);
  EXPECT_GT(lockstep.outcome->length.median, lockstep.prediction.job.value);
}

// Over a whole job iterations average out; what lasts for a job does not.
TEST(JobIterations, ThatLastForAJobSpreadItsLength) {
  const std::string near = "platform.links.wan={between: [gat, amst], rtt: 0.1 ms, bandwidth: 100 Gbps}";
  const auto spread = [&](const std::string& lasts) {
    const Study one =
        run("Data", kBoth, {near, "job.jitter={gpu: {sd: 0.1, shape: normal}, states: 24, lasts: " + lasts + "}"});
    return (one.outcome->length.high - one.outcome->length.low) / one.outcome->length.median;
  };
  const double iteration = spread("iteration"), job = spread("job");
  EXPECT_GT(job, 0.05);
  EXPECT_LT(iteration, 0.02);
}

}  // namespace
}  // namespace slmsim::job_iterations_test
