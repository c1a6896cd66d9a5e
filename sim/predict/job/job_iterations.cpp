#include "sim/predict/job/job_iterations.h"

#include <algorithm>
#include <cmath>

#include "sim/compute/operator_graph.h"
#include "sim/platform/network.h"
#include "sim/predict/alike.h"
#include "sim/predict/iterations.h"
#include "sim/predict/job/jitter.h"
#include "sim/predict/job/link_day.h"
#include "sim/predict/job/loading.h"
#include "sim/scenario/scenario.h"

namespace slmsim {
namespace {

struct Sample {
  std::vector<Seconds> times;
  Seconds mean() const {
    Seconds sum{0};
    for (const Seconds time : times) sum += time;
    return sum / static_cast<double>(times.size());
  }
  // Standard deviation of one, and standard error of the mean, relative to the mean.
  double sd() const {
    if (times.size() < 2) return 0;
    const Seconds usual = mean();
    double sum = 0;
    for (const Seconds time : times) sum += std::pow(time / usual - 1, 2);
    return std::sqrt(sum / static_cast<double>(times.size() - 1));
  }
  double error() const { return error_of_mean(times) / 2; }
};

// Iterations that are simulated: the steady one; one for each state of the jitter, with its factors, or without them.
enum class States { kNone, kDrawn, kUndisturbed };

class JobSimulation {
 public:
  JobSimulation(const Scenario& scenario, const Prediction& prediction)
      : scenario_(scenario),
        job_(*scenario.job),
        plan_(*prediction.plan),
        operators_(build_operator_graph(model_named(scenario, prediction.model))) {
    if (job_.data) data_ = data_of_iteration(scenario, model_named(scenario, prediction.model), plan_);
  }

  // On these links; `loading`: read from the source or from the cache.
  enum class Loading { kNone, kSource, kCache };
  Sample at(const std::vector<WanLink>& links, Loading loading, States states) const {
    Scenario then = scenario_;
    then.platform.links = links;
    const Network network(then.platform);
    const bool over_links = loading == Loading::kSource && data_between_sites(then, data_) > Bytes{0};
    const LowerRequest request{plan_, operators_, then, network};
    const bool whole = states != States::kNone || over_links;
    TaskGraph graph = whole ? plan_.technique->lower(request).graph : lower_alike(request).graph;
    if (over_links && job_.data->prefetch) add_loading(graph, then, network, data_);
    Sample out;
    if (states == States::kNone) {
      out.times = {simulate_iterations(graph).steady()};
    } else {
      out = scattered(graph, links, states);
    }
    if (loading == Loading::kNone) return out;
    Seconds reading = reading_time(then, data_, loading == Loading::kCache);
    if (over_links && !job_.data->prefetch)
      reading = std::max(reading, simulate_iterations(loading_alone(then, network, data_)).steady());
    for (Seconds& time : out.times) time = job_.data->prefetch ? std::max(time, reading) : time + reading;
    return out;
  }

  const std::vector<VmData>& data() const { return data_; }

 private:
  Sample scattered(const TaskGraph& graph, const std::vector<WanLink>& links, States states) const {
    Sample out;
    std::vector<ConnectionState> before = simulate_iterations(graph).last.connections;
    for (int state = 0; state < job_.jitter->states; ++state) {
      const JitterDraw draw(*job_.jitter, job_.seed, state);
      TaskGraph drawn = graph;
      if (states == States::kDrawn) draw.apply(drawn, plan_.workload.steps);
      if (states == States::kDrawn && (job_.jitter->rate || job_.jitter->rtt)) {
        Platform platform = scenario_.platform;
        platform.links = draw.links(links);
        drawn.move_to(Network(platform));
      }
      if (job_.jitter->whole_job) {
        out.times.push_back(simulate_iterations(drawn).steady());
        continue;
      }
      Timeline timeline = simulate(drawn, before);
      out.times.push_back(timeline.end);
      before = std::move(timeline.connections);
    }
    return out;
  }

  const Scenario& scenario_;
  const JobRules& job_;
  const Plan& plan_;
  OperatorGraph operators_;
  std::vector<VmData> data_;
};

bool loses(const std::vector<WanLink>& links) {
  return std::ranges::any_of(links, [](const WanLink& link) { return link.forward.loss + link.backward.loss > 0; });
}

// Sample over all epochs: source and cache weighted by their numbers of epochs.
Sample over_epochs(const JobSimulation& simulated, const Scenario& scenario, const std::vector<WanLink>& links,
                   States states) {
  const auto& data = scenario.job->data;
  using Loading = JobSimulation::Loading;
  if (!data) return simulated.at(links, Loading::kNone, states);
  Sample out = simulated.at(links, Loading::kSource, states);
  if (!data->cache) return out;
  const Sample later = simulated.at(links, Loading::kCache, states);
  const double first = 1 / static_cast<double>(scenario.training.epochs);
  for (std::size_t i = 0; i < out.times.size(); ++i) out.times[i] = out.times[i] * first + later.times[i] * (1 - first);
  return out;
}

}  // namespace

std::optional<JobIterations> iterations_of_job(const Scenario& scenario, const Prediction& prediction) {
  const JobRules& job = *scenario.job;
  if (job.days.empty() && !job.data && !job.jitter) return std::nullopt;
  const JobSimulation simulated(scenario, prediction);
  const bool far = spans_sites(scenario.platform, devices_of(*prediction.plan));
  const bool fetches = job.data && data_between_sites(scenario, simulated.data()) > Bytes{0};
  const auto day = link_states(scenario);
  const bool changes = (far || fetches) && std::any_of(day.begin(), day.end(), [&](const LinkState& state) {
                         return state.links != scenario.platform.links;
                       });
  const bool scatters = job.jitter && (job.jitter->gpu || far || fetches);
  if (!changes && !scatters && !job.data) return std::nullopt;
  const auto& links = scenario.platform.links;
  JobIterations out;
  const States states = scatters ? States::kDrawn : States::kNone;
  // So few iterations meet other losses than those of the prediction: the same number of them without jitter is compared.
  const bool others = scatters && !job.jitter->whole_job && far && loses(links);
  out.predicted =
      simulated.at(links, JobSimulation::Loading::kNone, others ? States::kUndisturbed : States::kNone).mean();
  const Sample here = over_epochs(simulated, scenario, links, states);
  out.mean = here.mean();
  out.sd = here.sd() * out.mean.value;
  out.error = here.error();
  out.longest = std::ranges::max(here.times) / here.mean();
  out.shortest = std::ranges::min(here.times) / here.mean();
  if (scatters && job.jitter->whole_job) {
    for (const Seconds time : here.times) out.whole_jobs.push_back(time / here.mean());
  }
  if (job.data) {
    const Sample without = simulated.at(links, JobSimulation::Loading::kNone, states);
    out.loading = std::max(Seconds{0}, out.mean - without.mean());
    const double read = job.data->cache ? 1 / static_cast<double>(scenario.training.epochs) : 1;
    out.data_between_sites = data_between_sites(scenario, simulated.data()) * read;
  }
  if (!changes) return out;
  std::vector<std::pair<std::vector<WanLink>, Seconds>> known = {{links, here.mean()}};
  for (const LinkState& state : day) {
    auto same = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.first == state.links; });
    if (same == known.end())
      same = known.insert(known.end(), {state.links, over_epochs(simulated, scenario, state.links, states).mean()});
    out.day.push_back({state.from, here.mean() / same->second});
  }
  return out;
}

}  // namespace slmsim
