// What is predicted at points of a scenario's unknowns: only the runs that are asked for, and of each only what can be
// measured or compared.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/fit/unknown.h"
#include "sim/graph/collectives/ring.h"
#include "sim/predict/predict.h"

namespace slmsim {

// What a tool sends to measure a network: a collective, warm, of all GPUs of a group, or a message from the first VM to the
// last over so many connections, warm or new ones.
struct NetworkRun {
  std::optional<Collective> collective;
  Bytes size;
  int connections = 1;  // of a message
  bool warm = true;

  bool operator==(const NetworkRun&) const = default;
};

// One model by one technique on one group of GPUs; or traffic alone, which `technique` then names and `model` does not.
struct Candidate {
  std::string model, technique;
  std::vector<std::string> group;
  std::optional<NetworkRun> network_run = {};

  bool operator==(const Candidate&) const = default;
  std::string text() const;  // "gpt2m, Data on gat+amst"
};

struct Forecast {
  Status status = Status::kUnsupported;
  double job = 0, iteration = 0, startup = 0;  // seconds, of what does not fit as if it did; 0: not timed
  double rate_per_gpu = 0, tokens_per_second = 0;
  double memory = 0, memory_share = 0;  // of the fullest GPU: bytes, and share of its limit
  double gpu_hours = 0;
  double trial = 0;       // of the first epsilon epochs, without start-up
  double trial_rate = 0;  // per GPU

  bool is_timed() const { return iteration > 0; }
  // Whether all that is needed to run is there but, perhaps, memory on the GPUs.
  bool can_run() const { return status != Status::kUnsupported && memory > 0; }
};

Forecast forecast_of(const Prediction& prediction);

// A scenario to be predicted at many points, for some cells each time.
struct Experiment {
  std::filesystem::path file;
  Overrides overrides;  // that hold at every point
  std::vector<Candidate> cells;
  std::size_t untimed = 0;                // so many of the last ones are not simulated: only whether they fit is asked
  std::vector<std::string> each = {};     // names that a * in the path of an unknown stands for, one after the other
  std::optional<ScenarioText> text = {};  // of the scenario, where no file holds it
};

// What differs at a point, and from which experiment it is.
struct Question {
  std::size_t experiment = 0;
  Overrides overrides;
};

// Answers questions on worker processes; what was asked before is not simulated again.
class Forecaster {
 public:
  explicit Forecaster(std::vector<Experiment> experiments);
  // One forecast per cell of the question's experiment; none where the scenario cannot be as asked for, and none of what was
  // not answered before `stop`.
  std::vector<std::vector<Forecast>> ask(const std::vector<Question>& questions,
                                         const std::function<bool()>& stop = {});
  std::size_t simulated() const { return known_.size(); }
  const std::vector<Experiment>& experiments() const { return experiments_; }

 private:
  std::vector<Forecast> answer(const Question& question);

  std::vector<Experiment> experiments_;
  std::vector<ScenarioFile> files_;
  std::map<std::string, std::vector<Forecast>> known_;
};

// All cells of a scenario, in the order of predict().
std::vector<Candidate> candidates_of(const Scenario& scenario);

}  // namespace slmsim
