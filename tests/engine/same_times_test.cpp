// Tasks are taken for one only where whatever they wait for, and whatever their connections carried, is the same.
#include "sim/engine/same_times.h"

#include <gtest/gtest.h>

#include "tests/engine/small_graph.h"

namespace slmsim::same_times_test {
namespace {

// Two rings of two, in step: a device sends, and what arrives lets the other one send.
struct Rings {
  SmallGraph graph{std::vector<double>(4, 100.0)};
  std::vector<TaskId> last{kNoTask, kNoTask, kNoTask, kNoTask};

  Rings() {
    for (int c = 0; c < 4; ++c) graph.connect_windowed(100, 400, 2, 5, 1, 1, c);
    for (int c = 0; c < 4; ++c) step(c, 300, {graph.compute(c, 1)});
    for (int round = 0; round < 5; ++round) step_of_all(200);
  }
  void step(int connection, double bytes, const std::vector<TaskId>& after) {
    last[connection] = graph.send(connection, bytes, after);
  }
  void step_of_all(double bytes) {
    const auto before = last;
    for (int c = 0; c < 4; ++c) step(c, bytes, {before[c ^ 1]});
  }
  SameTimes same(const std::vector<int>& alike = {0, 0, 0, 0}) const { return same_times(graph.graph(), alike); }
};

TEST(SameTimes, WhatAllDoIsOneStep) {
  Rings rings;
  const SameTimes same = rings.same();
  EXPECT_EQ(same.lines, 1);
  EXPECT_EQ(same.first.size(), 7u);  // a computation and six transfers, of each of four
  EXPECT_EQ(same.step_of.size(), 28u);
  EXPECT_TRUE(are_alike(rings.graph.graph(), same));
}

TEST(SameTimes, ConnectionsThatDoNotBeginAlikeAreApart) {
  const SameTimes same = Rings().same({0, 1, 0, 1});
  EXPECT_EQ(same.lines, 2);
  EXPECT_EQ(same.first.size(), 1u + 2 * 6);
}

TEST(SameTimes, WhoCarriesMoreIsApartFromTheBeginning) {
  Rings rings;
  rings.step(3, 200, {rings.last[2]});
  const SameTimes same = rings.same();
  // Its state after the iteration is its own, and so is the one before the next; and who waits for it is not alike the others.
  EXPECT_EQ(same.lines, 3);
  EXPECT_EQ(same.line_of[0], same.line_of[1]);
  EXPECT_NE(same.line_of[2], same.line_of[3]);
}

TEST(SameTimes, ATaskThatTakesLongerIsApartWithAllThatFollow) {
  Rings rings;
  rings.step(0, 100, {rings.graph.compute(0, 2, {rings.last[1]})});
  rings.step(2, 100, {rings.graph.compute(2, 3, {rings.last[3]})});
  const SameTimes same = rings.same();
  EXPECT_NE(same.step_of[28], same.step_of[30]);
  EXPECT_NE(same.step_of[29], same.step_of[31]);
}

// Transfers released by one task leave in order; those released by two tasks at the same time need not.
TEST(SameTimes, TransfersThatOneTaskLetsGoAreNotThoseThatTwoDo) {
  SmallGraph graph({100, 100});
  for (int c = 0; c < 2; ++c) graph.connect_windowed(100, 400, 2, 5, 1, 1, c);
  const TaskId one = graph.compute(0, 1), two = graph.compute(1, 1);
  for (const TaskId by : {one, one}) graph.send(0, 100, {by});
  for (const TaskId by : {one, two}) graph.send(1, 100, {by});
  const SameTimes same = same_times(graph.graph(), {0, 0});
  EXPECT_EQ(same.step_of[one], same.step_of[two]);
  EXPECT_EQ(same.lines, 2);
}

TEST(SameTimes, AreAlikeNoMoreOnceOneTakesLonger) {
  Rings rings;
  const SameTimes same = rings.same();
  TaskGraph other = rings.graph.graph();
  other.scale_computations([](int device, std::size_t, std::size_t) { return device == 2 ? 2.0 : 1.0; });
  EXPECT_FALSE(are_alike(other, same));
}

}  // namespace
}  // namespace slmsim::same_times_test
