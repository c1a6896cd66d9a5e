// Max-min rates against hand calculation and against what defines them: no flow can get more but from one that has no more.
#include "sim/engine/fair_shares.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace slmsim::fair_shares_test {
namespace {

constexpr double kRounding = 1e-9;

std::vector<std::size_t> settled(FairShares& shares) {
  std::vector<std::size_t> changed = shares.settle();
  std::sort(changed.begin(), changed.end());
  return changed;
}

TEST(FairShares, AFlowAloneGetsItsCapOrItsNarrowestLink) {
  const std::vector<int> links = {0, 1};
  FairShares shares({10, 4}, 1);
  shares.come(0, links, 3);
  EXPECT_EQ(settled(shares), std::vector<std::size_t>{0});
  EXPECT_EQ(shares.rate(0), 3);
  shares.go(0);
  EXPECT_TRUE(settled(shares).empty());
  shares.come(0, links, 30);
  EXPECT_EQ(settled(shares), std::vector<std::size_t>{0});
  EXPECT_EQ(shares.rate(0), 4);
}

// 12 B/s over 1 + 3 shares: 3 each. Alone, 3 shares of 12 are 4 each.
TEST(FairShares, AFlowThatTakesSeveralSharesGetsOneOfThem) {
  const std::vector<int> once = {0}, three_times = {0, 0, 0};
  FairShares shares({12}, 2);
  shares.come(0, once, 100);
  shares.come(1, three_times, 100);
  EXPECT_EQ(settled(shares), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(shares.rate(0), 3);
  EXPECT_EQ(shares.rate(1), 3);
  shares.go(0);
  EXPECT_EQ(settled(shares), std::vector<std::size_t>{1});
  EXPECT_EQ(shares.rate(1), 4);
  shares.come(0, once, 1);  // 1, and (12 - 1) / 3
  settled(shares);
  EXPECT_EQ(shares.rate(0), 1);
  EXPECT_NEAR(shares.rate(1), 11.0 / 3, kRounding);
}

TEST(FairShares, AFlowThatSharesNothingWithThoseThatCameIsNotTouched) {
  const std::vector<int> first = {0}, second = {1};
  FairShares shares({8, 8}, 3);
  shares.come(0, first, 100);
  settled(shares);
  shares.come(1, second, 100);
  shares.come(2, second, 100);
  EXPECT_EQ(settled(shares), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(shares.rate(0), 8);
  EXPECT_EQ(shares.rate(2), 4);
}

// Bertsekas and Gallager, Data Networks, section 6.5.2: rates are max-min fair if and only if each flow is at its cap or has a
// link that is full and on which no other flow gets more.
// Few links that most flows share, and many, so that what one flow leaves goes along a chain of links.
TEST(FairShares, EachFlowHasABottleneckHoweverFlowsComeAndGo) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const bool is_sparse = seed % 2 == 1;
    const std::size_t link_count = is_sparse ? 60 : 7, flow_count = is_sparse ? 90 : 12;
    std::mt19937 random(seed);
    const auto upto = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
    std::vector<double> bandwidths(link_count), caps(flow_count);
    for (double& bandwidth : bandwidths) bandwidth = 1 + upto(20);
    for (double& cap : caps) cap = 1 + upto(12);
    std::vector<std::vector<int>> links(flow_count);
    for (auto& way : links) {
      for (int i = upto(4); i >= 0; --i)
        way.insert(way.end(), static_cast<std::size_t>(1 + upto(3)), upto(static_cast<int>(link_count)));
    }
    FairShares shares(bandwidths, flow_count);
    std::vector<bool> there(flow_count);
    for (int change = 0; change < 200; ++change) {
      for (int together = upto(3); together >= 0; --together) {
        const auto flow = static_cast<std::size_t>(upto(static_cast<int>(flow_count)));
        if (there[flow]) {
          shares.go(flow);
        } else {
          shares.come(flow, links[flow], caps[flow]);
        }
        there[flow] = !there[flow];
      }
      shares.settle();
      ASSERT_TRUE(shares.is_settled());
      std::vector<double> used(link_count), most(link_count);
      for (std::size_t flow = 0; flow < flow_count; ++flow) {
        for (const int link : there[flow] ? links[flow] : std::vector<int>{}) {
          used[link] += shares.rate(flow);
          most[link] = std::max(most[link], shares.rate(flow));
        }
      }
      for (std::size_t link = 0; link < link_count; ++link) ASSERT_LE(used[link], bandwidths[link] * (1 + kRounding));
      for (std::size_t flow = 0; flow < flow_count; ++flow) {
        if (!there[flow]) continue;
        const bool stopped = std::any_of(links[flow].begin(), links[flow].end(), [&](int number) {
          const auto link = static_cast<std::size_t>(number);
          return used[link] >= bandwidths[link] * (1 - kRounding) && shares.rate(flow) >= most[link] * (1 - kRounding);
        });
        ASSERT_TRUE(stopped || shares.rate(flow) >= caps[flow] * (1 - kRounding))
            << "seed " << seed << ", flow " << flow;
      }
    }
  }
}

}  // namespace
}  // namespace slmsim::fair_shares_test
