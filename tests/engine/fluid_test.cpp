// simulate() against an independent fluid model: max-min rates by raising all flows' water level, bytes
// drained from event to event.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/engine/small_graph.h"

namespace slmsim::fluid_test {
namespace {

struct FluidFlow {
  std::vector<int> links;
  double cap = std::numeric_limits<double>::infinity();
  double start = 0, bytes = 0;
  double finish = -1;
};

// Rates of the flows in `active`: all rise together; one stops where a link of its own is full or its cap is
// reached.
std::vector<double> max_min_rates(const std::vector<FluidFlow>& flows, const std::vector<std::size_t>& active,
                                  const std::vector<double>& bandwidths) {
  std::vector<double> rate(flows.size(), 0.0), room = bandwidths;
  std::vector<std::size_t> rising = active;
  while (!rising.empty()) {
    const auto users = [&](int link) {
      return std::count_if(rising.begin(), rising.end(), [&](std::size_t f) {
        return std::find(flows[f].links.begin(), flows[f].links.end(), link) != flows[f].links.end();
      });
    };
    double step = std::numeric_limits<double>::infinity();
    for (const std::size_t f : rising) {
      step = std::min(step, flows[f].cap - rate[f]);
      for (const int link : flows[f].links) {
        step = std::min(step, room[link] / static_cast<double>(users(link)));
      }
    }
    for (const std::size_t f : rising) {
      rate[f] += step;
      for (const int link : flows[f].links) room[link] -= step;
    }
    std::erase_if(rising, [&](std::size_t f) {
      return rate[f] >= flows[f].cap * (1 - 1e-12) ||
             std::any_of(flows[f].links.begin(), flows[f].links.end(), [&](int link) {
               return room[link] <= 1e-9 * bandwidths[link];
             });
    });
  }
  return rate;
}

void drain(std::vector<FluidFlow>& flows, const std::vector<double>& bandwidths) {
  std::vector<double> left;
  for (const auto& flow : flows) left.push_back(flow.bytes);
  double now = 0;
  while (true) {
    std::vector<std::size_t> active;
    double next = std::numeric_limits<double>::infinity();
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (flows[f].finish >= 0) continue;
      if (flows[f].start <= now) {
        active.push_back(f);
      } else {
        next = std::min(next, flows[f].start);
      }
    }
    if (active.empty() && std::isinf(next)) return;
    const auto rate = max_min_rates(flows, active, bandwidths);
    for (const std::size_t f : active) next = std::min(next, now + left[f] / rate[f]);
    for (const std::size_t f : active) {
      left[f] -= rate[f] * (next - now);
      if (left[f] <= 1e-9 * flows[f].bytes) flows[f].finish = next;
    }
    now = next;
  }
}

TEST(Fluid, TheModelOfThisTestSharesThreeFlowsOnTwoLinksAsByHand) {
  // As in Sharing.ThreeFlowsOnTwoLinksShareMaxMinFairly: 50, 50 and 250 B/s.
  std::vector<FluidFlow> flows(3);
  flows[0].links = {0, 1};
  flows[1].links = {0};
  flows[2].links = {1};
  EXPECT_EQ(max_min_rates(flows, {0, 1, 2}, {100, 300}), (std::vector<double>{50, 50, 250}));
  flows[0].cap = 20;  // 20, 80 and 280
  EXPECT_EQ(max_min_rates(flows, {0, 1, 2}, {100, 300}), (std::vector<double>{20, 80, 280}));
}

TEST(Fluid, RandomFlowsFinishWhenTheFluidModelSays) {
  std::mt19937 random(20240607);
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  for (int round = 0; round < 60; ++round) {
    std::vector<double> bandwidths;
    for (int link = pick(1, 6); link > 0; --link) bandwidths.push_back(100.0 * pick(1, 20));
    std::vector<FluidFlow> flows;
    for (int flow = pick(1, 20); flow > 0; --flow) {
      FluidFlow fluid;
      for (int link = 0; link < static_cast<int>(bandwidths.size()); ++link) {
        if (pick(0, 2) == 0) fluid.links.push_back(link);
      }
      if (fluid.links.empty()) fluid.links.push_back(0);
      if (pick(0, 2) == 0) fluid.cap = 50.0 * pick(1, 10);
      fluid.start = pick(0, 10);
      fluid.bytes = 100.0 * pick(1, 100);
      flows.push_back(fluid);
    }
    SmallGraph graph(bandwidths);
    std::vector<TaskId> sent;
    for (const auto& flow : flows) {
      const int connection = graph.connect(flow.links, 0, std::isinf(flow.cap) ? 0 : flow.cap);
      sent.push_back(graph.send(connection, flow.bytes, {graph.wait(flow.start)}));
    }
    const Timeline timeline = graph.run(), by_engine = graph.run({}, {.always_engine = true});
    drain(flows, bandwidths);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      EXPECT_NEAR(timeline.finish[sent[f]], flows[f].finish, 1e-9 * flows[f].finish)
          << "round " << round << ", flow " << f;
      // The clock runs on through all simulations of a process.
      EXPECT_NEAR(by_engine.finish[sent[f]], flows[f].finish, kClock + 1e-9 * flows[f].finish)
          << "round " << round << ", flow " << f;
    }
  }
}

}  // namespace
}  // namespace slmsim::fluid_test
