// Where bytes come how fast, and which acknowledgements wait there, by hand.
#include "sim/engine/capacity.h"

#include <gtest/gtest.h>

#include "tests/engine/small_graph.h"

namespace slmsim::capacity_test {
namespace {

TEST(Capacity, BytesComeToALinkAsFastAsSocketsAndTheLinksBeforeLetThem) {
  // Two connections over a NIC of 1000 B/s (links 0 and 1) and a path of 800 B/s (2 and 3); one comes back. Each socket copies 700.
  SmallGraph graph({1000, 1000, 800, 800}, true);
  for (int i = 0; i < 2; ++i) graph.connect_windowed_over({0, 2}, 100, 100, 1, 0, 1, 0.1, 700);
  graph.connect_windowed_over({3, 1}, 100, 100, 1, 0, 1, 0.1, 700);
  const auto limits = capacities(graph.graph());
  // 1400 B/s come to the NIC, and of the 1000 that it carries each has 500: 1000 B/s come to the path.
  ASSERT_EQ(limits[0].queued.size(), 2);
  EXPECT_EQ(limits[0].queued[0].link, 0);
  EXPECT_DOUBLE_EQ(limits[0].queued[0].rate, 700);
  EXPECT_EQ(limits[0].queued[1].link, 2);
  EXPECT_DOUBLE_EQ(limits[0].queued[1].rate, 500);
  EXPECT_TRUE(limits[0].back.empty());  // 700 B/s come back, which both carry
  EXPECT_TRUE(limits[2].queued.empty());
  EXPECT_EQ(limits[2].back, (std::vector<int>{2, 0}));  // of its path, then of its NIC
}

TEST(Capacity, NothingQueuesBehindALinkThatIsAsSlow) {
  for (const double path : {1000.0, 2000.0}) {
    SmallGraph graph({1000, 1000, path, path}, true);
    for (int i = 0; i < 3; ++i) graph.connect_windowed_over({0, 2}, 100, 100, 1);
    graph.connect_windowed_over({3, 1}, 100, 100, 1);
    const auto limits = capacities(graph.graph());
    ASSERT_EQ(limits[0].queued.size(), 1) << path;
    EXPECT_EQ(limits[0].queued[0].link, 0);
  }
}

TEST(Capacity, OnlyTcpHasWindowsAndQueues) {
  SmallGraph graph({1000, 1000}, true);
  graph.connect({0});
  graph.connect({1});
  for (const Capacity& limit : capacities(graph.graph())) {
    EXPECT_TRUE(limit.queued.empty());
    EXPECT_TRUE(limit.back.empty());
    EXPECT_FALSE(limit.windowed);
  }
}

}  // namespace
}  // namespace slmsim::capacity_test
