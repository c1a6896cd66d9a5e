// Division of a pipeline into stages: consecutive layers on GPUs. Alpa's inter-operator planner (arXiv 2201.12023,
// section 5), with the traffic between stages, which Alpa omits.
//
// An iteration of M micro-batches takes
//   T = sum_s t_s + 2 sum_s c_s + max((M - 1) t_max, max_s r_s)
// with t_s the time of stage s for one micro-batch, forward and backward, c_s the time of sending the activations, or their
// gradient back, and t_max the largest t_s, or time from one sending to the next on the same way. Where stages are far apart,
// r_s matters: the 1F1B schedule allows w = (stages from s on) micro-batches in flight behind stage s, and the next one waits
// until the first has returned. With the return time a_s, the sum of t and 2 c from s on, r_s = floor((M - 1) / w) a_s +
// ((M - 1) mod w) times the largest t from s on. Without traffic r_s never dominates, and T is Alpa's.
//
// In Alpa's own order (pipeline_commands.h) a boundary's activations and gradients take turns: an activation leaves once the
// gradient before it has arrived, which the next stage computes after the activation before. t_max is then also at least
// 2 c_s + g_s + t_(s+1), and r_s is that of w - 1 and a_s - t_s + g_s, with g_s the part of t_s in which the stage's GPUs gather
// that gradient.
//
// The optimum is found from the last stage to the first. For every first layer, submesh and number of stages the
// dynamic program keeps all Pareto-optimal sums, t_max, r and times of the first stage, and thereby covers every t_max that
// Alpa enumerates. They are dropped if no cut with them can be faster than a known cut.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace slmsim {

// GPUs [first, last) in the order in which the pipeline runs over them.
struct Submesh {
  std::size_t first = 0, last = 0;
};

// Seconds on the way, seconds from one micro-batch's beginning to the next one's, and those of the sender's time in which its
// GPUs gather the gradient that comes back.
struct Sending {
  double time = 0, each = 0, gathered = 0;
};

struct PipelineProblem {
  std::size_t layers = 0;
  std::size_t gpus = 0;  // all of them are used
  std::vector<Submesh> submeshes;
  int micro_batches = 1;
  bool all_in_flight = false;         // GPipe: every stage keeps all micro-batches
  bool in_turn = false;               // both ways of a boundary take turns
  int ahead = 0;                      // 1F1B: further micro-batches in flight per boundary to the last stage
  std::optional<std::size_t> stages;  // absent: the best number

  // The kind of each submesh: on submeshes of one kind any stage has equal time and memory, in all problems that are
  // solved together. Empty: each submesh is a kind of its own.
  std::vector<std::size_t> kinds;

  // For a stage of layers [first, last) on a submesh: seconds per micro-batch, and the number of micro-batches that its
  // memory can keep (0: the stage does not fit).
  std::function<double(std::size_t first, std::size_t last, std::size_t submesh)> time;
  std::function<int(std::size_t first, std::size_t last, std::size_t submesh)> most_in_flight;
  // One micro-batch's activations from one submesh to the next, for a cut before `layer`; empty: ignored.
  std::function<Sending(std::size_t layer, std::size_t from, std::size_t to)> traffic;
};

struct PipelineStage {
  std::size_t first = 0, last = 0, submesh = 0;
  bool operator==(const PipelineStage&) const = default;
};

struct PipelineCut {
  std::vector<PipelineStage> stages;
  double time = 0;  // T
};

// The best cut among problems that differ only in their submeshes (the same GPUs in several orders), and the index of
// its problem: the first of equals; nothing where no cut fits. A quickly found cut of one problem bounds the search in
// all others.
struct BestCut {
  std::size_t problem = 0;
  PipelineCut cut;
};
std::optional<BestCut> cut_pipelines(const std::vector<PipelineProblem>& problems);

// T of given stages; infinite where one does not fit.
double pipeline_time(const PipelineProblem& problem, const std::vector<PipelineStage>& stages);

}  // namespace slmsim
