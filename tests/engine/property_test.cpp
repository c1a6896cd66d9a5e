// Properties of every graph, checked on small random ones with fixed seeds.
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/engine/small_graph.h"

namespace slmsim::property_test {
namespace {

struct RandomTask {
  enum { kSend, kCompute, kWait } kind = kWait;
  int connection = 0;
  double amount = 0;  // B or s
  std::vector<TaskId> after;
};

struct RandomConnection {
  std::vector<int> links;
  double latency = 0, cap = 0;
  double initial = 0, steady = 0, rtt = 0, idle_limit = 0;  // rtt = 0: no window
  int sockets = 1;
};

// A graph as data, so that one number of it can be changed.
struct RandomGraph {
  std::vector<double> bandwidths;
  std::vector<RandomConnection> connections;
  std::vector<RandomTask> tasks;

  SmallGraph build() const {
    SmallGraph graph(bandwidths);
    for (const auto& c : connections) {
      if (c.rtt > 0) {
        graph.connect_windowed(c.initial, c.steady, c.rtt, c.idle_limit, c.sockets, c.latency, c.links[0]);
      } else {
        graph.connect(c.links, c.latency, c.cap, c.sockets);
      }
    }
    for (const auto& t : tasks) {
      if (t.kind == RandomTask::kSend) graph.send(t.connection, t.amount, t.after);
      if (t.kind == RandomTask::kCompute) graph.compute(t.connection % 8, t.amount, t.after);
      if (t.kind == RandomTask::kWait) graph.wait(t.amount, t.after);
    }
    return graph;
  }
  double end() const { return build().end(); }
};

enum class Links { kShared, kOwn };   // do connections share links
enum class Windows { kNone, kSome };  // have connections windows

// With kOwn every connection has a link of its own and carries one transfer: nothing competes.
RandomGraph random_graph(unsigned seed, Links links, Windows windows) {
  std::mt19937 random(seed);
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  RandomGraph graph;
  const int tasks = pick(5, 30);
  const int connections = links == Links::kOwn ? tasks : pick(1, 6);
  const int link_count = links == Links::kOwn ? connections : pick(1, 4);
  for (int i = 0; i < link_count; ++i) graph.bandwidths.push_back(100.0 * pick(1, 20));
  for (int i = 0; i < connections; ++i) {
    RandomConnection c;
    c.links = {links == Links::kOwn ? i : pick(0, link_count - 1)};
    c.latency = 0.25 * pick(0, 8);
    if (pick(0, 1)) c.cap = 50.0 * pick(1, 20);
    c.sockets = pick(1, 2);
    if (windows == Windows::kSome && pick(0, 1)) {
      c.initial = 100.0 * pick(1, 4);
      c.steady = c.initial * pick(1, 10);
      c.rtt = 0.5 * pick(1, 4);
    }
    graph.connections.push_back(c);
  }
  for (int i = 0; i < tasks; ++i) {
    RandomTask t;
    t.kind = static_cast<decltype(t.kind)>(pick(0, 2));
    t.connection = links == Links::kOwn ? i : pick(0, connections - 1);
    t.amount = t.kind == RandomTask::kSend ? 100.0 * pick(0, 30) : 0.5 * pick(0, 6);
    for (int j = 0; j < std::min(i, 2); ++j) t.after.push_back(static_cast<TaskId>(pick(0, i - 1)));
    graph.tasks.push_back(t);
  }
  return graph;
}

TEST(Property, TheBytesOfAConnectionsFlowsAreThoseOfItsTransfers) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const RandomGraph random = random_graph(seed, Links::kShared, Windows::kSome);
    std::map<int, double> asked, carried;
    for (const auto& t : random.tasks) {
      if (t.kind == RandomTask::kSend && t.amount > 0) asked[t.connection] += t.amount;
    }
    for (const auto& flow : random.build().run().flows) carried[flow.connection] += flow.bytes;
    EXPECT_EQ(carried, asked) << "seed " << seed;  // whole bytes: exact
  }
}

TEST(Property, EveryTaskStartsAfterAllItWaitsForAndTakesAtLeastItsOwnTime) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const RandomGraph random = random_graph(seed, Links::kShared, Windows::kSome);
    const Timeline timeline = random.build().run();
    for (std::size_t i = 0; i < random.tasks.size(); ++i) {
      const auto& t = random.tasks[i];
      for (const TaskId before : t.after) EXPECT_GE(timeline.start[i], timeline.finish[before] - kClock);
      double least = t.amount;
      if (t.kind == RandomTask::kSend) {
        const auto& c = random.connections[t.connection];
        least = t.amount / random.bandwidths[c.links[0]] + c.latency;
      }
      EXPECT_GE(timeline.finish[i] - timeline.start[i], least - kClock) << "seed " << seed << ", task " << i;
      EXPECT_LE(timeline.finish[i], timeline.end.value);
    }
  }
}

TEST(Property, NoLinkCarriesMoreThanItsBandwidthAndItIsNeverIdleForNothing) {
  // All transfers are ready at once and nothing else limits them: each link works until its bytes are gone.
  for (unsigned seed = 0; seed < 20; ++seed) {
    RandomGraph random = random_graph(seed, Links::kShared, Windows::kNone);
    std::vector<double> bytes(random.bandwidths.size(), 0.0);
    for (auto& c : random.connections) c.latency = c.cap = 0;
    for (auto& t : random.tasks) {
      t.kind = RandomTask::kSend;
      t.after.clear();
      bytes[random.connections[t.connection].links[0]] += t.amount =
          std::max(100.0, 100.0 * std::round(t.amount));
    }
    double longest = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) longest = std::max(longest, bytes[i] / random.bandwidths[i]);
    EXPECT_NEAR(random.end(), longest, 1e-5 * longest) << "seed " << seed;  // 1e-5: SimGrid's maxmin/precision
  }
}

TEST(Property, TwiceTheBandwidthAndHalfTheTimesHalveTheEnd) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const RandomGraph slow = random_graph(seed, Links::kShared, Windows::kSome);
    RandomGraph fast = slow;
    for (double& bandwidth : fast.bandwidths) bandwidth *= 2;
    for (auto& c : fast.connections) c.cap *= 2, c.latency /= 2, c.rtt /= 2;
    for (auto& t : fast.tasks) t.amount /= t.kind == RandomTask::kSend ? 1 : 2;
    EXPECT_NEAR(fast.end(), slow.end() / 2, 1e-5 * slow.end()) << "seed " << seed;
  }
}

TEST(Property, MoreLatencyIsNeverFasterWhereNothingCompetes) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const RandomGraph near = random_graph(seed, Links::kOwn, Windows::kSome);
    RandomGraph far = near;
    auto& c = far.connections[seed % far.connections.size()];
    c.latency += 0.3;
    EXPECT_GE(far.end(), near.end() - kClock) << "seed " << seed;
    c.rtt *= 1.3;
    EXPECT_GE(far.end(), near.end() - kClock) << "seed " << seed << " with a longer round trip";
  }
}

TEST(Property, MoreBandwidthIsNeverSlowerWhereNothingCompetes) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const RandomGraph narrow = random_graph(seed, Links::kOwn, Windows::kSome);
    RandomGraph wide = narrow;
    for (double& bandwidth : wide.bandwidths) bandwidth *= 1.3;
    EXPECT_LE(wide.end(), narrow.end() + kClock) << "seed " << seed;
  }
}

// Max-min sharing itself is not monotone, so the two tests above say "where nothing competes".
TEST(Property, UnderFairSharingAFasterLinkMayDelayTheEnd) {
  // A: 10 B over links 0 and 1; B: 100 B over links 1 (10 B/s) and 2 (8 B/s).
  const auto end_with = [](double first) {
    SmallGraph graph({first, 10, 8});
    graph.send(graph.connect({0, 1}), 10);
    graph.send(graph.connect({1, 2}), 100);
    return graph.end();
  };
  EXPECT_NEAR(end_with(2), 12.5, 1e-4);  // A takes 2 B/s, B its full 8 B/s: 100 / 8
  // A and B share link 1 at 5 B/s until A ends at 2 s; B's other 90 B take 90 / 8 = 11.25 s.
  EXPECT_NEAR(end_with(5), 13.25, 1e-4);
}

// The graph twice, one iteration after the other.
RandomGraph twice(const RandomGraph& once) {
  RandomGraph both = once;
  const auto count = static_cast<TaskId>(once.tasks.size());
  RandomTask barrier;
  for (TaskId task = 0; task < count; ++task) barrier.after.push_back(task);
  both.tasks.push_back(barrier);
  for (RandomTask task : once.tasks) {
    for (TaskId& before : task.after) before += count + 1;
    task.after.push_back(count);
    both.tasks.push_back(task);
  }
  return both;
}

TEST(Property, TwoIterationsInOneGraphEndAtTheSumOfTheTwoOneByOne) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomGraph once = random_graph(seed, Links::kShared, Windows::kSome);
    for (auto& c : once.connections) c.idle_limit = c.rtt * 1.1;
    const SmallGraph graph = once.build();
    const Timeline first = graph.run(), second = graph.run(first.connections);
    EXPECT_NEAR(twice(once).end(), first.end.value + second.end.value, kClock) << "seed " << seed;
  }
}

// The timeline's numbers, bit by bit, of a simulation in a process of its own.
std::vector<double> simulated_in_a_child(const SmallGraph& graph) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const Timeline timeline = graph.run();
    std::vector<double> all = timeline.start;
    all.insert(all.end(), timeline.finish.begin(), timeline.finish.end());
    for (const auto& flow : timeline.flows)
      all.insert(all.end(), {static_cast<double>(flow.connection), flow.start, flow.finish, flow.bytes});
    const std::size_t size = all.size() * sizeof(double);
    const bool written = write(ends[1], all.data(), size) == static_cast<ssize_t>(size);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::vector<double> all;
  for (double number = 0; read(ends[0], &number, sizeof number) == sizeof number;) all.push_back(number);
  close(ends[0]);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return all;
}

TEST(Property, TheSameGraphGivesTheSameTimelineToTheLastBit) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const SmallGraph graph = random_graph(seed, Links::kShared, Windows::kSome).build();
    const auto once = simulated_in_a_child(graph);
    EXPECT_FALSE(once.empty());
    EXPECT_EQ(once, simulated_in_a_child(graph)) << "seed " << seed;
  }
}

TEST(Property, ASecondRunInTheSameProcessAgreesWithinTheClock) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const SmallGraph graph = random_graph(seed, Links::kShared, Windows::kSome).build();
    const Timeline one = graph.run(), two = graph.run();
    ASSERT_EQ(one.flows.size(), two.flows.size());
    for (std::size_t i = 0; i < one.finish.size(); ++i) EXPECT_NEAR(one.finish[i], two.finish[i], kClock);
    for (std::size_t i = 0; i < one.flows.size(); ++i) EXPECT_EQ(one.flows[i].bytes, two.flows[i].bytes);
  }
}

}  // namespace
}  // namespace slmsim::property_test
