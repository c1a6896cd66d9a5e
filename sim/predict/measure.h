// Figures of an iteration from its timeline: where the time of the slowest GPU went, and how the links were used.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/simulate.h"

namespace slmsim {

// A part of a timeline that takes place `count` times more than simulated, directly after itself: what comes later comes
// count * length later. No `count` where everything was simulated.
struct Repetition {
  double from = 0, length = 0, count = 0;  // s

  double more() const { return length * count; }
  // How long something lasts that goes on between two times of the timeline.
  double time(double start, double finish) const {
    if (count <= 0) return finish - start;
    return finish - start + count * std::max(0.0, std::min(finish, from + length) - std::max(start, from));
  }
};

// Bytes of a flow, with what takes place again.
inline double bytes_of(const Flow& flow, const Repetition& again) {
  const double took = flow.finish - flow.start;
  return flow.bytes * (took > 0 ? again.time(flow.start, flow.finish) / took : 1);
}

// Adds up to the iteration's time.
struct Breakdown {
  Seconds compute;                // forward and backward
  Seconds exposed_communication;  // the GPU waits while a transfer of its own is under way, or no GPU computes
  Seconds pipeline_bubble;        // it waits while others compute
  Seconds optimizer;
  Seconds overhead;  // launching
};

struct LinkUse {
  std::string link;
  Bytes bytes;
  BytesPerSecond average, p90, peak;  // over the iteration; p90 by time
};

// How fast bytes crossed a link, as steps: from `time` on at `rate`, until the next step.
struct RateStep {
  double time = 0, rate = 0;  // s, B/s
};
struct LinkRates {
  int link = 0;  // index into TaskGraph::links()
  Bytes bytes;
  std::vector<RateStep> steps;  // by time; the first is not later than the first byte, the last has rate 0
};

// Seconds that each device computes, and the device that computes longest: the first of those equal within rounding.
std::vector<double> computing_times(const TaskGraph& graph);
int slowest_device(const std::vector<double>& computing);

// Breakdown of this GPU's time. In a pipeline, waiting without a transfer of its own is bubble while another GPU computes; where
// none does, messages between other stages are what it waits for. Where its host does not
// repeat, but launches without a pause from the beginning on, it launches for `launched` seconds in all.
Breakdown break_down(const TaskGraph& graph, const Timeline& timeline, bool pipeline, int device,
                     const Repetition& again = {}, std::optional<double> launched = {});
// When a GPU's host launches; nullopt where it pauses.
std::optional<std::pair<double, double>> launching_time(const TaskGraph& graph, const Timeline& timeline, int device);
// Breakdown for the GPU that computes longest.
inline Breakdown break_down(const TaskGraph& graph, const Timeline& timeline, bool pipeline) {
  return break_down(graph, timeline, pipeline, slowest_device(computing_times(graph)));
}

// Adapts the breakdown to an iteration that takes `more` (or less) because the GPU waits longer: both kinds of waiting change
// in proportion and stay above zero; a remaining decrease reduces the overhead, then computing.
void wait_instead(Breakdown& parts, Seconds more);

// Links that carried anything, in the network's order; where equal links are merged (TaskGraph::link_of), those that stand for
// others. Needs recorded flows; a flow counts with its mean rate.
std::vector<LinkRates> link_rates(const TaskGraph& graph, const Timeline& timeline);

// Turns changes of a rate (time, difference) into steps, and summarises the steps over an iteration of that length.
std::vector<RateStep> rate_steps(std::vector<std::pair<double, double>> changes);
LinkUse use_of_steps(const std::string& name, Bytes bytes, const std::vector<RateStep>& steps, Seconds whole,
                     const Repetition& again = {});

// Use of each node's links by kind: both directions of all links of a kind together, as a node's counters add them up. A link
// between two GPUs counts at both ends.
struct InterconnectUse {
  int vm = 0;                // index into Platform::vms
  std::string interconnect;  // "NVLink"
  Bytes bytes;
  BytesPerSecond average, p90, peak;  // over the iteration; p90 by time
  BytesPerSecond capacity;            // data sheet
  std::vector<RateStep> steps;        // the timeline, where requested
};

struct TrafficUse {
  std::vector<LinkUse> links;                  // that carried anything
  std::vector<InterconnectUse> interconnects;  // by nodes and their files' links; also kinds that carried nothing
};

// Needs recorded flows. `steps`: keeps the timeline of interconnects, without what takes place again.
TrafficUse traffic_use(const TaskGraph& graph, const Timeline& timeline, bool steps = false,
                       const Repetition& again = {});

}  // namespace slmsim
