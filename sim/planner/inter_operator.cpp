#include "sim/planner/inter_operator.h"

#include <algorithm>
#include <limits>

#include <boost/range/iterator_range.hpp>

namespace slmsim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// A way to run layers [first, end) from a stage on; see the header for the sums.
struct Suffix {
  double sum = 0;
  double slowest = 0;  // t_max
  double waiting = 0;  // max r
  PipelineStage stage;
  std::size_t rest = kNone;  // of the stages behind it
};

// The stage in front of `rest`, which is absent behind the last one; an infinite sum where it does not fit.
Suffix in_front(const PipelineProblem& p, const PipelineStage& stage, const Suffix* rest, std::size_t stages) {
  Suffix suffix{kNever, 0, 0, stage, kNone};
  const int under_way =
      p.all_in_flight ? p.micro_batches : static_cast<int>(stages + static_cast<std::size_t>(p.ahead) * (stages - 1));
  if (p.most_in_flight &&
      p.most_in_flight(stage.first, stage.last, stage.submesh) < std::min(p.micro_batches, under_way))
    return suffix;
  const double time = p.time(stage.first, stage.last, stage.submesh);
  const double sent = rest && p.traffic ? 2 * p.traffic(stage.last, stage.submesh, rest->stage.submesh) : 0.0;
  const int further = p.micro_batches - 1;
  suffix.sum = time + sent + (rest ? rest->sum : 0.0);
  suffix.slowest = std::max(time, rest ? rest->slowest : 0.0);
  const int rounds = further / under_way, left = further % under_way;
  const double waiting = rounds * suffix.sum + left * suffix.slowest;
  suffix.waiting = std::max(waiting, rest ? rest->waiting : 0.0);
  return suffix;
}

double total(const PipelineProblem& p, const Suffix& suffix) {
  return suffix.sum + std::max((p.micro_batches - 1) * suffix.slowest, suffix.waiting);
}

class Cutter {
 public:
  explicit Cutter(const PipelineProblem& problem) : p_(problem) {
    starting_at_.resize(p_.gpus + 1);
    for (std::size_t m = 0; m < p_.submeshes.size(); ++m) starting_at_[p_.submeshes[m].first].push_back(m);
  }

  std::optional<PipelineCut> run() {
    const std::size_t most = p_.stages.value_or(std::min(p_.layers, p_.gpus));
    std::size_t best = kNone;
    for (std::size_t stages = 1; stages <= most; ++stages) {
      fronts_.emplace_back(p_.layers + 1, std::vector<Front>(p_.submeshes.size()));
      for (std::size_t first = 0; first < p_.layers; ++first) {
        for (std::size_t m = 0; m < p_.submeshes.size(); ++m) extend(stages, first, m);
      }
      if (p_.stages && *p_.stages != stages) continue;
      for (const std::size_t m : starting_at_[0]) {
        for (const std::size_t e : fronts_.back().front()[m]) {
          if (best == kNone || total(p_, entries_[e]) < total(p_, entries_[best])) best = e;
        }
      }
    }
    if (best == kNone) return std::nullopt;
    PipelineCut cut{{}, total(p_, entries_[best])};
    for (std::size_t e = best; e != kNone; e = entries_[e].rest) cut.stages.push_back(entries_[e].stage);
    return cut;
  }

 private:
  using Front = std::vector<std::size_t>;  // entries

  // All ways in which a stage begins with this layer on this submesh, and `stages` - 1 follow.
  void extend(std::size_t stages, std::size_t first, std::size_t m) {
    const std::size_t behind = p_.submeshes[m].last;
    auto& front = fronts_[stages - 1][first][m];
    if (stages == 1) {
      if (behind == p_.gpus) keep(front, in_front(p_, {first, p_.layers, m}, nullptr, 1), kNone);
      return;
    }
    for (std::size_t last = first + 1; last < p_.layers; ++last) {
      for (const std::size_t next : starting_at_[behind]) {
        for (const std::size_t e : fronts_[stages - 2][last][next])
          keep(front, in_front(p_, {first, last, m}, &entries_[e], stages), e);
      }
    }
  }

  void keep(Front& front, Suffix entry, std::size_t rest) {
    if (entry.sum == kNever) return;
    const auto not_worse = [](const Suffix& a, const Suffix& b) {
      return a.sum <= b.sum && a.slowest <= b.slowest && a.waiting <= b.waiting;
    };
    for (const std::size_t e : front) {
      if (not_worse(entries_[e], entry)) return;
    }
    std::erase_if(front, [&](std::size_t e) { return not_worse(entry, entries_[e]); });
    entry.rest = rest;
    front.push_back(entries_.size());
    entries_.push_back(entry);
  }

  const PipelineProblem& p_;
  std::vector<std::vector<std::size_t>> starting_at_;  // submeshes by their first GPU
  std::vector<Suffix> entries_;
  // By stages - 1, first layer and submesh: the entries of which none is better in all sums.
  std::vector<std::vector<std::vector<Front>>> fronts_;
};

// Bytes that would cross a cut before each operator; kNever where more than the output of the operator before it does.
std::vector<double> crossing(const OperatorGraph& operators) {
  const std::size_t count = boost::num_vertices(operators);
  std::vector<double> bytes(count, kNever);
  std::size_t farthest = 0;  // reader of any operator before v - 1
  for (std::size_t v = 1; v < count; ++v) {
    if (farthest < v) bytes[v] = operators[v - 1].outputs;
    for (const auto edge : boost::make_iterator_range(boost::out_edges(v - 1, operators)))
      farthest = std::max(farthest, boost::target(edge, operators));
  }
  return bytes;
}

}  // namespace

std::optional<PipelineCut> cut_pipeline(const PipelineProblem& problem) { return Cutter(problem).run(); }

double pipeline_time(const PipelineProblem& problem, const std::vector<PipelineStage>& stages) {
  std::optional<Suffix> rest;
  for (std::size_t s = stages.size(); s-- > 0;) {
    rest = in_front(problem, stages[s], rest ? &*rest : nullptr, stages.size() - s);
    if (rest->sum == kNever) return kNever;
  }
  return total(problem, *rest);
}

std::vector<std::size_t> cluster_operators(const OperatorGraph& operators, std::size_t layers) {
  constexpr double kUneven = 1.6;
  const std::size_t count = boost::num_vertices(operators);
  const std::vector<double> bytes = crossing(operators);
  std::vector<std::size_t> cuts = {0};
  for (std::size_t v = 1; v < count; ++v) {
    if (bytes[v] != kNever) cuts.push_back(v);
  }
  cuts.push_back(count);
  std::vector<double> before = {0};  // FLOPs in front of each cut
  for (std::size_t c = 1; c < cuts.size(); ++c) {
    before.push_back(before.back());
    for (std::size_t v = cuts[c - 1]; v < cuts[c]; ++v) before.back() += operators[v].matrix.flops();
  }
  const std::size_t most = std::min(layers, cuts.size() - 1);
  const double share = before.back() / static_cast<double>(most);
  // Too much work of a layer, then bytes, then squares of work, each least.
  struct Cost {
    double excess = kNever, crossed = 0, squares = 0;
    auto operator<=>(const Cost&) const = default;  // NOLINT(modernize-use-nullptr): see sim/base/unit.h
  };
  std::vector<std::vector<Cost>> best(most + 1, std::vector<Cost>(cuts.size()));
  std::vector<std::vector<std::size_t>> from(most + 1, std::vector<std::size_t>(cuts.size(), 0));
  best[0][0] = {0, 0, 0};
  for (std::size_t n = 1; n <= most; ++n) {
    for (std::size_t end = n; end < cuts.size(); ++end) {
      for (std::size_t begin = n - 1; begin < end; ++begin) {
        Cost cost = best[n - 1][begin];
        if (cost.excess == kNever) continue;
        const double work = before[end] - before[begin];
        cost.excess += std::max(0.0, work - kUneven * share);
        cost.crossed += begin > 0 ? bytes[cuts[begin]] : 0.0;
        cost.squares += work * work;
        if (cost < best[n][end]) {
          best[n][end] = cost;
          from[n][end] = begin;
        }
      }
    }
  }
  std::vector<std::size_t> starts(most);
  for (std::size_t n = most, end = cuts.size() - 1; n > 0; --n) {
    end = from[n][end];
    starts[n - 1] = cuts[end];
  }
  return starts;
}

}  // namespace slmsim
