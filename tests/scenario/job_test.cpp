#include "sim/scenario/job.h"

#include <gmock/gmock.h>

#include "tests/scenario/folder.h"

namespace slmsim::job_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class JobRulesOf : public Folder {};

const std::string kStore = "job.checkpoint={to: store, rate: 1 GB/s, interval: best}";
const std::string kVmFails = "job.failures={vm: {mtbf: 100 h, repair: 5 min}}";

TEST_F(JobRulesOf, AScenarioThatDoesNotSayAreNone) { EXPECT_FALSE(load().job); }

TEST_F(JobRulesOf, AScenarioAreRead) {
  const JobRules job = *load({kStore,
                              "job.failures={gpu: {mtbf: 1000 h, repair: 5 min}, preemption: {mtbf: 1 d, repair: "
                              "1 min, notice: 30 s}}",
                              "job.restart=2 min", "job.lease=3 d", "job.pue=1.4", "job.grams_per_kwh=350",
                              "job.seed=4", "job.evaluation={every: 100, time: 1 min}",
                              "job.links={wan: {hours: [{from: 0 h}, {from: 8 h, bandwidth: 1 Gbps, loss: 1e-4}]}}"})
                            .job;
  EXPECT_EQ(job.checkpoint->place, StoragePlace::kStore);
  EXPECT_EQ(job.checkpoint->rate, BytesPerSecond{1e9});
  EXPECT_FALSE(job.checkpoint->interval);
  EXPECT_EQ(job.failures[0]->mtbf, Seconds{3.6e6});
  EXPECT_FALSE(job.failures[1]);
  EXPECT_EQ(job.failures[4]->notice, Seconds{30});
  EXPECT_EQ(job.restart, Seconds{120});
  EXPECT_EQ(job.lease, Seconds{3 * 86400.0});
  EXPECT_EQ(job.evaluation_every, 100);
  EXPECT_EQ(job.pue, 1.4);
  EXPECT_EQ(job.seed, 4);
  ASSERT_EQ(job.days.size(), 1);
  EXPECT_EQ(job.days[0].hours[1].from, Seconds{8 * 3600.0});
  EXPECT_EQ(job.days[0].hours[1].loss, 1e-4);
  EXPECT_FALSE(job.days[0].hours[1].rtt);
}

TEST_F(JobRulesOf, AScenarioMayWriteToASite) {
  const JobRules job = *load({"job.checkpoint={to: east, rate: 1 GB/s, interval: 1 h}"}).job;
  EXPECT_EQ(job.checkpoint->place, StoragePlace::kSite);
  EXPECT_EQ(job.checkpoint->site, 1);
  EXPECT_EQ(job.checkpoint->interval, Seconds{3600});
}

// Settings without effect, or that would be assumed in silence.
TEST_F(JobRulesOf, AScenarioMustHaveAnEffect) {
  EXPECT_THAT(errors({"job={}"}), Contains(HasSubstr("job has no effect: it states no failures")));
  EXPECT_THAT(errors({"job.mtbf=3h"}), ElementsAre(HasSubstr("unknown key \"mtbf\" in job")));
  EXPECT_THAT(errors({"job={seed: 5}"}), Contains(HasSubstr("job has no effect")));
  EXPECT_THAT(errors({"job={restart: 1 min, lease: 1 d}"}),
              Contains(HasSubstr("job.restart has no effect: nothing fails; state job.failures")));
  EXPECT_THAT(errors({kStore}), Contains(HasSubstr("job.checkpoint.interval: without failures no interval is best")));
  EXPECT_THAT(errors({"job.checkpoint={to: store, rate: 1 GB/s, read_time: 1 min, interval: 1 h}"}),
              Contains(HasSubstr("nothing fails, so no checkpoint is read")));
  EXPECT_THAT(errors({kVmFails, "job.egress_per_gigabyte=0.1"}),
              Contains(HasSubstr("job.egress_per_gigabyte has no effect: no VM states its price_per_hour")));
  EXPECT_THAT(errors({"platform=alone", "job.failures={link: {mtbf: 1 d, repair: 1 min}}"}),
              Contains(HasSubstr("job.failures.link has no effect: the platform has no links")));
  EXPECT_THAT(errors({"job.failures={}"}), Contains(HasSubstr("job.failures is empty; name what fails, such as vm")));
}

TEST_F(JobRulesOf, AScenarioAreCheckedByName) {
  EXPECT_THAT(errors({kStore, "job.failures={node: {mtbf: 1 h, repair: 1 s}}"}),
              Contains(HasSubstr("\"node\" in job.failures; known are: ")));
  EXPECT_THAT(errors({kVmFails, "job.checkpoint={to: wset, rate: 1 GB/s, interval: best}"}),
              Contains(HasSubstr("\"wset\" is neither local, store nor a site; did you mean \"west\"?")));
  EXPECT_THAT(errors({"job.links={wann: {hours: [{from: 0 h}, {from: 1 h, loss: 0.1}]}}"}),
              Contains(HasSubstr("job.links: there is no link \"wann\"; did you mean \"wan\"?")));
}

TEST_F(JobRulesOf, AScenarioNeedFigures) {
  EXPECT_THAT(errors({"job.failures={vm: {mtbf: 100 h}}"}), Contains(HasSubstr("job.failures.vm has no \"repair\"")));
  EXPECT_THAT(errors({kVmFails, "job.checkpoint={to: store, interval: 1 h}"}),
              Contains(HasSubstr("job.checkpoint has neither rate nor time")));
  EXPECT_THAT(errors({kVmFails, "job.checkpoint={to: store, rate: 1 GB/s}"}),
              Contains(HasSubstr("job.checkpoint has no \"interval\"")));
  EXPECT_THAT(errors({kVmFails, "job.checkpoint={to: store, rate: 1 GB/s, time: 1 s, interval: 1 h}"}),
              Contains(HasSubstr("job.checkpoint.rate excludes job.checkpoint.time; leave one out")));
  EXPECT_THAT(errors({"job.failures={vm: {mtbf: 0 s, repair: 1 s}}"}), Contains(HasSubstr("is out of range")));
  EXPECT_THAT(errors({kVmFails, "job.checkpoint={to: store, rate: 1 GB/s, interval: often}"}),
              Contains(HasSubstr("job.checkpoint.interval")));
}

TEST_F(JobRulesOf, AScenarioDoNotCombineWhatIsNotSimulated) {
  EXPECT_THAT(errors({"job.failures={preemption: {mtbf: 1 d, repair: 1 s}}",
                      "job.checkpoint={to: local, rate: 1 GB/s, interval: best}"}),
              Contains(HasSubstr("a preempted VM takes its local disk along; write to store or to a site")));
  EXPECT_THAT(errors({kVmFails, "job.checkpoint={to: east, rate: 1 GB/s, interval: best, background: yes}"}),
              Contains(HasSubstr("training and a checkpoint on one link between sites are not simulated")));
}

TEST_F(JobRulesOf, ALinksDayIsInOrder) {
  const auto day = [&](const std::string& hours) { return errors({"job.links={wan: {hours: " + hours + "}}"}); };
  EXPECT_THAT(day("[{from: 0 h}]"), Contains(HasSubstr("needs two or more states")));
  EXPECT_THAT(day("[{from: 1 h}, {from: 2 h}]"), Contains(HasSubstr("the first state of the day must begin at 0 h")));
  EXPECT_THAT(day("[{from: 0 h}, {from: 2 h}, {from: 2 h}]"), Contains(HasSubstr("is not later than the one before")));
  EXPECT_THAT(day("[{from: 0 h}, {from: 25 h}]"), Contains(HasSubstr("is out of range")));
  EXPECT_THAT(day("[{from: 0 h}, {from: 2 h, latency: 1 ms}]"), Contains(HasSubstr("\"latency\"")));
}

TEST_F(JobRulesOf, AScenarioHaveDataAndJitter) {
  const JobRules job = *load({"job.data={from: east, rate: 1 GB/s, bytes_per_token: 2, prefetch: no, cache: 2 GB/s}",
                              "training.epochs=2",
                              "job.jitter={gpu: {sd: 0.05, shape: exponential}, rtt: {sd: 0.2, shape: lognormal}, "
                              "lasts: job, states: 5}"})
                            .job;
  EXPECT_EQ(job.data->place, StoragePlace::kSite);
  EXPECT_EQ(job.data->site, 1);
  EXPECT_EQ(job.data->bytes_per_token, 2);
  EXPECT_FALSE(job.data->prefetch);
  EXPECT_EQ(job.data->cache, BytesPerSecond{2e9});
  EXPECT_EQ(job.jitter->gpu->shape, JitterShape::kExponential);
  EXPECT_FALSE(job.jitter->rate);
  EXPECT_EQ(job.jitter->rtt->sd, 0.2);
  EXPECT_TRUE(job.jitter->whole_job);
  EXPECT_EQ(job.jitter->states, 5);
}

TEST_F(JobRulesOf, AScenarioRefuseDataAndJitterWithoutEffect) {
  EXPECT_THAT(errors({"training.epochs=1", "job.data={from: store, rate: 1 GB/s, bytes_per_token: 2, cache: 1 GB/s}"}),
              Contains(HasSubstr("job.data.cache has no effect: the job passes over its data once")));
  EXPECT_THAT(errors({"training.epochs=3", "job.data={from: local, rate: 1 GB/s, bytes_per_token: 2, cache: 1 GB/s}"}),
              Contains(HasSubstr("job.data.cache has no effect: the data are on the VMs' own disks")));
  EXPECT_THAT(errors({"job.jitter={states: 9}"}),
              Contains(HasSubstr("job.jitter has no effect: it states neither gpu, rate nor rtt")));
  EXPECT_THAT(errors({"platform=alone", "job.jitter={rtt: {sd: 0.1, shape: normal}}"}),
              Contains(HasSubstr("job.jitter.rtt has no effect: the platform has no links between sites")));
  EXPECT_THAT(errors({"job.jitter={gpu: {sd: 0.1, shape: normal}, lasts: job}",
                      "job.links={wan: {hours: [{from: 0 h}, {from: 1 h, loss: 0.1}]}}"}),
              Contains(HasSubstr("job.jitter.lasts: job is not simulated together with job.links")));
}

}  // namespace
}  // namespace slmsim::job_test
