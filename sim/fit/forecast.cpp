#include "sim/fit/forecast.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/compute/operator_graph.h"
#include "sim/crew/pool.h"
#include "sim/fit/pilot.h"

namespace slmsim {
namespace {

using Forecasts = std::vector<Forecast>;

constexpr std::size_t kQuestionsAtOnce = 8;  // questions per worker
constexpr std::size_t kFewQuestions = 4;     // answered here, without workers

auto figures(Forecast& f) {
  return std::array<double*, 10>{&f.job,    &f.iteration,    &f.startup,   &f.rate_per_gpu, &f.tokens_per_second,
                                 &f.memory, &f.memory_share, &f.gpu_hours, &f.trial,        &f.trial_rate};
}

// The memory of a plan, without times.
Prediction memory_only(const PlanRequest& request) {
  Prediction out;
  out.status = Status::kUnsupported;
  const PlanResult result = make_plan(request);
  if (!result.plan) return out;
  out.memory = memory_of(*result.plan, request.operators, request.scenario);
  const bool fits = std::ranges::all_of(out.memory, [](const auto& m) { return m.fits(); });
  out.status = fits ? Status::kOk : Status::kOutOfMemory;
  return out;
}

}  // namespace

// Format of a crew's answers: figures as bytes, because all workers are copies of this process.
Texts to_texts(const Forecasts& forecasts) {
  Texts out;
  for (Forecast f : forecasts) {
    out.second += static_cast<char>('0' + static_cast<int>(f.status));
    for (const double* figure : figures(f)) out.first.append(reinterpret_cast<const char*>(figure), sizeof *figure);
  }
  return out;
}

void from_texts(const Texts& texts, Forecasts& forecasts) {
  forecasts.assign(texts.second.size(), {});
  const char* at = texts.first.data();
  for (std::size_t i = 0; i < forecasts.size(); ++i) {
    forecasts[i].status = static_cast<Status>(texts.second[i] - '0');
    for (double* figure : figures(forecasts[i])) {
      std::copy(at, at + sizeof *figure, reinterpret_cast<char*>(figure));
      at += sizeof *figure;
    }
  }
}

std::string Candidate::text() const {
  return fmt::format("{}{}{} on {}", model, model.empty() ? "" : ", ", technique, group_text(group));
}

Forecast forecast_of(const Prediction& p) {
  Forecast f;
  f.status = p.status;
  f.job = p.job.value;
  f.iteration = p.iteration.value;
  f.startup = p.startup.value;
  f.rate_per_gpu = p.rate_per_gpu.value;
  f.tokens_per_second = p.tokens_per_second;
  f.gpu_hours = p.gpu_hours();
  f.trial = p.trial.value;
  f.trial_rate = p.trial_rate_per_gpu.value;
  if (const DeviceMemory* memory = fullest(p.memory)) {
    f.memory = memory->total().value;
    f.memory_share = memory->total() / memory->limit;
  }
  return f;
}

std::vector<Forecast> forecasts_of(const std::vector<Prediction>& predictions) {
  std::vector<Forecast> out;
  out.reserve(predictions.size());
  for (const auto& p : predictions) out.push_back(forecast_of(p));
  return out;
}

std::vector<Candidate> candidates_of(const Scenario& scenario) {
  std::vector<Candidate> out;
  for (const auto& model : scenario.models) {
    for (const auto& group : scenario.groups) {
      for (const auto& technique : scenario.techniques)
        out.push_back({model.name, technique.technique->name, group.names});
    }
  }
  return out;
}

Forecaster::Forecaster(std::vector<Experiment> experiments, bool coarse)
    : experiments_(std::move(experiments)), coarse_(coarse) {
  files_.reserve(experiments_.size());
  for (const auto& experiment : experiments_) {
    if (experiment.text)
      files_.emplace_back(*experiment.text);
    else
      files_.emplace_back(experiment.file);
  }
}

Forecasts Forecaster::answer(const Question& question) {
  const Experiment& experiment = experiments_[question.experiment];
  std::vector<Override> overrides;
  for (const auto* list : {&experiment.overrides, &question.overrides}) {
    for (const auto& text : *list) overrides.push_back(parse_override(text));
  }
  ScenarioFile& file = files_[question.experiment];
  Scenario scenario;
  try {
    scenario = read_scenario(file.link(overrides), file.name());
  } catch (const InputError&) {
    return {};  // an invalid combination of values
  }
  const Network network(scenario.platform);
  PredictOptions options;
  options.advice = false;
  options.time_misfits = true;
  options.coarse = coarse_ && !question.exact;
  std::map<std::string, OperatorGraph> graphs;  // of models
  Forecasts out;
  for (const auto& cell : experiment.cells) {
    if (cell.network_run) {
      out.push_back(forecast_of(*cell.network_run, cell.group, scenario, network));
      continue;
    }
    out.emplace_back();
    for (const auto& model : scenario.models) {
      if (model.name != cell.model) continue;
      const auto [known, fresh] = graphs.try_emplace(model.name);
      if (fresh) known->second = build_operator_graph(model);
      const OperatorGraph& operators = known->second;
      for (const auto& group : scenario.groups) {
        for (const auto& technique : scenario.techniques) {
          if (group.names != cell.group || cell.technique != technique.technique->name) continue;
          const PlanRequest request{scenario, model, operators, group, technique};
          out.back() = forecast_of(out.size() + experiment.untimed > experiment.cells.size()
                                       ? memory_only(request)
                                       : predict_one(request, network, options));
        }
      }
    }
  }
  return out;
}

void Forecaster::keep(const std::vector<std::size_t>& cells) {
  const auto narrow = [&cells](auto& all) {
    std::remove_reference_t<decltype(all)> kept;
    for (const std::size_t c : cells) kept.push_back(all[c]);
    all = std::move(kept);
  };
  narrow(experiments_.front().cells);
  for (auto& [question, forecasts] : known_) {
    if (!forecasts.empty()) narrow(forecasts);
  }
}

std::vector<Forecasts> Forecaster::ask(const std::vector<Question>& questions, const std::function<bool()>& stop) {
  std::vector<std::string> keys;
  std::vector<std::uint64_t> open;
  std::set<std::string> asked;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    keys.push_back(fmt::format("{}{} {}", questions[i].experiment, questions[i].exact ? " exact" : "",
                               fmt::join(questions[i].overrides, "\n")));
    if (!known_.contains(keys[i]) && asked.insert(keys[i]).second) open.push_back(i);
  }
  if (open.size() > kFewQuestions) {
    AskOptions<Forecasts> asking;
    asking.at_once = kQuestionsAtOnce;
    asking.taken = [&](std::uint64_t question, const Forecasts& answer) { known_[keys[question]] = answer; };
    asking.lost = [](std::uint64_t, const std::string&) { return Forecasts{}; };  // counts as invalid
    asking.stop = stop;
    Crew crew(std::min(available_cores(), open.size()),
              in_texts<Forecasts>([&](std::uint64_t question) { return answer(questions[question]); }), {});
    QuestionQueue queue(open);
    ask_all(crew, queue, asking);
  } else {
    for (const std::uint64_t question : open) {
      if (!stop || !stop()) known_[keys[question]] = answer(questions[question]);
    }
  }
  std::vector<Forecasts> out;
  for (const auto& key : keys) {
    const auto known = known_.find(key);
    out.push_back(known == known_.end() ? Forecasts{} : known->second);
  }
  return out;
}

}  // namespace slmsim
