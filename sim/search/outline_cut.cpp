// Whether one of the pipelines among which a planner chooses may take no longer than a limit: the bounds of outline.h, over all
// cuts at once. Both sums over the stages before one are the least of any cut, each by itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "sim/search/outline.h"

namespace slmsim {
namespace {

constexpr double kUnreached = std::numeric_limits<double>::infinity();
constexpr double kLimitRounding = 1e-9;           // relative: sums in another order
constexpr std::size_t kMostPassagesKept = 20000;  // a few hundred bytes each

}  // namespace

struct OutlineBound::Cutting {
  struct Mesh {
    std::size_t first = 0, last = 0;
    std::vector<int> devices;
    std::vector<const Work*> works = {};                       // one per kind of GPU
    std::vector<const std::array<Passage, 2>*> passages = {};  // to each mesh that may follow, once known
  };
  // Least sums over the stages before a mesh, with messages: until they return a micro-batch, and until they have sent one.
  struct Sums {
    double path = kUnreached, started = kUnreached;
  };
  struct StageTimes {
    double all = 0, path = 0, forward = 0;
  };

  OutlineBound& bound;
  const StageCuts& cuts;
  const PipelineRun& run;
  const double limit;
  std::vector<Mesh> meshes;
  std::vector<std::vector<std::size_t>> starting_at;  // meshes by their first GPU
  std::vector<Sums> sums;                             // per layer and mesh that a stage may begin with

  Cutting(OutlineBound& of, const StageCuts& given, const StageCuts::Order& order, const PipelineRun& how, Seconds most)
      : bound(of), cuts(given), run(how), limit(most.value * (1 + kLimitRounding)) {
    starting_at.resize(order.devices.size() + 1);
    for (const Submesh& submesh : order.submeshes) {
      const auto begin = order.devices.begin();
      starting_at[submesh.first].push_back(meshes.size());
      Mesh& mesh = meshes.emplace_back();
      mesh = {submesh.first,
              submesh.last,
              {begin + static_cast<long>(submesh.first), begin + static_cast<long>(submesh.last)},
              {}};
      const MeshShape shape = {static_cast<int>(mesh.devices.size()) / cuts.columns, cuts.columns};
      std::set<int> kinds;
      for (const int device : mesh.devices) {
        if (kinds.insert(bound.kinds_[device]).second)
          mesh.works.push_back(&bound.work(device, shape, run.sequences, run.recompute));
      }
    }
  }

  std::size_t layers() const { return cuts.starts.size() - 1; }
  std::size_t gpus() const { return starting_at.size() - 1; }

  StageTimes times_of(const Mesh& mesh, std::size_t first, std::size_t last) const {
    StageTimes out;
    for (const Work* work : mesh.works) {
      const auto sum = [&](const std::vector<double>& of) { return of[cuts.starts[last]] - of[cuts.starts[first]]; };
      out.all = std::max(out.all, sum(work->all));
      out.path = std::max(out.path, sum(run.apart() ? work->path : work->all));
      out.forward = std::max(out.forward, sum(work->forward));
    }
    return out;
  }

  // One more stage, after those that `sums` counts; true where a pipeline may end with it in time. `more`: the sums behind it.
  bool extend(double most_path, bool may_end, std::vector<Sums>& more) {
    for (std::size_t first = 0; first < layers(); ++first) {
      for (std::size_t m = 0; m < meshes.size(); ++m) {
        const Mesh& mesh = meshes[m];
        const Sums before = sums[first * meshes.size() + m];
        if (before.path == kUnreached) continue;
        const bool ends = mesh.last == gpus();
        for (std::size_t last = first + 1; last <= layers(); ++last) {
          const StageTimes its = times_of(mesh, first, last);
          const double path = before.path + its.path;
          if (before.path + run.micro_batches * its.path > limit || path > most_path ||
              before.started + run.micro_batches * its.all > limit)
            break;
          if ((last == layers()) != ends) continue;
          if (ends && may_end) return true;
          if (!ends) pass_on(m, last, {path, before.started + its.forward}, more);
        }
      }
    }
    return false;
  }

  void pass_on(std::size_t m, std::size_t layer, const Sums& end, std::vector<Sums>& more) {
    const double bytes = bound.operators_[cuts.starts[layer] - 1].outputs * run.message;
    Mesh& mesh = meshes[m];
    const std::vector<std::size_t>& following = starting_at[mesh.last];
    if (mesh.passages.empty()) {
      for (const std::size_t next : following)
        mesh.passages.push_back(&bound.passages(mesh.devices, meshes[next].devices));
    }
    for (std::size_t i = 0; i < following.size(); ++i) {
      const auto& [there, back] = *mesh.passages[i];
      const double sent = bytes > 0 ? there.alone(bytes).value : 0, returned = bytes > 0 ? back.alone(bytes).value : 0;
      const std::size_t next = following[i];
      Sums& of = more[layer * meshes.size() + next];
      of.path = std::min(of.path, end.path + sent + returned);
      of.started = std::min(of.started, end.started + sent);
    }
  }

  bool may_end() {
    sums.assign(layers() * meshes.size(), {});
    for (const std::size_t m : starting_at[0]) sums[m] = {0, 0};
    const std::size_t most = cuts.stages > 0 ? cuts.stages : std::min(layers(), gpus());
    const int in_flight = micro_batches_in_flight(run.schedule, run.micro_batches, most, 0, run.ahead);
    const double most_path = limit / std::ceil(static_cast<double>(run.micro_batches) / std::max(1, in_flight));
    // Later meshes and layers come later, so one pass counts any number of stages.
    if (cuts.stages == 0) return extend(most_path, true, sums);
    for (std::size_t stage = 1; stage <= most; ++stage) {
      std::vector<Sums> more(sums.size());
      if (extend(most_path, stage == most, more)) return true;
      sums = std::move(more);
    }
    return false;
  }
};

const std::array<OutlineBound::Passage, 2>& OutlineBound::passages(const std::vector<int>& from,
                                                                   const std::vector<int>& to) {
  const auto [at, is_new] = passages_.try_emplace({from, to});
  if (is_new) at->second = {Passage{paths(from, to)}, Passage{paths(to, from)}};
  return at->second;
}

bool OutlineBound::may_be_cut(const StageCuts& cuts, const PipelineRun& run, Seconds limit) {
  if (passages_.size() > kMostPassagesKept) passages_.clear();
  return std::ranges::any_of(
      cuts.orders, [&](const StageCuts::Order& order) { return Cutting(*this, cuts, order, run, limit).may_end(); });
}

}  // namespace slmsim
