#include "sim/search/outline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "sim/collective/communicator.h"
#include "sim/technique/common/holding.h"
#include "sim/technique/common/memory.h"
#include "sim/technique/common/technique.h"

namespace slmsim {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;                // relative: sums in another order
constexpr std::size_t kMostGpusParted = 64;       // larger groups have too many parts to try
constexpr std::size_t kMostPairsLookedAt = 4096;  // of GPUs, for the narrowest links between two sets

// Numbers of GPUs over which a mesh of this shape may divide columns, rows and sequences.
std::vector<std::array<int, 3>> divisions_of(const MeshShape& shape) {
  std::set<std::array<int, 3>> out;
  constexpr int kNone = 3;
  for (int a = 0; a <= kNone; ++a) {
    for (int b = 0; b <= kNone; ++b) {
      std::array<int, 4> over = {1, 1, 1, 1};
      over[static_cast<std::size_t>(a)] *= shape[0];
      over[static_cast<std::size_t>(b)] *= shape[1];
      out.insert({over[0], over[1], over[2]});
    }
  }
  return {out.begin(), out.end()};
}

// Columns, rows and sequences in at most this many parts.
std::vector<std::array<int, 3>> all_divisions(int gpus) {
  std::vector<std::array<int, 3>> out;
  for (int c = 1; c <= gpus; ++c) {
    for (int r = 1; c * r <= gpus; ++r) {
      for (int d = 1; c * r * d <= gpus; ++d) out.push_back({c, r, d});
    }
  }
  return out;
}

}  // namespace

OutlineBound::OutlineBound(const Space& space)
    : space_(space),
      scenario_(space.scenario()),
      operators_(build_operator_graph(space.model())),
      network_(space.scenario().platform),
      kinds_(gpu_kinds(space.scenario().platform)),
      exchanged_(trained_count(operators_)) {
  for (std::size_t v = 0; v < boost::num_vertices(operators_); ++v) {
    std::size_t first = 0;
    while (!operators_[v].is_like(operators_[first])) ++first;
    like_.push_back(first);
  }
}

Seconds OutlineBound::step(std::size_t number, Seconds limit) {
  const Choice choice = space_.choice(number);
  auto [training, options] = space_.trained(choice);
  const int count = options.micro_batches();
  if (count <= 0 || training.batch % count != 0) return Seconds{0};
  scenario_.training = training;
  const Recompute recompute = options.recompute(training.rematerialisation);
  if (!options.technique->outline) {
    const PlanResult result = make_plan({scenario_, space_.model(), operators_, space_.group(choice), options});
    return result.plan ? replicas(*result.plan) : Seconds{0};
  }
  Choice key = choice;
  std::fill_n(key.begin() + kTraining, kTrainingDimensions, 0);
  std::fill(key.begin() + kSettings, key.end(), 0);
  const auto [at, is_new] = outlines_.try_emplace(key);
  if (is_new) at->second = made(choice, options);
  const Outline& outline = at->second;
  if (!outline.plan) return Seconds{0};
  if (!may_fit(*outline.plan, space_.group(choice), count, recompute)) return Seconds{kUnbounded};
  const Group& group = space_.group(choice);
  const bool with_messages = has_usual_settings(choice);
  if (outline.cuts.orders.empty()) return pipeline(outline, count, recompute, with_messages);
  const Seconds least = distributed(group, count, recompute);
  if (least > limit || limit == Seconds{kUnbounded} || group.devices.size() > kMostGpusParted) return least;
  // The outline's stages are taken where no cut fits.
  if (!outline.stages.empty() && pipeline(outline, count, recompute, with_messages) <= limit) return least;
  const double sequences = static_cast<double>(training.batch) / count;
  const double message = with_messages ? sequences * element_bytes(training.precision) : 0.0;
  const auto* how = std::get_if<OperatorPlan>(&outline.plan->by);
  const PipelineRun run{count, sequences, message, recompute, schedule_of(*outline.plan), how ? how->ahead : 0};
  return may_be_cut(outline.cuts, run, limit) ? least : Seconds{kUnbounded};
}

OutlineBound::Outline OutlineBound::made(const Choice& choice, const TechniqueOptions& options) {
  Outline out;
  const Group& group = space_.group(choice);
  const PlanRequest request{scenario_, space_.model(), operators_, group, options};
  out.plan = options.technique->outline(request).plan;
  if (!out.plan) return out;
  if (options.technique->cuts) out.cuts = options.technique->cuts(request);
  const std::vector<Stage>& stages = out.plan->stages;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const Stage& stage = stages[s];
    StageOutline& to = out.stages.emplace_back();
    to.first = stage.first;
    to.last = stage.last;
    to.shape = stage.shape();
    std::set<int> kinds;
    for (const int device : stage.mesh) {
      if (kinds.insert(kinds_[device]).second) to.gpus.push_back(device);
    }
    if (s + 1 == stages.size()) continue;
    to.there = passage(stage.mesh, stages[s + 1].mesh);
    to.back = passage(stages[s + 1].mesh, stage.mesh);
    to.boundary = operators_[stage.last - 1].outputs;
  }
  return out;
}

// As stages send: each pair of GPUs its part.
OutlineBound::Passage OutlineBound::passage(const std::vector<int>& from, const std::vector<int>& to) {
  Passage out{paths(from, to)};
  const std::size_t pairs = std::max(from.size(), to.size());
  std::map<int, double> loads;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const Route route = network_.route(from[pair * from.size() / pairs], to[pair * to.size() / pairs]);
    for (const int link : route.links)
      loads[link] += 1.0 / static_cast<double>(pairs) / network_.links()[link].bandwidth.value;
  }
  for (const auto& [link, load] : loads) out.links = std::max(out.links, load);
  return out;
}

std::vector<OutlineBound::Passage::Path> OutlineBound::paths(const std::vector<int>& from, const std::vector<int>& to) {
  const std::size_t pairs = std::max(from.size(), to.size());
  std::set<Passage::Path> out;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    Passage::Path path = path_between(from[pair * from.size() / pairs], to[pair * to.size() / pairs]);
    path.part = 1.0 / static_cast<double>(pairs);
    out.insert(path);
  }
  return {out.begin(), out.end()};
}

const OutlineBound::Passage::Path& OutlineBound::path_between(int a, int b) {
  const auto [at, is_new] = between_.try_emplace({a, b});
  Passage::Path& path = at->second;
  if (!is_new) return path;
  const Route route = network_.route(a, b);
  const double sockets = sockets_between(scenario_.nccl_setup(), a, b);
  path = {1, kUnbounded, kUnbounded, route.latency, Seconds{0}};
  for (const int link : route.links) path.rate = std::min(path.rate, network_.links()[link].bandwidth.value);
  if (route.socket_rate.value > 0) path.rate = std::min(path.rate, route.socket_rate.value * sockets);
  if (route.windowed && route.window.steady.value > 0) {
    path.window = route.window.steady.value * sockets;
    path.rtt = route.window.rtt;
  }
  return path;
}

Seconds OutlineBound::Passage::Path::sending(double bytes) const {
  double time = bytes * part / rate;
  // As in least_end, of a message in up to three transfers.
  constexpr double kTransfers = 3;
  if (rtt > Seconds{0}) time = std::max(time, (std::ceil(bytes * part / window) - kTransfers) * rtt.value);
  return Seconds{time};
}

Seconds OutlineBound::Passage::alone(double bytes) const {
  Seconds least{kUnbounded};
  for (const Path& p : paths) least = std::min(least, p.latency + p.sending(bytes));
  return least;
}

Seconds OutlineBound::Passage::all(double bytes, int messages) const {
  Seconds most{bytes * messages * links};
  for (const Path& p : paths) most = std::max(most, p.sending(bytes) * messages);
  return most;
}

Seconds OutlineBound::pipeline(const Outline& outline, int micro_batches, Recompute recompute, bool with_messages) {
  const double sequences = static_cast<double>(scenario_.training.batch) / micro_batches;
  const std::size_t count = outline.stages.size();
  const bool apart = schedule_of(*outline.plan) == Schedule::kZeroBubble;
  struct StageTimes {
    double all = 0, back_and_forth = 0;          // of a micro-batch, and until the earlier stages may go on
    double forward = 0, sent = 0, returned = 0;  // the messages to the next stage, and back
    double path() const { return back_and_forth + sent + returned; }
  };
  std::vector<StageTimes> times(count);
  double messages = 0;
  for (std::size_t s = 0; s < count; ++s) {
    const StageOutline& stage = outline.stages[s];
    StageTimes& its = times[s];
    for (const int gpu : stage.gpus) {
      const Work& own = work(gpu, stage.shape, sequences, recompute);
      const auto sum = [&](const std::vector<double>& of) { return of[stage.last] - of[stage.first]; };
      its.all = std::max(its.all, sum(own.all));
      its.back_and_forth = std::max(its.back_and_forth, sum(apart ? own.path : own.all));
      its.forward = std::max(its.forward, sum(own.forward));
    }
    if (s + 1 == count || !with_messages) continue;
    const double bytes = stage.boundary * sequences * element_bytes(scenario_.training.precision);
    its.sent = stage.there.alone(bytes).value;
    its.returned = stage.back.alone(bytes).value;
    for (const Passage* passage : {&stage.there, &stage.back})
      messages = std::max(messages, passage->all(bytes, micro_batches).value);
  }
  const auto* how = std::get_if<OperatorPlan>(&outline.plan->by);
  double least = messages, started = 0, before = 0, behind = 0;
  for (const StageTimes& one : times) behind += one.path();
  for (std::size_t s = 0; s < count; ++s) {
    const int in_flight =
        micro_batches_in_flight(schedule_of(*outline.plan), micro_batches, count, s, how ? how->ahead : 0);
    const double rounds = std::ceil(static_cast<double>(micro_batches) / std::max(1, in_flight));
    least = std::max({least, started + micro_batches * times[s].all, before + micro_batches * times[s].back_and_forth,
                      before + rounds * behind});
    started += times[s].forward + times[s].sent;
    before += times[s].path();
    behind -= times[s].path();
  }
  return Seconds{least};
}

// Each GPU computes its own sequences.
Seconds OutlineBound::replicas(const Plan& plan) {
  if (plan.stages.size() != 1) return Seconds{0};
  const Stage& stage = plan.stages.front();
  const bool whole = std::all_of(stage.shardings.begin(), stage.shardings.end(),
                                 [](const Division& division) { return division == Division(Sharding::kBatch); });
  if (!whole || stage.batch_shares.size() != stage.mesh.size()) return Seconds{0};
  const double sequences = micro_batch_sequences(plan, scenario_.training);
  double slowest = 0, fastest = kUnbounded;
  for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
    const Work& own = work(stage.mesh[rank], {1, 1}, sequences * stage.batch_shares[rank], plan.recompute);
    const double time = own.all.back() * plan.micro_batches;
    slowest = std::max(slowest, time);
    fastest = std::min(fastest, time);
  }
  const auto* replicas = std::get_if<ReplicaPlan>(&plan.by);
  const auto* operators = std::get_if<OperatorPlan>(&plan.by);
  const bool exchanges =
      operators || std::holds_alternative<FsdpPlan>(plan.by) || (replicas && !replicas->compression.is_any());
  if (!exchanges || stage.mesh.size() < 2) return Seconds{slowest};
  // Two bytes are the shortest of a number that is not compressed.
  const double exchange = exchanged_ * 2 / exchange_rate(stage.mesh);
  return Seconds{std::max(slowest, exchange + (operators ? fastest : 0.0))};
}

// The planner cuts the stages: as QuickBound, which divides further.
Seconds OutlineBound::distributed(const Group& group, int micro_batches, Recompute recompute) {
  if (group.devices.size() > kMostGpusParted) return Seconds{0};
  const int gpus = static_cast<int>(group.devices.size());
  const double sequences = static_cast<double>(scenario_.training.batch) / micro_batches;
  std::map<int, std::pair<int, double>> kinds;  // of GPUs: their number, and the time of all operators on one
  for (const int device : group.devices) ++kinds[kinds_[device]].first;
  double rate = 0;
  for (auto& [kind, of] : kinds) {
    for (const double time : least_parts(kind, gpus, sequences, recompute)) of.second += time;
    rate += of.first / of.second;
  }
  double sum = 0;
  for (std::size_t v = 0; v < like_.size(); ++v) {
    double least = kUnbounded;
    for (const auto& [kind, of] : kinds)
      least = std::min(least, least_parts(kind, gpus, sequences, recompute)[v] / of.second);
    sum += least;
  }
  return Seconds{micro_batches * sum / rate};
}

// Whether all GPUs together have memory for one copy of the parameters, their optimizer's state and what one micro-batch keeps for
// its backward pass; with GPipe, what all of them keep.
bool OutlineBound::may_fit(const Plan& plan, const Group& group, int micro_batches, Recompute recompute) {
  const StateBytes state(scenario_.training);
  const double sequences =
      static_cast<double>(scenario_.training.batch) / (schedule_of(plan) == Schedule::kGpipe ? 1 : micro_batches);
  const Precision precision = scenario_.training.precision;
  const int layers = layer_count(operators_);
  double least = parameter_count(operators_) * state.weight + exchanged_ * state.optimizer(), limit = 0,
         kept = kUnbounded;
  for (const int device : group.devices) {
    const DeviceMemory empty = empty_memory(device, scenario_);
    limit += (empty.limit - empty.framework).value;
  }
  std::set<AttentionKernel> attentions;
  for (const int device : group.devices)
    attentions.insert(scenario_.software.attention_on(scenario_.platform.devices[device].gpu, precision));
  for (const AttentionKernel attention : attentions) {
    kept = std::min(kept, kept_by_operators(sequences, recompute, attention));
  }
  if (begins_with_input(recompute)) kept += layers * stream_elements(operators_) * sequences * element_bytes(precision);
  return least + kept <= limit * (1 + kRounding);
}

// Bytes that all operators keep for the backward pass.
double OutlineBound::kept_by_operators(double sequences, Recompute recompute, AttentionKernel attention) {
  const auto [at, is_new] = kept_.try_emplace({sequences, recompute, attention}, 0.0);
  const int layers = layer_count(operators_);
  for (std::size_t v = 0; is_new && v < like_.size(); ++v) {
    const Operator& op = operators_[v];
    if (recompute == Recompute::kNone || !is_inside_layers(op, layers))
      at->second +=
          kept_activations(op, {.sequences = sequences}, scenario_.training.precision, attention, scenario_.software);
  }
  return at->second;
}

// Rate at which the gradients of all parameters enter a VM, or a site, from the rest: the lowest.
double OutlineBound::exchange_rate(const std::vector<int>& devices) {
  const auto known = rates_.try_emplace(devices, kUnbounded);
  double& least = known.first->second;
  if (!known.second) return least;
  const Platform& platform = scenario_.platform;
  const auto consider = [&](const auto& place_of) {
    std::map<int, std::vector<int>> places;
    for (const int device : devices) places[place_of(device)].push_back(device);
    for (const auto& [place, own] : places) {
      if (places.size() < 2 || own.size() * (devices.size() - own.size()) > kMostPairsLookedAt) continue;
      std::set<int> narrowest;
      for (const int to : own) {
        for (const int from : devices) {
          if (place_of(from) == place) continue;
          const Route route = network_.route(from, to);
          narrowest.insert(*std::min_element(route.links.begin(), route.links.end(), [&](int a, int b) {
            return network_.links()[a].bandwidth < network_.links()[b].bandwidth;
          }));
        }
      }
      double rate = 0;
      for (const int link : narrowest) rate += network_.links()[link].bandwidth.value;
      least = std::min(least, rate);
    }
  };
  consider([&](int device) { return platform.devices[device].vm; });
  consider([&](int device) { return platform.vms[platform.devices[device].vm].site; });
  return least;
}

// Sums over the operators before each, for a micro-batch on a GPU of a mesh; each operator divided as is best.
const OutlineBound::Work& OutlineBound::work(int device, const MeshShape& shape, double sequences,
                                             Recompute recompute) {
  const auto [at, is_new] = work_.try_emplace({kinds_[device], shape, sequences, recompute});
  Work& out = at->second;
  if (!is_new) return out;
  const auto divisions = divisions_of(shape);
  const int layers = layer_count(operators_);
  struct LeastTimes {
    double all = kUnbounded, path = kUnbounded, forward = kUnbounded;
  };
  std::vector<LeastTimes> times(like_.size());
  for (auto* sums : {&out.all, &out.path, &out.forward}) sums->push_back(0);
  for (std::size_t v = 0; v < like_.size(); ++v) {
    if (like_[v] == v) {
      const double again = share_computed_anew(operators_[v], recompute, layers);
      for (const auto& [columns, rows, parts] : divisions) {
        const OperatorTime time = time_of(v, {columns, rows, sequences / parts}, device);
        const double all = (time.forward * (1 + again) + time.backward).value;
        times[v].all = std::min(times[v].all, all);
        times[v].path = std::min(times[v].path, all - time.weights_gradient.value);
        times[v].forward = std::min(times[v].forward, time.forward.value);
      }
    }
    const LeastTimes& of = times[like_[v]];
    out.all.push_back(out.all.back() + of.all);
    out.path.push_back(out.path.back() + of.path);
    out.forward.push_back(out.forward.back() + of.forward);
  }
  return out;
}

// For each operator the seconds of a GPU for one micro-batch, in all its parts.
const std::vector<double>& OutlineBound::least_parts(int device, int gpus, double sequences, Recompute recompute) {
  const auto [at, is_new] = parts_.try_emplace({kinds_[device], gpus, sequences, recompute});
  std::vector<double>& out = at->second;
  if (!is_new) return out;
  const auto divisions = all_divisions(gpus);
  const int layers = layer_count(operators_);
  for (std::size_t v = 0; v < like_.size(); ++v) {
    out.push_back(like_[v] == v ? kUnbounded : out[like_[v]]);
    if (like_[v] != v) continue;
    const double again = share_computed_anew(operators_[v], recompute, layers);
    for (const auto& [columns, rows, parts] : divisions) {
      const OperatorTime time = time_of(v, {columns, rows, sequences / parts}, device);
      out.back() = std::min(out.back(), (time.forward * (1 + again) + time.backward).value * columns * rows * parts);
    }
  }
  return out;
}

OperatorTime OutlineBound::time_of(std::size_t v, const Share& share, int device) const {
  return operator_time(operators_[v], share, scenario_.platform.devices[device].gpu, scenario_.training.precision,
                       scenario_.software);
}

}  // namespace slmsim
