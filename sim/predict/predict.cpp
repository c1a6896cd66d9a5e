#include "sim/predict/predict.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <set>
#include <utility>

#include <boost/range/iterator_range.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/quantity.h"
#include "sim/base/work.h"
#include "sim/collective/alone.h"
#include "sim/compute/operator_graph.h"
#include "sim/predict/alike.h"
#include "sim/predict/assumption.h"
#include "sim/predict/iterations.h"
#include "sim/predict/passages.h"
#include "sim/predict/repeating.h"
#include "sim/scenario/group.h"

namespace slmsim {
namespace {

// Alpa's formula, which is for models whose weights are all trained.
FlopsPerSecond rate(const PlanRequest& request, const Plan& plan, double iterations, Seconds time, int gpus) {
  const double sequences = request.scenario.training.batch;
  const bool anew = plan.recompute == Recompute::kFull;
  const Flops flops = request.model.lora ? model_flops(request.operators, anew) * sequences
                                         : reported_flops(request.model, sequences, anew);
  return flops * iterations / time / static_cast<double>(gpus);
}

// Beyond this multiple of the memory, times are of no use and the graphs of absurd models take long.
constexpr double kTimedMisfit = 16;

constexpr int kMostPassages = 3;  // tries of passages, each with fewer, before all tasks are lowered

bool simulates_all(const PredictOptions& options) { return options.whole || options.simgrid; }

// `alike`: as for lower_alike.
Lowered lower(const LowerRequest& request, const PredictOptions& options, Colouring alike = {}) {
  return simulates_all(options) ? request.plan.technique->lower(request) : lower_alike(request, alike);
}

// Time of a last round of fewer steps, after full ones or, without any, at the job's beginning. `passages`: of the full ones.
Seconds time_of_rest(const LowerRequest& request, const PredictOptions& options, int steps, PassageRules& passages,
                     const std::vector<ConnectionState>& before) {
  if (steps == 0) return {};
  Plan plan = request.plan;
  plan.workload.steps = steps;
  LowerRequest rest{plan, request.operators, request.scenario, request.network};
  if (!passages.step.empty()) rest.passages = &passages;
  while (true) {
    const TaskGraph graph = lower(rest, options).graph;
    const Timeline timeline =
        simulate(graph, before.size() == graph.connections().size() ? before : std::vector<ConnectionState>{});
    if (out_of_step(graph, timeline).empty()) return timeline.end;
    rest.passages = nullptr;
  }
}

// The job's first steps, which are lowered with `warming`.
IterationTimes times_of_warm_up(const LowerRequest& request, const PredictOptions& options) {
  Plan plan = request.plan;
  plan.workload.warming = true;
  return simulate_iterations(lower({plan, request.operators, request.scenario, request.network}, options).graph,
                             {.always_engine = options.simgrid, .coarse = options.coarse});
}

// Converts per-round figures to per-step.
void divide_by_steps(Prediction& out, double steps) {
  for (Seconds* part :
       {&out.first_iteration, &out.iteration, &out.breakdown.compute, &out.breakdown.exposed_communication,
        &out.breakdown.pipeline_bubble, &out.breakdown.optimizer, &out.breakdown.overhead})
    *part = *part / steps;
  for (auto& use : out.links) use.bytes = use.bytes / steps;
  for (auto& use : out.interconnects) use.bytes = use.bytes / steps;
  if (out.basis) out.basis = *out.basis * (1 / steps);
}

// Packet loss and overlapping transfers that never repeat are random.
std::string remark_on_spread(const Prediction& p) {
  return fmt::format("iterations vary, times are accurate to: {} on {} {:.1f} %", p.technique->name,
                     group_text(p.group), std::ceil(1000 * p.spread - 1e-6) / 10);
}

// No GPU reaches this: the profile or share of the peak belongs to another GPU or is wrong, or the peak is.
std::string remark_on_mfu(const Prediction& p) {
  return fmt::format(
      "faster than the data sheet's peak; the profile, matrix_efficiency or peak of its GPUs is wrong: {} on {} with "
      "an MFU of {:.0f} %",
      p.technique->name, group_text(p.group), 100 * p.mfu);
}

// Micro-batches whose sequences are dealt evenly but do not divide: the busiest GPU computes more than its share, and more at
// once than training.micro_batch where no number of micro-batches keeps that.
void add_remarks_on_padding(Prediction& p, const PlanRequest& request) {
  const Training& training = request.scenario.training;
  if (!deals_sequences(*p.plan)) return;
  const auto [least, most] = std::ranges::minmax(p.plan->stages.front().batch_shares);
  const double sequences = micro_batch_sequences(*p.plan, training);
  const long at_once = std::lround(most * sequences), all = p.plan->micro_batches * at_once;
  if (at_once - std::lround(least * sequences) > 1) return;
  const std::string place = fmt::format("{} on {}", p.technique->name, group_text(p.group));
  if (training.micro_batch > 0 && at_once > training.micro_batch && request.options.micro_batches() == 0)
    p.remarks.push_back(fmt::format(
        "micro_batch {} does not divide a batch of {} over {} GPUs, batches of {} do: {} computes up to {} at once",
        training.micro_batch, training.batch, p.gpus, nearest_batches(training.batch, p.gpus * training.micro_batch),
        place, at_once));
  if ((all - 1) * p.gpus >= training.batch)
    p.remarks.push_back(
        fmt::format("micro-batches do not divide evenly: {} takes the time of {} sequences, not {} ({} x {} GPUs)",
                    place, all * p.gpus, training.batch, all, p.gpus));
}

// nullopt where passages do not hold, whose GPUs it adds to `apart`. Link use is reported for whole iterations.
std::optional<Iteration> simulate_all(const PredictOptions& options, const Lowered& lowered, bool pipeline,
                                      std::set<int>& apart) {
  const TaskGraph& graph = lowered.graph;
  Iteration all;
  all.times = simulate_iterations(
      graph, {.record_flows = options.links, .always_engine = options.simgrid, .coarse = options.coarse});
  if (std::set<int> gpus = out_of_step(graph, all.times.last); !gpus.empty()) {
    apart.merge(gpus);
    return std::nullopt;
  }
  all.parts = break_down(graph, all.times.last, pipeline);
  all.basis = lowered.basis;
  if (!options.links) return all;
  add_inner_flows(graph, all.times.last);
  all.traffic = traffic_use(graph, all.times.last, options.timelines);
  return all;
}

// Lowers all micro-batches. `passages` learns how long a round's repeated steps are, where it does not know yet.
Lowered lower_all(const LowerRequest& request, const PredictOptions& options, const Colouring& alike,
                  PassageRules& passages) {
  Lowered lowered = lower(request, options, alike);
  if (lowered.graph.repeated_steps().empty() || !passages.step.empty()) return lowered;
  passages.step = length_of_steps(lowered.graph, simulate(lowered.graph));
  return lower(request, options, alike);
}

Iteration simulate_iteration(const PredictOptions& options, const LowerRequest& to_lower, const Prediction& out,
                             PassageRules& passages) {
  const bool pipeline = out.plan->stages.size() > 1, whole = simulates_all(options) || options.timelines;
  LowerRequest request = to_lower;
  if (!whole) request.passages = &passages;
  for (int tries = 1;; ++tries) {
    std::set<int> apart;
    Colouring alike;
    if (auto counted = whole ? std::nullopt : simulate_repeating(request, alike, options.links, &apart))
      return std::move(*counted);
    if (apart.empty()) {
      auto all = simulate_all(options, lower_all(request, options, alike, passages), pipeline, apart);
      if (all) return std::move(*all);
    }
    passages.in_full.merge(apart);
    if (tries == kMostPassages) request.passages = nullptr;
  }
}

void simulate_job(const PlanRequest& request, const PredictOptions& options, const LowerRequest& to_lower,
                  Prediction& out) {
  const Training& training = request.scenario.training;
  const Workload& workload = out.plan->workload;
  PassageRules passages;
  Iteration iteration = simulate_iteration(options, to_lower, out, passages);
  IterationTimes& times = iteration.times;
  out.first_iteration = times.first();
  out.iteration = times.steady();
  out.spread = times.spread;
  bool repeats = times.repeats;
  out.breakdown = iteration.parts;
  out.links = std::move(iteration.traffic.links);
  out.interconnects = std::move(iteration.traffic.interconnects);
  // Where several iterations make a cycle, they differ in how long the GPU waits.
  wait_instead(out.breakdown, out.iteration - times.last.end);
  out.basis = iteration.basis;
  out.iterations = steps_of_job(training, request.options);
  const double steps = workload.steps, rounds = std::floor(out.iterations / steps);
  const int rest = static_cast<int>(out.iterations - rounds * steps);
  const Seconds rest_time = time_of_rest(to_lower, options, rest, passages,
                                         rounds > 0 ? times.last.connections : std::vector<ConnectionState>{});
  if (workload.exchange == Exchange::kParameters)
    out.round = RoundTimes{workload.steps, out.iteration, rounds, rest, rest_time};
  if (workload.steps > 1) divide_by_steps(out, steps);
  const double sequences = training.batch;
  out.trial_iterations = std::min(
      out.iterations, std::ceil(training.blocks_per_epoch * request.scenario.selection.epsilon_epochs / sequences));
  // The share of a round that the trial does not finish.
  const double trial_rounds = std::floor(out.trial_iterations / steps);
  out.trial = times.total(trial_rounds) + out.iteration * (out.trial_iterations - trial_rounds * steps);
  out.startup = request.options.startup();
  out.job = out.startup + times.total(rounds) + rest_time;
  // A last round that is not full exchanges as much as a full one, and its end is as uncertain in seconds.
  if (rest > 0) out.spread = std::max(out.spread, times.spread * (times.steady() * (rounds + 1) / out.job));
  if (workload.warm_up > 0) {
    const IterationTimes warm = times_of_warm_up(to_lower, options);
    repeats = repeats && warm.repeats;
    const auto after_warm_up = [&](double count) {
      const double first = std::min<double>(count, workload.warm_up);
      return warm.total(first) + times.total(count - first);
    };
    out.warm_up = WarmUp{workload.warm_up, warm.steady()};
    out.spread = std::max(out.spread, warm.spread);
    out.first_iteration = warm.first();
    out.trial = after_warm_up(out.trial_iterations);
    out.job = out.startup + after_warm_up(out.iterations);
  }
  out.rate_per_gpu = rate(request, *out.plan, 1.0, out.iteration, out.gpus);
  out.trial_rate_per_gpu = rate(request, *out.plan, out.trial_iterations, out.trial, out.gpus);
  const double passes = workload.backward ? 1.0 : 1.0 / 3.0;
  out.tokens_per_second = sequences * static_cast<double>(request.model.sequence) / out.iteration.value;
  out.mfu = model_flops(request.operators) * (sequences * passes) / out.iteration /
            peak_of_group(request.scenario, request.group);
  out.connections = std::move(times.before_last);
  if (!repeats) out.remarks.push_back(remark_on_spread(out));
  if (out.mfu > 1) out.remarks.push_back(remark_on_mfu(out));
}

}  // namespace

FlopsPerSecond peak_of_group(const Scenario& scenario, const Group& group) {
  FlopsPerSecond peak{0};
  for (const int device : group.devices)
    peak += peak_of(scenario.platform.devices[device].gpu, scenario.training.precision);
  return peak;
}

Flops model_flops(const OperatorGraph& operators, bool anew) {
  double sum = 0;
  for (const auto v : boost::make_iterator_range(boost::vertices(operators))) {
    const Operator& op = operators[v];
    const double backward = op.unreached ? 0 : op.frozen ? 1 : 2;
    sum += op.matrix.flops() * (1 + backward + (anew ? 1 : 0));
  }
  return Flops{sum};
}

Prediction predict_one(const PlanRequest& request, const Network& network, const PredictOptions& options) {
  Prediction out;
  out.model = request.model.name;
  out.technique = request.options.technique;
  out.group = request.group.names;
  out.gpus = static_cast<int>(request.group.devices.size());
  PlanResult result = make_plan(request);
  if (!result.plan) {
    out.status = Status::kUnsupported;
    out.reason = std::move(result.reason);
    return out;
  }
  out.plan = std::move(result.plan);
  if (out.technique->remarks) out.remarks = out.technique->remarks(*out.plan);
  add_remarks_on_padding(out, request);
  if (const std::string old = too_old_gpu(request.scenario, request.group.devices); !old.empty())
    out.remarks.push_back(old + ": its kernels do not run there but are counted anyway; choose another software.stack");
  out.memory = memory_of(*out.plan, request.operators, request.scenario);
  const bool misfit = std::any_of(out.memory.begin(), out.memory.end(), [](const auto& m) { return !m.fits(); });
  const bool edge = std::any_of(out.memory.begin(), out.memory.end(), [](const auto& m) { return m.at_edge(); });
  out.fit = misfit ? Fit::kDoesNotFit : edge ? Fit::kAtEdge : Fit::kFits;
  if (out.fit == Fit::kAtEdge)
    out.remarks.push_back(
        fmt::format("at the edge of GPU memory: more than {:.0f} % taken; it may run slower", 100 * kEdgeShare));
  if (misfit && !options.ignore_memory) {
    out.status = Status::kOutOfMemory;
    if (options.advice) out.reason = out_of_memory_advice(request, *out.plan);
    const DeviceMemory* most = fullest(out.memory);
    if (!options.time_misfits || most->needed() > most->limit * kTimedMisfit) return out;
  }
  out.stores = stores_of(*out.plan, request.operators, request.scenario);
  for (const Store& store : out.stores) {
    if (!store.fits()) out.fit = Fit::kDoesNotFit;
    if (store.fits() || options.ignore_memory || out.status != Status::kOk) continue;
    out.status = Status::kOutOfMemory;
    out.reason = fmt::format("{} needs {} of {}", store.name, to_text(store.used), to_text(store.limit));
  }
  if (out.status != Status::kOk && !options.time_misfits) return out;
  LowerRequest to_lower{*out.plan, request.operators, request.scenario, network};
  to_lower.most_tasks = options.most_tasks;
  simulate_job(request, options, to_lower, out);
  out.bill = bill_of(request.scenario, request.group, out.job);
  return out;
}

void scale_times(Prediction& p, double factor) {
  for (Seconds* time :
       {&p.first_iteration, &p.iteration, &p.trial, &p.breakdown.compute, &p.breakdown.exposed_communication,
        &p.breakdown.pipeline_bubble, &p.breakdown.optimizer, &p.breakdown.overhead})
    *time = *time * factor;
  if (p.round) p.round->time = p.round->time * factor, p.round->rest_time = p.round->rest_time * factor;
  if (p.warm_up) p.warm_up->iteration = p.warm_up->iteration * factor;
  p.rate_per_gpu = p.rate_per_gpu * (1 / factor);
  p.trial_rate_per_gpu = p.trial_rate_per_gpu * (1 / factor);
  p.tokens_per_second /= factor;
  p.mfu /= factor;
}

std::string name_of(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kOutOfMemory:
      return "oom";
    case Status::kUnsupported:
      return "unsupported";
  }
  return "";
}

std::string name_of(Fit fit) {
  constexpr const char* kNames[] = {"fits", "at the edge", "does not fit"};  // in the order of Fit
  return kNames[static_cast<std::size_t>(fit)];
}

std::string group_text(const std::vector<std::string>& all) {
  constexpr std::size_t kNamedInFull = 4;
  const std::vector<std::string> names = in_ranges(all);
  if (names.size() <= kNamedInFull) return fmt::format("{}", fmt::join(names, "+"));
  return fmt::format("{}+...+{} ({})", names.front(), names.back(), all.size());
}

namespace {

void note_assumptions(const std::vector<Assumption>& all, const Scenario& scenario, Prediction& prediction) {
  std::set<std::string> programs;
  for (const auto& one : assumptions_of(all, scenario, prediction)) {
    prediction.assumed.push_back(one.about);
    prediction.assumed.insert(prediction.assumed.end(), one.more.begin(), one.more.end());
    if (!one.measure.empty()) programs.insert(one.measure);
  }
  prediction.measures.assign(programs.begin(), programs.end());
}

}  // namespace

std::vector<Prediction> predict(const Scenario& scenario, const PredictOptions& options) {
  const auto assumptions = assumptions_of(scenario);
  std::deque<OperatorGraph> operators;
  std::vector<PlanRequest> questions;
  for (const auto& model : scenario.models) {
    operators.push_back(build_operator_graph(model));
    for (const auto& group : scenario.groups) {
      for (const auto& technique : scenario.techniques) {
        if (!options.only || options.only == technique.technique)
          questions.push_back({scenario, model, operators.back(), group, technique});
      }
    }
  }
  // The most GPUs and layers first, because these take longest: threads then finish at about the same time.
  std::vector<std::size_t> order(questions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t i) {
    return std::pair(questions[i].group.devices.size(), questions[i].model.layers);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  // SimGrid has one engine per process.
  const std::size_t threads = std::min(options.simgrid ? 1 : options.threads, order.size());
  std::optional<Network> network;  // where one thread predicts all
  if (threads <= 1) network.emplace(scenario.platform);
  PredictOptions without_advice = options;
  without_advice.advice = false;
  std::vector<Prediction> out(questions.size());
  in_parallel(order.size(), threads, [&](std::size_t i) {
    std::optional<Network> own;  // a network caches the routes it was asked for: one per thread
    if (threads > 1) own.emplace(scenario.platform);
    stop_if(options.stop);
    Prediction& prediction = out[order[i]];
    prediction = predict_one(questions[order[i]], own ? *own : *network, without_advice);
    note_assumptions(assumptions, scenario, prediction);
  });
  // Once all are known, because advice names the techniques that fit.
  in_parallel(options.advice ? questions.size() : 0, threads, [&](std::size_t i) {
    Prediction& p = out[i];
    if (p.status != Status::kOutOfMemory || !p.reason.empty()) return;
    stop_if(options.stop);
    p.reason = out_of_memory_advice(questions[i], *p.plan, out);
  });
  return out;
}

TaskGraph iteration_graph(const Scenario& scenario, const Transformer& model, const Plan& plan) {
  const OperatorGraph operators = build_operator_graph(model);
  const Network network(scenario.platform);
  return plan.technique->lower({plan, operators, scenario, network}).graph;
}

}  // namespace slmsim
