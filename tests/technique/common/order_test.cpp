// How long pipelines take by the order of their commands: which messages and computations of a stage wait for each other.
#include <random>

#include <gtest/gtest.h>

#include "sim/base/name_in.h"
#include "sim/collective/peers.h"
#include "sim/technique/common/pipeline_commands.h"
#include "tests/small_world.h"

namespace slmsim::order_test {
namespace {

constexpr std::array kOrders = {SendOrder::kAlpa, SendOrder::kDeepSpeed, SendOrder::kMegatron,
                                SendOrder::kAsynchronous};

// "F0 >F0 <B0": computing, sending and receiving; what is one exchange in brackets.
std::string text(SendOrder order, int stages, int micro_batches, int stage) {
  const auto steps = alternating_steps(std::min(stages - stage, micro_batches), micro_batches, true);
  std::string out;
  bool inside = false;
  for (const Command& command : stage_commands(order, steps, stages, stage)) {
    if (!out.empty()) out += " ";
    if (command.with_next && !inside) out += "[";
    out += command.act == Command::Act::kSend ? ">" : command.act == Command::Act::kReceive ? "<" : "";
    out += (command.step.forward ? "F" : "B") + std::to_string(command.step.micro_batch);
    if (inside && !command.with_next) out += "]";
    inside = command.with_next;
  }
  return out;
}

TEST(StageCommands, OfDeepSpeedAreThoseOfItsTrainSchedule) {
  // TrainSchedule.steps() of 3 stages and 4 micro-batches, the commands of each step in their order. Stage 1's are
  //   1: RecvActivation ForwardPass; 2: SendActivation; 3: RecvActivation ForwardPass;
  //   4: RecvGrad SendActivation BackwardPass; 5: SendGrad RecvActivation ForwardPass; ...
  EXPECT_EQ(text(SendOrder::kDeepSpeed, 3, 4, 0), "F0 >F0 F1 >F1 F2 <B0 >F2 B0 F3 <B1 >F3 B1 <B2 B2 <B3 B3");
  EXPECT_EQ(text(SendOrder::kDeepSpeed, 3, 4, 1),
            "<F0 F0 >F0 <F1 F1 <B0 >F1 B0 >B0 <F2 F2 <B1 >F2 B1 >B1 <F3 F3 <B2 >F3 B2 >B2 <B3 B3 >B3");
  EXPECT_EQ(text(SendOrder::kDeepSpeed, 3, 4, 2), "<F0 F0 B0 >B0 <F1 F1 B1 >B1 <F2 F2 B2 >B2 <F3 F3 B3 >B3");
}

TEST(StageCommands, OfDeepSpeedSendFirstWhereTheGradientIsNotNext) {
  // 3 stages and 1 micro-batch: stage 0 runs F0 in step 0, SendActivation is in step 1, and RecvGrad in step 5.
  EXPECT_EQ(text(SendOrder::kDeepSpeed, 3, 1, 0), "F0 >F0 <B0 B0");
  EXPECT_EQ(text(SendOrder::kDeepSpeed, 3, 2, 1), "<F0 F0 >F0 <F1 F1 <B0 >F1 B0 >B0 <B1 B1 >B1");
}

TEST(StageCommands, OfMegatronExchangeInTheSteadyState) {
  // recv_forward, send_forward while the pipeline warms up; then send_forward_recv_backward after each forward pass and
  // send_backward_recv_forward after each backward pass but the last; then recv_backward, send_backward.
  EXPECT_EQ(text(SendOrder::kMegatron, 3, 4, 0), "F0 >F0 F1 >F1 F2 [>F2 <B0] B0 F3 [>F3 <B1] B1 <B2 B2 <B3 B3");
  EXPECT_EQ(text(SendOrder::kMegatron, 3, 4, 1),
            "<F0 F0 >F0 <F1 F1 [>F1 <B0] B0 [>B0 <F2] F2 [>F2 <B1] B1 [>B1 <F3] F3 [>F3 <B2] B2 >B2 <B3 B3 >B3");
  // Two micro-batches fill three stages: the first one never reaches a steady state.
  EXPECT_EQ(text(SendOrder::kMegatron, 3, 2, 0), "F0 >F0 F1 >F1 <B0 B0 <B1 B1");
  EXPECT_EQ(text(SendOrder::kMegatron, 3, 2, 1), "<F0 F0 >F0 <F1 F1 [>F1 <B0] B0 >B0 <B1 B1 >B1");
}

TEST(BoundaryOrders, OfAlpaAreByTheTickThatConsumesAMessage) {
  // Its PipeDreamFlush of 2 stages and 3 micro-batches, tick by tick (stage 0 | stage 1):
  //   F0 | -, F1 | F0, - | B0, B0 | F1, F2 | B1, B1 | F2, - | B2, B2 | -
  // In tick 3 both a gradient and an activation are consumed; stage 0's message is posted first.
  const auto orders =
      boundary_orders({alternating_steps(2, 3, true), alternating_steps(1, 3, true)}, TickOrder::kConsumed);
  ASSERT_EQ(orders.size(), 1);
  EXPECT_EQ(orders[0], (std::vector<Step>{{true, 0}, {false, 0}, {true, 1}, {false, 1}, {true, 2}, {false, 2}}));
}

TEST(BoundaryOrders, OfAlpaWithMoreInFlightAreByTheTickThatProducesAMessage) {
  // Its OverlapFriendlyPipeDreamSchedule of 2 stages and 4 micro-batches (stage 0 | stage 1):
  //   F0 | -, F1 | F0, F2 | B0, B0 | F1, F3 | B1, B1 | F2, - | B2, B2 | F3, - | B3, B3 | -
  const auto orders =
      boundary_orders({alternating_steps(3, 4, true), alternating_steps(1, 4, true)}, TickOrder::kProduced);
  ASSERT_EQ(orders.size(), 1);
  EXPECT_EQ(
      orders[0],
      (std::vector<Step>{{true, 0}, {true, 1}, {true, 2}, {false, 0}, {true, 3}, {false, 1}, {false, 2}, {false, 3}}));
}

// Stages that take 1 s forward and 2 s backward on GPUs of the given speeds; messages that take `latency`.
double time_of(SendOrder order, std::vector<double> speeds, int micro_batches, double latency) {
  const int stages = static_cast<int>(speeds.size());
  Scenario scenario = small_scenario(1, stages, 1e15, latency);
  for (std::size_t s = 0; s < speeds.size(); ++s) {
    scenario.platform.devices[s].gpu.name += std::to_string(s);
    scenario.platform.devices[s].gpu.memory_bandwidth = BytesPerSecond{200 * speeds[s]};
  }
  scenario.training.batch = micro_batches;
  Plan plan = pipeline(stages, micro_batches);
  plan.by = OperatorPlan{.order = order};
  return end_of(plan, chain(stages), scenario);
}

TEST(PipelineOrder, OfTwoStagesAndTwoMicroBatchesByHand) {
  // Messages take 1 s. s0 and s1 are the stages, a and g activations and gradients.
  // Asynchronous: s0 F0 0-1, F1 1-2; s1 F0 2-3, B0 3-5, F1 5-6, B1 6-8; s0 B0 6-8 after g0, B1 9-11.
  EXPECT_NEAR(time_of(SendOrder::kAsynchronous, {1, 1}, 2, 1), 11, kClock);
  // Alpa: a1 waits for g0: s1 B0 3-5, g0 5-6, a1 6-7, s1 F1 7-8, B1 8-10, g1 10-11, s0 B1 11-13.
  EXPECT_NEAR(time_of(SendOrder::kAlpa, {1, 1}, 2, 1), 13, kClock);
  // DeepSpeed: the same, and s0 F1 begins after a0, 2-3; B0 after a1, 7-9.
  EXPECT_NEAR(time_of(SendOrder::kDeepSpeed, {1, 1}, 2, 1), 13, kClock);
  // Megatron-LM: a0 1-2, s0 F1 2-3; s1 F0 2-3, B0 3-5; g0 and a1 5-6; s1 F1 6-7, B1 7-9; g1 9-10; s0 B1 10-12.
  EXPECT_NEAR(time_of(SendOrder::kMegatron, {1, 1}, 2, 1), 12, kClock);
}

TEST(PipelineOrder, OfThreeStagesAndFourMicroBatchesByHand) {
  // Asynchronous: s2 F0 4-5, B0 5-7, F1 7-8, B1 8-10; s1 B0 8-10, F2 10-11, B1 11-13; s2 F2 12-13, B2 13-15; s0 B0 11-13,
  // F3 13-14, B1 14-16; s1 F3 15-16, B2 16-18; s2 F3 17-18, B3 18-20; s1 B3 21-23; s0 B2 19-21, B3 24-26.
  EXPECT_NEAR(time_of(SendOrder::kAsynchronous, {1, 1, 1}, 4, 1), 26, kClock);
  // Alpa. Between s0 and s1: a0 a1 g0 a2 g1 a3 g2 g3; between s1 and s2: a0 g0 a1 g1 a2 g2 a3 g3.
  //   s2 F0 4-5, B0 5-7; g0 7-8, a1 8-9; s2 F1 9-10, B1 10-12; s1 B0 8-10; g0 10-11, a2 11-12; s0 B0 11-13, F3 13-14; s1 F2
  //   12-13; g1 12-13, a2 13-14; s1 B1 13-15; s2 F2 14-15, B2 15-17; g1 15-16, a3 16-17; s1 F3 17-18; g2 17-18, a3 18-19;
  //   s1 B2 18-20; s2 F3 19-20, B3 20-22; g3 22-23; s1 B3 23-25; g3 25-26; s0 B3 26-28.
  EXPECT_NEAR(time_of(SendOrder::kAlpa, {1, 1, 1}, 4, 1), 28, kClock);
  // DeepSpeed. s0 F0 0-1, a0 1-2, F1 2-3; s1 F0 2-3, a0 3-4; s2 F0 4-5, B0 5-7; a1 4-5; s0 F2 5-6; s1 F1 5-6; g0 7-8, a1
  //   8-9; s1 B0 9-11; s2 F1 9-10, B1 10-12; g0 11-12, a2 12-13; s0 B0 13-15; s1 F2 13-14; g1 14-15, a2 15-16; s1 B1 16-18;
  //   s2 F2 16-17, B2 17-19; s0 F3 15-16; g1 18-19, a3 19-20; s0 B1 20-22; s1 F3 20-21; g2 21-22, a3 22-23; s1 B2 23-25; s2
  //   F3 23-24, B3 24-26; g2 25-26; s0 B2 26-28; g3 26-27; s1 B3 27-29; g3 29-30; s0 B3 30-32.
  EXPECT_NEAR(time_of(SendOrder::kDeepSpeed, {1, 1, 1}, 4, 1), 32, kClock);
  // Megatron-LM. As DeepSpeed until s1 F1 5-6; s2 B0 5-7; g0 and a1 7-8; s1 B0 8-10; s2 F1 8-9, B1 9-11; g0 and a2 10-11; s0
  //   B0 11-13; s1 F2 11-12; g1 and a2 12-13; s1 B1 13-15; s2 F2 13-14, B2 14-16; s0 F3 13-14; g1 and a3 15-16; s0 B1 16-18;
  //   s1 F3 16-17; g2 and a3 17-18; s1 B2 18-20; s2 F3 18-19, B3 19-21; g2 20-21; s0 B2 21-23; g3 21-22; s1 B3 22-24; g3
  //   24-25; s0 B3 25-27.
  EXPECT_NEAR(time_of(SendOrder::kMegatron, {1, 1, 1}, 4, 1), 27, kClock);
}

TEST(PipelineOrder, DoesNotMatterWhereMessagesTakeNoTime) {
  for (int stages = 2; stages <= 5; ++stages) {
    for (int micro_batches = 1; micro_batches <= 7; ++micro_batches) {
      for (const SendOrder order : kOrders) {
        EXPECT_NEAR(time_of(order, std::vector<double>(static_cast<std::size_t>(stages), 1), micro_batches, 0),
                    (micro_batches + stages - 1) * 3.0, kClock);
      }
    }
  }
}

TEST(PipelineOrder, NoneIsFasterThanAsynchronous) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> speed(0.2, 2), latency(0, 3);
  for (int i = 0; i < 60; ++i) {
    std::vector<double> speeds(2 + random() % 4);
    for (double& s : speeds) s = speed(random);
    const int micro_batches = 1 + static_cast<int>(random() % 8);
    const double each = latency(random);
    const double least = time_of(SendOrder::kAsynchronous, speeds, micro_batches, each);
    for (const SendOrder order : kOrders)
      EXPECT_GE(time_of(order, speeds, micro_batches, each), least - kClock) << i << name_in(send_order_names(), order);
  }
}

TEST(PipelineOrder, DoesNotMatterOnUnequalGpusEitherWhereMessagesTakeNoTime) {
  std::mt19937 random(8);
  std::uniform_real_distribution<double> speed(0.2, 2);
  for (int i = 0; i < 40; ++i) {
    std::vector<double> speeds(2 + random() % 4);
    for (double& s : speeds) s = speed(random);
    const int micro_batches = 1 + static_cast<int>(random() % 8);
    const double least = time_of(SendOrder::kAsynchronous, speeds, micro_batches, 0);
    for (const SendOrder order : kOrders) EXPECT_NEAR(time_of(order, speeds, micro_batches, 0), least, kClock) << i;
  }
}

// A message of 100 B at 100 B/s that is ready at once, while its receiver computes until 10 s.
std::pair<double, double> pass(double buffer, bool posted_always = false) {
  Scenario scenario = small_scenario(1, 2, 100);
  scenario.nccl.message_chunk = Bytes{buffer / 16};
  const Network network(scenario.platform);
  TaskGraph graph(network.links(), 2);
  Peers peers(graph, network, scenario.nccl_setup());
  const TagId tag = graph.tag({"m", TaskClass::kSend});
  const TaskId ready = graph.delay({0}, tag, {});
  const TaskId posted = graph.delay({10}, tag, {});
  const auto passed = peers.pass(0, 1, Bytes{100}, tag, ready, posted_always ? kNoTask : posted);
  const Timeline timeline = simulate(graph);
  return {passed.sent == kNoTask ? 0 : timeline.finish[passed.sent], timeline.finish[passed.received]};
}

TEST(Messages, AreARendezvousButForWhatNcclHolds) {
  EXPECT_EQ(pass(0), (std::pair{11.0, 11.0}));
  // 20 B leave at once; 80 B have left at 10.6 s, and then the sender goes on.
  EXPECT_NEAR(pass(20).first, 10.6, kClock);
  EXPECT_NEAR(pass(20).second, 10.8, kClock);
  // 60 B leave at once, and the sender goes on after 40 B.
  EXPECT_NEAR(pass(60).first, 0.4, kClock);
  EXPECT_NEAR(pass(60).second, 10.4, kClock);
  // All may leave: the receiver finds it there.
  EXPECT_EQ(pass(100), (std::pair{0.0, 10.0}));
  EXPECT_NEAR(pass(20, true).first, 0.8, kClock);
  EXPECT_NEAR(pass(20, true).second, 1, kClock);
}

// 200 kB at 10 kB/s and a round trip of 1 s. The sender's kernel keeps 87 040 B (tests/platform/tcp_window_test.cpp) and NCCL
// 16 000 B, the receiver's takes 65 535 B before it posts its receive at 100 s: 96 960 B must be acknowledged, of which 31 425
// leave from then on.
TEST(Messages, AreKeptBySocketsToo) {
  Scenario scenario = small_scenario(2, 1, 1e4);
  for (WanLink& link : scenario.platform.links) link.forward.delay = link.backward.delay = Seconds{0.5};
  scenario.nccl.message_chunk = Bytes{1000};
  const Network network(scenario.platform);
  TaskGraph graph(network.links(), 2);
  Peers peers(graph, network, scenario.nccl_setup());
  const TagId tag = graph.tag({"m", TaskClass::kSend});
  const TaskId ready = graph.delay({0}, tag, {}), posted = graph.delay({100}, tag, {});
  const auto passed = peers.pass(0, 1, Bytes{2e5}, tag, ready, posted);
  const Timeline timeline = simulate(graph);
  EXPECT_NEAR(timeline.finish[passed.sent], 100 + 3.1425 + 1, kClock);
  EXPECT_NEAR(timeline.finish[passed.received], 100 + 13.4465 + 0.5, kClock);
}

}  // namespace
}  // namespace slmsim::order_test
