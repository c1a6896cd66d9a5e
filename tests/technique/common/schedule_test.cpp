// The order of micro-batches, and how long pipelines of equal stages take.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/small_world.h"

namespace slmsim::schedule_test {
namespace {

std::string order(const Plan& plan, std::size_t stage) {
  std::string text;
  for (const Step& step : schedule_steps(plan, stage, plan.micro_batches))
    text += (text.empty() ? "" : " ") + std::string(step.forward ? "F" : "B") + std::to_string(step.micro_batch);
  return text;
}

TEST(Schedule, OneForwardOneBackwardFollowsPipeDreamFlushOnFourStages) {
  // PipeDream-Flush (arXiv 2006.09503): p - s forward passes first, then they alternate.
  const Plan plan = pipeline(4, 8);
  EXPECT_EQ(order(plan, 0), "F0 F1 F2 F3 B0 F4 B1 F5 B2 F6 B3 F7 B4 B5 B6 B7");
  EXPECT_EQ(order(plan, 1), "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 B6 B7");
  EXPECT_EQ(order(plan, 2), "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 F6 B5 F7 B6 B7");
  EXPECT_EQ(order(plan, 3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7");
}

TEST(Schedule, GpipeRunsAllForwardPassesFirst) {
  const Plan plan = pipeline(2, 3, Schedule::kGpipe);
  EXPECT_EQ(order(plan, 0), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(order(plan, 1), "F0 F1 F2 B0 B1 B2");
}

TEST(Schedule, FewerMicroBatchesThanStagesAreAllInFlight) {
  const Plan plan = pipeline(4, 2);
  EXPECT_EQ(order(plan, 0), "F0 F1 B0 B1");
  EXPECT_EQ(order(plan, 3), "F0 B0 F1 B1");
}

TEST(Schedule, WithoutAPipelineEachMicroBatchGoesForwardAndBack) {
  EXPECT_EQ(order(pipeline(1, 3), 0), "F0 B0 F1 B1 F2 B2");
}

TEST(Schedule, AStageHoldsAsManyMicroBatchesAsItIsStagesFromTheEnd) {
  EXPECT_EQ(micro_batches_in_flight(Schedule::kOneForwardOneBackward, 8, 4, 0), 4);
  EXPECT_EQ(micro_batches_in_flight(Schedule::kOneForwardOneBackward, 8, 4, 3), 1);
  EXPECT_EQ(micro_batches_in_flight(Schedule::kOneForwardOneBackward, 2, 4, 0), 2);
  EXPECT_EQ(micro_batches_in_flight(Schedule::kOneForwardOneBackward, 2, 4, 2), 2);
  EXPECT_EQ(micro_batches_in_flight(Schedule::kGpipe, 8, 4, 3), 8);
}

TEST(Schedule, TheScheduleHoldsExactlyTheMicroBatchesInFlight) {
  for (const auto schedule : {Schedule::kOneForwardOneBackward, Schedule::kGpipe}) {
    for (int stages = 1; stages <= 5; ++stages) {
      for (int micro_batches = 1; micro_batches <= 7; ++micro_batches) {
        const Plan plan = pipeline(stages, micro_batches, schedule);
        for (std::size_t s = 0; s < plan.stages.size(); ++s) {
          int held = 0, most = 0;
          for (const Step& step : schedule_steps(plan, s, plan.micro_batches))
            most = std::max(most, held += step.forward ? 1 : -1);
          EXPECT_EQ(held, 0);
          EXPECT_EQ(most, micro_batches_in_flight(schedule, micro_batches, plan.stages.size(), s));
        }
      }
    }
  }
}

// p equal stages of t = 1 + 2 s, M micro-batches of one sequence.
double pipeline_time(int stages, int micro_batches, Schedule schedule, double latency = 0) {
  Scenario scenario = small_scenario(1, stages, 1e15, latency);
  scenario.training.batch = micro_batches;
  return end_of(pipeline(stages, micro_batches, schedule), chain(stages), scenario);
}

TEST(Schedule, EqualStagesTakeMicroBatchesPlusStagesLessOneTimes) {
  EXPECT_NEAR(pipeline_time(2, 4, Schedule::kOneForwardOneBackward), 15, kClock);  // (4 + 2 - 1) x 3 s
  EXPECT_NEAR(pipeline_time(4, 8, Schedule::kOneForwardOneBackward), 33, kClock);  // (8 + 4 - 1) x 3 s
  for (const auto schedule : {Schedule::kOneForwardOneBackward, Schedule::kGpipe}) {
    for (int p = 1; p <= 5; ++p) {
      for (int m = 1; m <= 6; ++m)
        EXPECT_NEAR(pipeline_time(p, m, schedule), (m + p - 1) * 3.0, kClock) << p << " stages, " << m;
    }
  }
}

TEST(Schedule, OneMicroBatchPaysTheLatencyThereAndBack) {
  // Forward 1 s, 5 s on the way, forward 1 s, backward 2 s, 5 s on the way, backward 2 s.
  EXPECT_NEAR(pipeline_time(2, 1, Schedule::kOneForwardOneBackward, 5), 16, kClock);
}

TEST(Schedule, OneForwardOneBackwardPaysTheLatencyMoreOftenThanGpipe) {
  // 2 stages, 4 micro-batches, 5 s of latency, by hand.
  //   GPipe, stage 1: forward at 6, 7, 8, 9; backward 10-12, -14, -16, -18. Stage 0: gradients arrive at 17,
  //   19, 21, 23 and each takes 2 s: 25 s.
  EXPECT_NEAR(pipeline_time(2, 4, Schedule::kGpipe, 5), 25, kClock);
  //   1F1B, stage 0: F0 0-1, F1 1-2; stage 1: F0 6-7, B0 7-9, F1 9-10, B1 10-12. Stage 0: B0 14-16, F2 16-17,
  //   B1 17-19, F3 19-20. Stage 1: F2 22-23, B2 23-25, F3 25-26, B3 26-28. Stage 0: B2 30-32, B3 33-35.
  EXPECT_NEAR(pipeline_time(2, 4, Schedule::kOneForwardOneBackward, 5), 35, kClock);
}

TEST(Schedule, EveryComputationOfAPipelineIsThereOnce) {
  Scenario scenario = small_scenario(1, 3);
  scenario.training.batch = 4;
  const TaskGraph graph = lowered(pipeline(3, 4), chain(3), scenario);
  EXPECT_EQ(count_of(graph, "fwd", TaskKind::kCompute), 12);  // 3 stages x 4
  EXPECT_EQ(count_of(graph, "bwd", TaskKind::kCompute), 12);
  EXPECT_EQ(count_of(graph, "send act"), 8);  // 2 boundaries x 4
  EXPECT_EQ(count_of(graph, "send grad"), 8);
  EXPECT_EQ(bytes_over(graph, "send act"), 800);  // 50 elements x 2 B each
}

}  // namespace
}  // namespace slmsim::schedule_test
