// Predictions at points of a scenario's unknowns: only the requested runs, and only figures that can be measured or compared.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/collective/ring.h"
#include "sim/fit/unknown.h"
#include "sim/predict/predict.h"

namespace slmsim {

// Traffic that a tool sends to measure a network: a warm collective of all GPUs of a group, or a message from the first VM to
// the last over `connections`, warm or new.
struct NetworkRun {
  std::optional<Collective> collective;
  Bytes size;
  int connections = 1;  // for a message
  bool warm = true;

  bool operator==(const NetworkRun&) const = default;
};

// One model with one technique on one group of GPUs; or traffic alone, which `technique` then names and `model` does not.
struct Candidate {
  std::string model, technique;
  std::vector<std::string> group;
  std::optional<NetworkRun> network_run = {};

  bool operator==(const Candidate&) const = default;
  std::string text() const;  // "gpt2m, Data on gat+amst"
};

struct Forecast {
  Status status = Status::kUnsupported;
  double job = 0, iteration = 0, startup = 0;  // seconds, for out-of-memory plans too; 0: not timed
  double rate_per_gpu = 0, tokens_per_second = 0;
  double memory = 0, memory_share = 0;  // for the fullest GPU: bytes, and share of its limit
  double gpu_hours = 0;
  double trial = 0;       // for the first epsilon epochs, without start-up
  double trial_rate = 0;  // per GPU

  bool is_timed() const { return iteration > 0; }
  // Whether it can run, apart from GPU memory.
  bool can_run() const { return status != Status::kUnsupported && memory > 0; }
};

Forecast forecast_of(const Prediction& prediction);
std::vector<Forecast> forecasts_of(const std::vector<Prediction>& predictions);

// A scenario to predict at many points, for some cells each time.
struct Experiment {
  std::filesystem::path file;
  Overrides overrides;  // apply at every point
  std::vector<Candidate> cells;
  std::size_t untimed = 0;                // for this many last cells only memory is computed
  std::vector<std::string> each = {};     // names that replace a * in the path of an unknown, in turn
  std::optional<ScenarioText> text = {};  // the scenario's text, where no file holds it
};

// A point's overrides, and the index of its experiment. `exact`: also by a coarse forecaster.
struct Question {
  std::size_t experiment = 0;
  Overrides overrides;
  bool exact = false;
};

// Answers questions with worker processes; repeated questions are not simulated again. `coarse`: as PredictOptions::coarse.
class Forecaster {
 public:
  explicit Forecaster(std::vector<Experiment> experiments, bool coarse = false);
  // One forecast per cell of the question's experiment; none where the scenario is invalid with these values, or where `stop`
  // came before the answer.
  std::vector<std::vector<Forecast>> ask(const std::vector<Question>& questions,
                                         const std::function<bool()>& stop = {});
  // Answers from now on for these cells of its only experiment.
  void keep(const std::vector<std::size_t>& cells);
  bool is_coarse() const { return coarse_; }
  std::size_t simulated() const { return known_.size(); }
  const std::vector<Experiment>& experiments() const { return experiments_; }

 private:
  std::vector<Forecast> answer(const Question& question);

  std::vector<Experiment> experiments_;
  bool coarse_ = false;
  std::vector<ScenarioFile> files_;
  std::map<std::string, std::vector<Forecast>> known_;
};

// All cells of a scenario, in the order of predict().
std::vector<Candidate> candidates_of(const Scenario& scenario);

}  // namespace slmsim
