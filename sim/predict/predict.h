// One technique on one group of GPUs: does it run, does it fit, how long does it take.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/memory/memory.h"
#include "sim/predict/bill.h"
#include "sim/predict/interconnect.h"
#include "sim/predict/measure.h"
#include "sim/predict/prediction_memo.h"
#include "sim/technique/technique.h"

namespace slmsim {

enum class Status { kOk, kOutOfMemory, kUnsupported };
// "ok", "oom", "unsupported", as scripts read it.
std::string name_of(Status status);

// Where several optimizer steps make a round.
struct RoundTimes {
  int steps = 1;     // of a full round
  Seconds time;      // steady
  double count = 0;  // full rounds of the job
  int rest = 0;      // steps of a last round that is not full; 0: there is none
  Seconds rest_time;
};

// Where the first steps of a job exchange whole gradients and the others compress them.
struct WarmUp {
  int steps = 0;
  Seconds iteration;  // steady
};

// An iteration is an optimizer step: of a round its mean step, `RoundTimes::time` / steps, and so are the breakdown, the use of
// links (bytes) and the basis.
struct Prediction {
  std::string model;
  const Technique* technique = nullptr;
  std::vector<std::string> group;
  int gpus = 0;
  Status status = Status::kOk;
  std::string reason;  // why not, and the nearest change that would help; empty where kOk
  Seconds job;         // whole job with its start-up
  Seconds startup;
  Bill bill;                                    // of the whole job
  Seconds first_iteration, iteration;           // cold, and steady (mean over the cycle)
  double spread = 0;                            // relative, of the times of further iterations (see IterationTimes)
  Seconds trial;                                // the first epsilon epochs, without the start-up
  double iterations = 0, trial_iterations = 0;  // optimizer steps
  std::optional<WarmUp> warm_up;                // before what all else is told of
  std::optional<RoundTimes> round;              // where replicas exchange parameters
  FlopsPerSecond rate_per_gpu;                  // by Alpa's formula, from the steady iteration
  double tokens_per_second = 0;                 // of all GPUs, steady
  // Model FLOPs utilisation (PaLM, arXiv 2204.02311, appendix B): FLOPs of the model's products, without what is computed
  // anew, over the data sheet's peak in training precision; fp32's where a GPU lacks it.
  double mfu = 0;
  FlopsPerSecond trial_rate_per_gpu;           // the same over the trial
  std::vector<DeviceMemory> memory;            // empty where kUnsupported
  std::vector<Store> stores;                   // host memory and drives of nodes that describe them
  Breakdown breakdown;                         // of the steady iteration
  std::vector<LinkUse> links;                  // where asked for
  std::vector<InterconnectUse> interconnects;  // likewise, of nodes that describe their inside
  std::optional<Plan> plan;
  std::vector<std::string> remarks;          // of the technique on its plan
  std::vector<std::string> assumed;          // keys that state what it rests on and nobody measured; by predict()
  std::vector<std::string> measures;         // the programs that measure these
  std::optional<TimeBasis> basis;            // where measured kernels were used, see Lowered
  std::vector<ConnectionState> connections;  // before the last iteration simulated, which `breakdown` describes

  // Whether times and rates are there: those of what does not fit are as if it did.
  bool is_timed() const { return status == Status::kOk || iteration > Seconds{0}; }
  double gpu_hours() const { return job.value / 3600.0 * gpus; }
};

// "gat+amst"; of many VMs those numbered on as a range, "v0..v511", and of many ranges only the first and the last.
std::string group_text(const std::vector<std::string>& all);

struct PredictOptions {
  bool links = false;  // measure link use; costs as much as the simulation
  const Technique* only = nullptr;
  bool whole = false;              // simulate every GPU, also where some are alike
  bool simgrid = false;            // by SimGrid, every GPU: slower, the same to its solver's precision
  PredictionMemo* memo = nullptr;  // of predict(): what many predictions have in common
  bool advice = true;              // tell what would help where memory does not suffice; costs as much as many plans
  bool ignore_memory = false;      // what does not fit counts as if it did
  bool time_misfits =
      false;  // simulate what does not fit too, unless it needs many times the memory; it stays kOutOfMemory
  std::size_t threads = 1;          // of predict(): so many predictions at once; the same answers
  std::function<bool()> stop = {};  // of predict(): asked before each prediction; throws Stopped where it says so
};

// One technique on one group.
Prediction predict_one(const PlanRequest& request, const Network& network, const PredictOptions& options = {});

// Every technique on every group of the scenario for every model, in the order model, group, technique.
std::vector<Prediction> predict(const Scenario& scenario, const PredictOptions& options = {});

// The task graph of one iteration of a plan, for traces.
TaskGraph iteration_graph(const Scenario& scenario, const Transformer& model, const Plan& plan);

}  // namespace slmsim
