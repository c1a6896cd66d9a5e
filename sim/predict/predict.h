// One technique on one group of GPUs: whether it runs, whether it fits and how long it takes.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/predict/measure.h"
#include "sim/scenario/scenario.h"
#include "sim/technique/common/memory.h"
#include "sim/technique/common/technique.h"

namespace slmsim {

// Cost of a job: money from the prices of its VMs or GPUs, energy from the power limits of its boards.
inline constexpr double kJoulesPerKwh = 3.6e6;

struct Bill {
  std::optional<double> cost;  // in `currency`; nothing where a price is not stated
  std::string currency;        // ISO 4217
  std::optional<Joules>
      energy;  // upper bound: the GPUs' boards at full power or at their limit; nothing where a GPU does not state it
};

// Bill of a job of this length on these GPUs. Where `plan.dollars_per_hour` names all of them, its prices apply; else every VM
// that holds any of them is paid for as a whole.
Bill bill_of(const Scenario& scenario, const Group& group, Seconds job);

enum class Status { kOk, kOutOfMemory, kUnsupported };
// "ok", "oom", "unsupported", for scripts.
std::string name_of(Status status);

// Whether memory suffices. kAtEdge: it does, but a caching allocator is short of it (DeviceMemory::at_edge).
enum class Fit { kFits, kAtEdge, kDoesNotFit };
// "fits", "at the edge", "does not fit".
std::string name_of(Fit fit);

// A round of several optimizer steps (local SGD).
struct RoundTimes {
  int steps = 1;     // of a full round
  Seconds time;      // steady
  double count = 0;  // number of full rounds in the job
  int rest = 0;      // steps of a last, shorter round; 0: none
  Seconds rest_time;
};

// A warm-up: the first steps of a job exchange whole gradients, the others compress them.
struct WarmUp {
  int steps = 0;
  Seconds iteration;  // steady
};

// An iteration is an optimizer step. For rounds, it is the round's mean step: `RoundTimes::time` / steps; the same holds for
// the breakdown, link use (bytes) and the basis.
struct Prediction {
  std::string model;
  const Technique* technique = nullptr;
  std::vector<std::string> group;
  int gpus = 0;
  Status status = Status::kOk;
  Fit fit = Fit::kFits;  // without meaning where kUnsupported
  std::string reason;    // the cause and the nearest change that would help; empty where kOk
  Seconds job;           // whole job, start-up included
  Seconds startup;
  Bill bill;                                    // for the whole job
  Seconds first_iteration, iteration;           // cold, and steady (mean over the cycle)
  double spread = 0;                            // relative; bounds the times of further iterations (see IterationTimes)
  Seconds trial;                                // the first epsilon epochs, without the start-up
  double iterations = 0, trial_iterations = 0;  // optimizer steps
  std::optional<WarmUp> warm_up;                // precedes the steps that the other figures describe
  std::optional<RoundTimes> round;              // where replicas exchange parameters
  FlopsPerSecond rate_per_gpu;                  // by Alpa's formula, for the steady iteration
  double tokens_per_second = 0;                 // of all GPUs, steady
  // Model FLOPs utilisation (PaLM, arXiv 2204.02311, appendix B): FLOPs of the model's products, without recomputation, over
  // the data sheet's peak in training precision (fp32's where a GPU lacks it).
  double mfu = 0;
  FlopsPerSecond trial_rate_per_gpu;           // the same over the trial
  std::vector<DeviceMemory> memory;            // empty where kUnsupported
  std::vector<Store> stores;                   // host memory and drives of nodes that describe them
  Breakdown breakdown;                         // of the steady iteration
  std::vector<LinkUse> links;                  // where requested
  std::vector<InterconnectUse> interconnects;  // where requested, for nodes that describe their inside
  std::optional<Plan> plan;
  std::vector<std::string> remarks;          // of the technique on its plan
  std::vector<std::string> assumed;          // keys of its unmeasured inputs; set by predict()
  std::vector<std::string> measures;         // the programs that measure them
  std::optional<TimeBasis> basis;            // where measured kernels were used; see Lowered
  std::vector<ConnectionState> connections;  // before the last simulated iteration, which `breakdown` describes

  // Whether times and rates are set; out-of-memory predictions have them as if they fitted.
  bool is_timed() const { return status == Status::kOk || iteration > Seconds{0}; }
  double gpu_hours() const { return job.value / 3600.0 * gpus; }
};

// "gat+amst"; VMs numbered in sequence as a range, "v0..v511", and of many ranges only the first and the last.
std::string group_text(const std::vector<std::string>& all);

struct PredictOptions {
  bool links = false;      // measure link use
  bool timelines = false;  // with `links`, keep interconnects' rates over time; every micro-batch is simulated
  const Technique* only = nullptr;
  bool whole = false;          // simulate every GPU, even where some are equal
  bool simgrid = false;        // simulate every GPU with SimGrid: slower, and equal up to its solver's precision
  bool advice = true;          // find a change that makes the plan fit; costs about what many plans do
  bool ignore_memory = false;  // treat out-of-memory plans as if they fitted
  bool time_misfits =
      false;  // simulate out-of-memory plans too, unless they need many times the memory; they stay kOutOfMemory
  bool coarse = false;  // a first iteration that is long stands for all
  // The largest graph that is simulated; predict_one() throws TooManyTasks for a larger one.
  std::size_t most_tasks = std::numeric_limits<std::size_t>::max();
  std::size_t threads = 1;          // for predict(): runs in parallel; same results
  std::function<bool()> stop = {};  // for predict(): called before each prediction; throws Stopped if it returns true
};

// Multiplies the times of iterations, and all that follows from them, by a factor; the job and its bill stay.
void scale_times(Prediction& prediction, double factor);

// One technique on one group.
Prediction predict_one(const PlanRequest& request, const Network& network, const PredictOptions& options = {});

// Every technique on every group of the scenario for every model, in the order model, group, technique.
std::vector<Prediction> predict(const Scenario& scenario, const PredictOptions& options = {});

// FLOPs for one sequence: all products forward, with `anew` twice, and backward those for gradients of inputs and of weights.
Flops model_flops(const OperatorGraph& operators, bool anew = false);

// The data sheets' rate of a group's GPUs together, in training precision.
FlopsPerSecond peak_of_group(const Scenario& scenario, const Group& group);

// The task graph of one iteration of a plan, for traces.
TaskGraph iteration_graph(const Scenario& scenario, const Transformer& model, const Plan& plan);

// The nearest change that would let an out-of-memory plan fit.

// "gat/0 needs 28.1 GiB of 21.6 GiB (activations 18.2 GiB, ...): 6.5 GiB too much; it would fit with ...".
// `known`: predictions of the scenario, whose techniques on this group are not planned again.
std::string out_of_memory_advice(const PlanRequest& request, const Plan& plan, std::span<const Prediction> known = {});

// The fewest micro-batches, `least` or more, with which a technique fits in memory; 0: no number up to the batch does.
int fitting_micro_batches(const PlanRequest& request, int least);

// The largest part of a GPU's memory: "activations 18.2 GiB".
std::string largest_part(const DeviceMemory& memory);

}  // namespace slmsim
