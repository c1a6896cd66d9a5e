// Unknowns of a scenario, and the meaning of their coordinates.
#include "sim/fit/unknown.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "sim/fit/intervals.h"

namespace slmsim::unknown_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

std::vector<Unknown> unknowns(const Overrides& overrides) {
  const auto given = link_scenario(SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml", overrides);
  return unknowns_of(given.scenario, given.linked);
}

std::vector<std::string> names_of(const std::vector<Unknown>& all) {
  std::vector<std::string> out;
  for (const auto& u : all) out.push_back(u.name());
  return out;
}

const Unknown& named(const std::vector<Unknown>& all, const std::string& name) {
  return *std::find_if(all.begin(), all.end(), [&](const Unknown& u) { return u.name() == name; });
}

TEST(Unknowns, AreWhatIsInferredOrLeftToADefault) {
  const auto all = unknowns({});
  EXPECT_THAT(names_of(all), IsSupersetOf({"training.batch", "training.control_round_trips", "platform.links.wan.loss",
                                           "software.matrix_efficiency.Ampere", "software.memory_efficiency"}));
  EXPECT_THAT(names_of(all), Not(Contains("platform.links.wan.rtt"))) << "it was measured";
}

TEST(Unknowns, OneStatementAtSeveralPlacesIsOne) {
  const auto all = unknowns({});
  const auto& startup = named(all, "techniques.Data.startup");
  EXPECT_THAT(startup.paths,
              ElementsAre("techniques.Data.startup", "techniques.ZeRO2.startup", "techniques.Shard.startup"));
}

TEST(Unknowns, TakeTheRangesThatAreStated) {
  const auto all = unknowns({"training.batch={value: 8, one_of: [2, 8, 16]}",
                             "training.control_round_trips={value: 10, between: [1, 100], scale: log}",
                             "training.iteration_overhead={value: 2 ms, between: [1 ms, 5 ms]}"});
  const auto& batch = named(all, "training.batch");
  // Thirds of a normal: its quantiles at 1/6, 1/2 and 5/6.
  EXPECT_EQ(batch.word(normal_quantile(1.0 / 6)), "2");
  EXPECT_EQ(batch.word(0), "8");
  EXPECT_EQ(batch.word(normal_quantile(5.0 / 6)), "16");
  EXPECT_EQ(batch.figure(0), 8);
  EXPECT_NEAR(named(all, "training.control_round_trips").number(0), 10, 1e-9);  // the middle by factors
  EXPECT_NEAR(named(all, "training.iteration_overhead").number(0), 3e-3, 1e-12);
  EXPECT_EQ(named(all, "training.iteration_overhead").word(0), "3 ms");
}

TEST(Unknowns, WhatIsSetIsKnown) {
  EXPECT_THAT(names_of(unknowns({"training.batch=8"})), Not(Contains("training.batch")));
}

TEST(Unknowns, BuffersAtWhichNobodyLookedAreOne) {
  const auto all = unknowns({});
  const auto& buffers = named(all, "platform.vms.gat.type.tcp.net.ipv4.tcp_rmem");
  EXPECT_THAT(buffers.paths, ElementsAre("platform.vms.gat.type.tcp.net.ipv4.tcp_rmem",
                                         "platform.vms.gat.type.tcp.net.ipv4.tcp_wmem",
                                         "platform.vms.amst.type.tcp.net.ipv4.tcp_rmem",
                                         "platform.vms.amst.type.tcp.net.ipv4.tcp_wmem"));
  EXPECT_EQ(buffers.word(normal_quantile(0.74)), "6 MiB") << "as Linux has them, in three of four cases";
  EXPECT_EQ(buffers.word(normal_quantile(0.875)), "5.657 MiB") << "the middle of 0.5 and 64 by factors: sqrt(32)";
}

TEST(Unknowns, BuffersAreKnownWhereSomebodyLookedOrNoGroupHasSeveralSites) {
  const std::string receive = "platform.vms.gat.type.tcp.net.ipv4.tcp_rmem";
  const auto looked = unknowns({receive + "=6 MiB", "platform.vms.amst.type.tcp.net.ipv4.tcp_rmem=6 MiB"});
  EXPECT_THAT(names_of(looked), Not(Contains(receive)));
  const auto apart = unknowns({"groups=[[gat], [amst]]"});
  EXPECT_THAT(names_of(apart), Not(Contains(receive)));
  EXPECT_THAT(names_of(apart), Not(Contains("platform.vms.gat.type.tcp.copy_rate"))) << "no connection is used";
}

TEST(Prior, LogNormalHoldsEightOfTenWithinItsFactor) {
  const auto all = unknowns({});
  const auto& copy = named(all, "platform.vms.gat.type.tcp.copy_rate");
  EXPECT_NEAR(copy.number(normal_quantile(0.5)), 0.6e9, 1);
  EXPECT_NEAR(copy.number(normal_quantile(0.9)) / 0.6e9, 1.7, 1e-6);
  EXPECT_NEAR(copy.number(normal_quantile(0.1)) * 1.7 / 0.6e9, 1, 1e-6);
}

TEST(Prior, ASpikeHasItsShare) {
  const auto all = unknowns({});
  const auto& loss = named(all, "platform.links.wan.loss");
  EXPECT_EQ(loss.number(normal_quantile(0.24)), 0);
  EXPECT_GT(loss.number(normal_quantile(0.26)), 0);
}

}  // namespace
}  // namespace slmsim::unknown_test
