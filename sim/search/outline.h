// Lower bound of a choice's step from the outline of its plan (Technique::outline), before operators are divided and before
// anything is lowered.
//
// With t_s the time of stage s for one of M micro-batches, on its slowest GPU and with each operator divided as is best for it,
// and p_s that time with the messages to the next stage and back, each alone on its path, a step takes at least, for every
// stage s,
//   sum_{r < s} p_r + M t_s
// and with K_s micro-batches in flight, since each waits for the return of one before it,
//   sum_{r < s} p_r + ceil(M / K_s) sum_{r >= s} p_r
// Where gradients of weights are computed apart, for which no other stage waits, the sums are without them; or the first one is
// of the forward passes only.
// and the bytes of all messages at the rate of each link. Replicas exchange the gradients of all parameters: at least one copy
// enters each VM and each site that does not hold them all, through the narrowest links of its paths.
//
// Where the planner cuts the stages, the operators are distributed freely over the GPUs as in QuickBound, each in the best of
// the parts that a mesh of these GPUs may have. All its cuts are compared with a limit by the bounds above.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/compute/operator_graph.h"
#include "sim/compute/roofline.h"
#include "sim/platform/network.h"
#include "sim/search/space.h"
#include "sim/technique/alpa/planner/stage_choice.h"
#include "sim/technique/common/plan.h"

namespace slmsim {

class OutlineBound {
 public:
  // The space must outlive this.
  explicit OutlineBound(const Space& space);

  // Lower bound of a step's time without its launch: 0 where nothing is known, infinite where the GPUs' memory cannot suffice or
  // every pipeline that the planner may cut takes longer than `limit`.
  Seconds step(std::size_t number, Seconds limit = Seconds{std::numeric_limits<double>::infinity()});

 private:
  // Least times of a micro-batch as sums over the operators before each: of all of it, of all but the gradients of weights, and
  // of the forward pass.
  struct Work {
    std::vector<double> all, path, forward;
  };
  // Messages from one stage to its neighbour, per byte of all of them.
  struct Passage {
    struct Path {
      double part = 1, rate = 0, window = 0;          // share of the bytes; bytes per second; bytes in flight
      Seconds latency, rtt;                           // rtt 0: the window never binds
      Seconds sending(double bytes) const;            // alone, without the latency
      auto operator<=>(const Path&) const = default;  // NOLINT(modernize-use-nullptr): see sim/base/unit.h
    };
    std::vector<Path> paths;                        // different ones
    double links = 0;                               // seconds per byte of the most loaded link
    Seconds alone(double bytes) const;              // of the fastest part of one message
    Seconds all(double bytes, int messages) const;  // of so many, on the slowest path or link
  };
  struct StageOutline {
    std::size_t first = 0, last = 0;
    MeshShape shape = {1, 1};
    std::vector<int> gpus;  // one of each kind
    Passage there, back;    // to the next stage and from it
    double boundary = 0;    // elements of a sequence that the next stage receives
  };
  struct Outline {
    std::optional<Plan> plan;
    std::vector<StageOutline> stages;
    StageCuts cuts;  // where a planner cuts the stages, which falls back to those above
  };
  // How a pipeline runs its micro-batches.
  struct PipelineRun {
    int micro_batches = 1;
    double sequences = 1, message = 0;  // per micro-batch: sequences, and bytes of each element sent between stages
    Recompute recompute = Recompute::kNone;
    Schedule schedule = {};
    int ahead = 0;
    bool apart() const { return schedule == Schedule::kZeroBubble; }  // gradients of weights
  };
  struct Cutting;

  Outline made(const Choice& choice, const TechniqueOptions& options);
  Passage passage(const std::vector<int>& from, const std::vector<int>& to);
  std::vector<Passage::Path> paths(const std::vector<int>& from, const std::vector<int>& to);  // different ones
  const Passage::Path& path_between(int a, int b);                                             // carries all bytes
  Seconds pipeline(const Outline& outline, int micro_batches, Recompute recompute, bool with_messages);
  Seconds replicas(const Plan& plan);
  bool may_be_cut(const StageCuts& cuts, const PipelineRun& run, Seconds limit);
  const std::array<Passage, 2>& passages(const std::vector<int>& from,
                                         const std::vector<int>& to);  // without their links
  Seconds distributed(const Group& group, int micro_batches, Recompute recompute);
  bool may_fit(const Plan& plan, const Group& group, int micro_batches, Recompute recompute);
  double kept_by_operators(double sequences, Recompute recompute, AttentionKernel attention);
  double exchange_rate(const std::vector<int>& devices);
  const Work& work(int device, const MeshShape& shape, double sequences, Recompute recompute);
  const std::vector<double>& least_parts(int device, int gpus, double sequences, Recompute recompute);
  OperatorTime time_of(std::size_t v, const Share& share, int device) const;

  const Space& space_;
  Scenario scenario_;  // with the training of the choice
  OperatorGraph operators_;
  std::vector<std::size_t> like_;  // per operator, the first one like it
  Network network_;
  std::vector<int> kinds_;
  double exchanged_ = 0;  // parameters
  std::map<Choice, Outline> outlines_;
  std::map<std::tuple<int, MeshShape, double, Recompute>, Work> work_;
  std::map<std::tuple<int, int, double, Recompute>, std::vector<double>> parts_;
  std::map<std::vector<int>, double> rates_;
  std::map<std::tuple<double, Recompute, AttentionKernel>, double> kept_;
  std::map<std::pair<int, int>, Passage::Path> between_;
  std::map<std::pair<std::vector<int>, std::vector<int>>, std::array<Passage, 2>> passages_;
};

}  // namespace slmsim
