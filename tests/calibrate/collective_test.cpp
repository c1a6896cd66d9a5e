// Collectives: nccl-tests' rules, and ranks from a launcher's environment.
#include "calibrate/gpu/collective.h"

#include <map>
#include <thread>

#include <gmock/gmock.h>

#include "calibrate/common/failure.h"
#include "calibrate/gpu/rank.h"

namespace slmsim::calibrate::collective_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Environment environment(std::map<std::string, std::string> values) {
  return [values](const std::string& name) {
    const auto at = values.find(name);
    return at == values.end() ? std::nullopt : std::optional(at->second);
  };
}

TEST(Collectives, HaveTheRatesOfNcclTests) {
  // 1 GB in 10 ms: 100 GB/s; an all-reduce over 4 ranks moves 2 x 3/4 of it through each.
  CollectiveResult result{Collective::kAllReduce, 4, 1, 1e9, 10e-3, 10e-3, 10e-3, 9, 0};
  EXPECT_DOUBLE_EQ(algorithm_bandwidth(result), 100e9);
  EXPECT_DOUBLE_EQ(bus_bandwidth(result), 150e9);
  result.collective = Collective::kAllGather;
  EXPECT_DOUBLE_EQ(bus_bandwidth(result), 75e9);
  result.collective = Collective::kBroadcast;
  EXPECT_DOUBLE_EQ(bus_bandwidth(result), 100e9);
  EXPECT_THAT(table_line(result), HasSubstr("1000000000     10000.00    100.000    100.000        0"));
}

TEST(Collectives, DivideTheSizeByTheRanks) {
  // 1024 B are 256 floats, 64 of each of 4 ranks.
  const Sizes gathered = sizes_of(Collective::kAllGather, 4, 1024);
  EXPECT_EQ(gathered.sent, 64);
  EXPECT_EQ(gathered.received, 256);
  const Sizes scattered = sizes_of(Collective::kReduceScatter, 3, 1024);
  EXPECT_EQ(scattered.received, 85);
  EXPECT_EQ(scattered.sent, 255);
  EXPECT_EQ(scattered.bytes, 1020);
  EXPECT_EQ(sizes_of(Collective::kAllReduce, 4, 1).sent, 1);
}

TEST(Collectives, GoThroughPowersOfTwo) {
  EXPECT_THAT(message_sizes(1024, 8192), ElementsAre(1024, 2048, 4096, 8192));
  EXPECT_THAT(message_sizes(1000, 3000), ElementsAre(1000, 2000, 3000));
}

TEST(Ranks, AreReadAsTorchrunTellsThem) {
  const auto rank = rank_from(environment({{"RANK", "3"},
                                           {"WORLD_SIZE", "4"},
                                           {"LOCAL_RANK", "1"},
                                           {"MASTER_ADDR", "10.0.0.1"},
                                           {"MASTER_PORT", "29500"}}));
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->rank, 3);
  EXPECT_EQ(rank->local, 1);
  EXPECT_EQ(rank->address, "10.0.0.1");
  EXPECT_EQ(rank->port, 29501);  // torchrun listens on MASTER_PORT itself
}

TEST(Ranks, AreReadAsMpirunTellsThem) {
  const auto rank = rank_from(environment({{"OMPI_COMM_WORLD_RANK", "1"},
                                           {"OMPI_COMM_WORLD_SIZE", "2"},
                                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}));
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->address, "127.0.0.1");
  EXPECT_FALSE(rank_from(environment({})));
}

TEST(Ranks, SayWhatIsMissing) {
  EXPECT_THAT(
      [] {
        rank_from(environment({{"RANK", "0"}, {"WORLD_SIZE", "2"}}));
      },
      ThrowsMessage<UsageError>(HasSubstr("MASTER_ADDR is not set")));
  EXPECT_THAT(
      [] {
        rank_from(environment({{"RANK", "2"}, {"WORLD_SIZE", "2"}}));
      },
      ThrowsMessage<UsageError>(HasSubstr("RANK is \"2\"; a number from 0 to 1")));
  EXPECT_THAT(
      [] {
        rank_from(environment({{"RANK", "x"}, {"WORLD_SIZE", "2"}}));
      },
      ThrowsMessage<UsageError>(HasSubstr("RANK is \"x\"")));
}

TEST(Ranks, ShareWhatTheFirstOneSays) {
  // A port that is free; another program could take it in between, but hardly does.
  constexpr int kPort = 45711;
  constexpr int kRanks = 3;
  std::vector<std::string> got(kRanks, std::string(128, '-'));
  got[0] = std::string(128, 'x');
  std::vector<std::thread> threads;
  for (int i = kRanks - 1; i >= 0; --i)
    threads.emplace_back([&, i] { share_from_first({i, kRanks, i, "127.0.0.1", kPort}, got[i], 20); });
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(got, testing::Each(std::string(128, 'x')));
}

}  // namespace
}  // namespace slmsim::calibrate::collective_test
