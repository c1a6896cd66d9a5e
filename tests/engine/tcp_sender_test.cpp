// The sender's window by itself, against RFC 5681, RFC 9438, Ott et al. and hand calculation.
#include "sim/engine/tcp_sender.h"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "sim/engine/loss_distance.h"

namespace slmsim::tcp_sender_test {
namespace {

constexpr double kSegment = 1000, kRtt = 0.1;

TcpWindow path(CongestionControl congestion_control, double loss = 0, double steady = 1e9) {
  TcpWindow window;
  window.initial = window.restart = Bytes{10 * kSegment};
  window.steady = Bytes{steady};
  window.rtt = Seconds{kRtt};
  window.segment = Bytes{kSegment};
  window.loss = loss;
  window.congestion_control = congestion_control;
  return window;
}

// A path so fast that a window leaves at once, round trip by round trip: the bytes of `rounds` of them.
struct Rounds {
  double bytes = 0;
  TcpState state;
};
Rounds run(const TcpWindow& window, int rounds, TcpState state = {}, int connections = 1) {
  TcpSender sender(window, connections, INFINITY, state, 0);
  Rounds out;
  for (int i = 0; i < rounds; ++i) {
    const double sent = sender.take(1e12);
    out.bytes += sent;
    double acknowledged = 0;
    const Acknowledgements acks = sender.left(sent, 0);
    for (int k = 0; k < acks.count; ++k) {
      EXPECT_EQ(acks.delay(k), kRtt);
      acknowledged += acks.bytes;
    }
    EXPECT_NEAR(acknowledged, sent, 1e-6);
    // Segment by segment, as a receiver without delayed acknowledgements does.
    for (double left = sent; left > 0; left -= kSegment * connections)
      sender.acknowledged(std::min(left, kSegment * connections), (i + 1) * kRtt);
  }
  out.state = sender.state(rounds * kRtt);
  return out;
}

TEST(TcpSender, DoublesInSlowStartUpToTwiceWhatItCanUse) {
  EXPECT_EQ(run(path(CongestionControl::kReno), 3).bytes, 70 * kSegment);  // 10 + 20 + 40
  EXPECT_EQ(run(path(CongestionControl::kReno, 0, 50 * kSegment), 8).state.window, 100 * kSegment);
}

// Messages of 30 segments, one per round trip: nothing shows that the path could carry more than twice that.
TEST(TcpSender, DoesNotGrowBeyondTwiceWhatItsProgramSends) {
  TcpSender sender(path(CongestionControl::kCubic), 1, INFINITY, {}, 0);
  double window = 0;
  for (int round = 0; round < 20; ++round) {
    double left = 30 * kSegment;
    while (left > 0) {
      const double piece = sender.take(left);
      left -= piece;
      sender.acknowledged(piece, round * kRtt);
    }
    window = sender.state(0).window;
  }
  EXPECT_EQ(window, 60 * kSegment);
}

TEST(TcpSender, RenoAddsASegmentPerRoundTripBeyondTheThreshold) {
  const TcpState state{.window = 100 * kSegment, .threshold = 100 * kSegment};
  // Each acknowledgement adds 1 / window of a segment: a little less than one per round, as the window grows meanwhile.
  EXPECT_NEAR(run(path(CongestionControl::kReno), 20, state).state.window, 120 * kSegment, 0.2 * kSegment);
}

TEST(TcpSender, CubicGrowsByATwentiethPerRoundTripBeforeTheFirstLoss) {
  const TcpState state{.window = 1000 * kSegment, .threshold = 1000 * kSegment};
  EXPECT_NEAR(run(path(CongestionControl::kCubic), 10, state).state.window / kSegment, 1000 * std::pow(1.05, 10), 2);
}

TEST(TcpSender, ALossLeavesHalfToRenoAndSevenTenthsToCubic) {
  const double first = distance_to_loss(path(CongestionControl::kReno, 1e-3), 0);
  const TcpState state{.window = 100 * kSegment, .threshold = 100 * kSegment, .since_loss = first - kSegment / 2};
  for (const auto& [algorithm, left] :
       {std::pair{CongestionControl::kReno, 0.5}, std::pair{CongestionControl::kCubic, 0.7}}) {
    TcpSender sender(path(algorithm, 1e-3), 1, INFINITY, state, kSegment);
    sender.acknowledged(kSegment, 1);
    EXPECT_NEAR(sender.state(1).window / kSegment, 100 * left, 0.1);
    EXPECT_EQ(sender.state(3).age, 2);
  }
}

// As where the limits of a technique are looked for: more bytes than an integer holds.
TEST(TcpSender, WithoutLimitTakesAllAtOnce) {
  TcpWindow window = path(CongestionControl::kCubic);
  window.steady = window.initial = Bytes{1e18};
  TcpSender sender(window, 64, INFINITY, {}, 0);
  EXPECT_EQ(sender.take(1e9), 1e9);
  EXPECT_EQ(sender.take(1e9), 1e9);
}

TEST(TcpSender, BbrMindsNoLoss) {
  EXPECT_EQ(run(path(CongestionControl::kBbr, 1e-2), 10).bytes, run(path(CongestionControl::kBbr), 10).bytes);
}

// Several lost segments of one window, here about four of 4000, cut it once.
TEST(TcpSender, LossesInOneWindowCutItOnce) {
  const TcpState state{.window = 4000 * kSegment, .threshold = 4000 * kSegment};
  TcpSender sender(path(CongestionControl::kReno, 1e-3), 1, INFINITY, state, 4000 * kSegment);
  for (int i = 0; i < 4000; ++i) sender.acknowledged(kSegment, 1);
  EXPECT_GE(sender.state(1).losses, 2);
  EXPECT_NEAR(sender.state(1).window / kSegment, 2000, 5);
}

// The kernel sends segment by segment up to the window, the model in larger pieces. Two messages of 30 segments fill a window of
// 33, although the second message waits for the first.
TEST(TcpSender, AWindowThatMakesAMessageWaitGrows) {
  const TcpState state{.window = 33 * kSegment, .threshold = 33 * kSegment};
  TcpSender sender(path(CongestionControl::kReno), 1, INFINITY, state, 0);
  for (int round = 0; round < 100; ++round) {
    EXPECT_EQ(sender.take(30 * kSegment), 30 * kSegment);
    double left = 30 * kSegment, sent = sender.take(left);
    sender.acknowledged(30 * kSegment, round * kRtt);
    left -= sent;
    while (left > 0) {
      const double piece = sender.take(left);
      ASSERT_GT(piece, 0);
      left -= piece;
      sent += piece;
    }
    sender.acknowledged(sent, round * kRtt);
  }
  EXPECT_GT(sender.state(0).window, 60 * kSegment);
}

// Ott, Kemperman and Mathis, The stationary behavior of ideal TCP congestion avoidance, 1996: a mean of 1.31 / sqrt(p) segments
// per round trip at random losses. (At even distances 1.22, Mathis et al., CCR 27(3), 1997, eq. 3.)
TEST(TcpSender, RenosMeanUnderLossIsThatOfOtt) {
  for (const double loss : {1e-3, 1e-4, 1e-5}) {
    const Rounds warm = run(path(CongestionControl::kReno, loss), 4000);
    constexpr int kRounds = 40'000;
    const double mean = run(path(CongestionControl::kReno, loss), kRounds, warm.state).bytes / kSegment / kRounds;
    EXPECT_NEAR(mean, 1.31 / std::sqrt(loss), 0.05 * mean) << loss;
  }
}

// RFC 9438, section 5.1, eq. 6 with C = 0.4, beta = 0.7: a mean of 1.054 (RTT / p)^(3/4) segments, where that is more
// than Reno's.
TEST(TcpSender, CubicsMeanUnderLossIsThatOfRfc9438) {
  for (const double loss : {1e-5, 1e-6}) {
    const Rounds warm = run(path(CongestionControl::kCubic, loss), 2000);
    constexpr int kRounds = 8000;
    const double mean = run(path(CongestionControl::kCubic, loss), kRounds, warm.state).bytes / kSegment / kRounds;
    EXPECT_NEAR(mean, 1.054 * std::pow(kRtt / loss, 0.75), 0.1 * mean) << loss;
  }
}

TEST(TcpSender, IsNeverSlowerWithLessLoss) {
  for (const auto algorithm : {CongestionControl::kReno, CongestionControl::kCubic}) {
    double before = 0;
    for (const double loss : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 0.0}) {
      const double bytes = run(path(algorithm, loss, 1e7), 2000).bytes;
      EXPECT_GE(bytes, before) << loss;
      before = bytes;
    }
  }
}

TEST(TcpSender, SeveralConnectionsInStepAreOneTimesTheirNumber) {
  const TcpWindow window = path(CongestionControl::kCubic, 1e-4, 1e7);
  const double one = run(window, 500).bytes;
  EXPECT_NEAR(run(window, 500, {}, 4).bytes, 4 * one, 1e-4 * one);  // bytes are whole
}

// HyStart, one connection: a round of 0.06 s is more than half a round trip. The segments acknowledged in the first half
// of the round trip, 100 x 0.05 / 0.06, still let the window grow.
TEST(TcpSender, HystartEndsSlowStartWhereARoundTakesHalfARoundTrip) {
  TcpWindow window = path(CongestionControl::kCubic);
  window.initial = Bytes{100 * kSegment};
  TcpSender sender(window, 1, 100 * kSegment / 0.06, {}, 0);
  sender.left(sender.take(1e12), 0.06);
  EXPECT_NEAR(sender.state(0).threshold / kSegment, 100 + 100 * 0.05 / 0.06, 1e-9);
  window.congestion_control = CongestionControl::kReno;
  TcpSender reno(window, 1, 100 * kSegment / 0.06, {}, 0);
  reno.left(reno.take(1e12), 0.06);
  EXPECT_EQ(reno.state(0).threshold, INFINITY);
}

// Eight connections share what one alone sends in 10 ms: of the others' 70 ms a quarter waits before a round's first bytes,
// more than 16 ms. Where each is slowed by its own program alone, nobody waits in a queue.
TEST(TcpSender, HystartEndsSlowStartWhereOthersAreQueuedBefore) {
  TcpWindow window = path(CongestionControl::kCubic);
  window.rtt = Seconds{0.2};
  window.initial = Bytes{100 * kSegment};
  TcpSender queued(window, 8, 100 * kSegment / 0.01, {}, 0);
  queued.left(queued.take(1e12), 0.08);
  EXPECT_EQ(queued.state(0).threshold, 100 * kSegment);
  TcpSender slow(window, 8, 100 * kSegment / 0.08, {}, 0);
  slow.left(slow.take(1e12), 0.08);
  EXPECT_EQ(slow.state(0).threshold, INFINITY);
}

TEST(TcpSender, SlowStartAfterAPauseLeadsBackToThreeQuarters) {
  TcpWindow window = path(CongestionControl::kCubic);
  window.timeout_margin = Seconds{0.3} - window.rtt;
  TcpSender sender(window, 1, INFINITY, {.window = 800 * kSegment, .threshold = 200 * kSegment}, 0);
  sender.resume(0.7);  // two time-outs
  EXPECT_EQ(sender.state(0).window, 200 * kSegment);
  EXPECT_EQ(sender.state(0).threshold, 600 * kSegment);
}

// A window of 1000 segments leaves at 2000 a second: 0.5 s from handing over to acknowledgement where the path alone has 0.1.
TEST(TcpSender, ATimeOutCoversWhatBytesWaitInQueues) {
  TcpWindow window = path(CongestionControl::kCubic, 0, 1000 * kSegment);
  window.timeout_margin = Seconds{0.2};
  // Sends the window at once, then halves of it as they are acknowledged.
  const auto kept = [&](double idle, int halves) {
    TcpSender sender(window, 1, 2000 * kSegment, {.window = 1000 * kSegment, .threshold = 1000 * kSegment}, 0);
    sender.left(sender.take(1e12), 0.5);
    for (int i = 0; i < halves; ++i) {
      sender.acknowledged(500 * kSegment, 0);
      sender.left(sender.take(500 * kSegment), 0.25);
    }
    const double before = sender.state(0).window;
    sender.resume(idle);
    return sender.state(0).window / before;
  };
  // 500 samples, each waits a millisecond longer: the mean stays 7 behind the last, 0.5 s, and four deviations are 4 x 8 ms.
  EXPECT_EQ(kept(0.1 + 0.493 + 0.2 - 0.5 - 0.001, 0), 1);
  EXPECT_EQ(kept(0.1 + 0.493 + 0.2 - 0.5 + 0.001, 0), 0.5);
  // After some round trips 0.5 + 0.2 s are left. The last byte waited 0.4 s of these.
  EXPECT_EQ(kept(0.29, 20), 1);
  EXPECT_EQ(kept(0.31, 20), 0.5);
  EXPECT_EQ(kept(0.31 + 0.7, 20), 0.25);
}

// tcp_rtt_estimator by hand: a sample moves the mean by an eighth of the distance, and four deviations by the distance less a
// quarter of theirs; below the mean by an eighth of that, where it is more.
TEST(TcpSender, RoundTripsAreSampledAsTheKernelDoes) {
  TcpWindow window = path(CongestionControl::kCubic);
  window.timeout_margin = Seconds{0.2};
  TcpSender sender(window, 1, INFINITY, {.window = 1000 * kSegment}, 0);
  const auto burst = [&](double segments, double length) {
    sender.resume(0);
    const double bytes = sender.take(segments * kSegment);
    sender.left(bytes, length);
    sender.acknowledged(bytes, 0);
    return sender.state(0);
  };
  TcpState state = burst(4, 1);  // samples of 0.5 and 1 s
  EXPECT_NEAR(state.wait, 0.5 / 8 + 0.9375 / 8, 1e-12);
  EXPECT_NEAR(state.deviation, 0.5 + 0.9375 - 0.5 / 4, 1e-12);
  EXPECT_NEAR(state.variation, 1.3125, 1e-12);
  state = burst(2, 0.1);  // a sample of 0.1 s, 0.0796875 below the mean and within a quarter of the deviations
  EXPECT_NEAR(state.wait, 0.1796875 - 0.0796875 / 8, 1e-12);
  EXPECT_NEAR(state.deviation, 1.3125 + 0.0796875 - 1.3125 / 4, 1e-12);
  EXPECT_NEAR(state.variation, 1.0640625 + 0.75 * (1.3125 - 1.0640625), 1e-12);
  for (int i = 0; i < 60; ++i) state = burst(2, 0.1);
  EXPECT_NEAR(state.wait, 0.1, 1e-3);
  EXPECT_EQ(state.variation, 0);
  state = burst(2, 0.02);  // 0.08 below
  EXPECT_NEAR(state.deviation, 0.08 / 8, 1e-3);
}

// Before the first loss the curve rises from where congestion avoidance began, by at least a twentieth of what is
// acknowledged and at most half of it; its clock stands still in pauses.
TEST(TcpSender, CubicRisesBeforeTheFirstLoss) {
  const auto grown = [](double pause, double after) {
    TcpSender sender(path(CongestionControl::kCubic), 1, INFINITY,
                     {.window = 100 * kSegment, .threshold = 100 * kSegment}, 0);
    const auto send = [&](double segments, double now) {
      sender.acknowledged(sender.take(segments * kSegment), now);
      return sender.state(now).window / kSegment;
    };
    const double first = send(100, 0);  // 0.4 x 0.1^3 segments above 100 are less than 5 %
    EXPECT_NEAR(first, 105, 1e-9);
    sender.resume(pause);
    return send(first, after) / first - 1;
  };
  EXPECT_NEAR(grown(0, 2.9), (100 + 0.4 * 27) / 105 - 1, 1e-9);  // 3 s with the round trip
  EXPECT_NEAR(grown(1, 3.9), (100 + 0.4 * 27) / 105 - 1, 1e-9);
  EXPECT_NEAR(grown(0, 1.9), 0.05, 1e-9);
  EXPECT_NEAR(grown(0, 9.9), 0.5, 1e-9);
}

// A train's acknowledgements follow within 2 ms: 200 segments over 0.15 s do on one connection, and not where each of sixteen
// has its part of them.
TEST(TcpSender, ATrainNeedsAcknowledgementsInQuickSuccession) {
  const auto threshold = [](int connections) {
    TcpSender sender(path(CongestionControl::kCubic), connections, 1e3 * kSegment, {.window = 200.0 * kSegment}, 0);
    sender.left(sender.take(200 * kSegment), 0.15);
    return sender.state(0).threshold;
  };
  EXPECT_LT(threshold(1), INFINITY);
  EXPECT_EQ(threshold(16), 200 * kSegment);  // late behind the others
}

TEST(TcpSender, APauseLeavesTenSegmentsAlsoWhereTheReceiverOffersFewerAtFirst) {
  TcpWindow window = path(CongestionControl::kCubic);
  window.initial = Bytes{6 * kSegment};
  window.timeout_margin = Seconds{0.2};
  TcpSender sender(window, 1, INFINITY, {.window = 800 * kSegment, .threshold = 200 * kSegment}, 0);
  sender.resume(60);
  EXPECT_EQ(sender.state(0).window, 10 * kSegment);
}

// A window of 3000 B, all of the send buffer: a third is free once 1000 B are acknowledged. A program that polls sends a
// quarter, by which this model counts.
TEST(TcpSender, AProgramThatSleepsWaitsForAThirdOfItsBuffer) {
  TcpWindow window = path(CongestionControl::kReno, 0, 3000);
  window.send_buffer = Bytes{3000};
  const TcpState full{.window = 3000};
  for (const bool sleeps : {true, false}) {
    window.sender_sleeps = sleeps;
    TcpSender sender(window, 1, INFINITY, full, 3000);
    sender.acknowledged(800, 0);
    EXPECT_EQ(sender.take(1e6), sleeps ? 0 : 800);
    sender.acknowledged(200, 0);
    EXPECT_EQ(sender.take(1e6), sleeps ? 1000 : 0);
  }
  // Half as wide a window: the other half of the buffer bridges the sleep.
  window.sender_sleeps = true;
  window.send_buffer = Bytes{6000};
  TcpSender sender(window, 1, INFINITY, full, 3000);
  sender.acknowledged(800, 0);
  EXPECT_EQ(sender.take(1e6), 800);
}

}  // namespace
}  // namespace slmsim::tcp_sender_test
