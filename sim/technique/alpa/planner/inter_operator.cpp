#include "sim/technique/alpa/planner/inter_operator.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace slmsim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kNoEntry = static_cast<std::size_t>(-1);

// A way to run layers [first, end) from a stage on; the header explains the sums.
struct Suffix {
  double sum = 0;
  double slowest = 0;  // t_max
  double waiting = 0;  // max r
  double first = 0;    // the first stage's time
  PipelineStage stage;
  std::size_t rest = kNoEntry;  // index of the stages behind it
};

// Micro-batches in flight in a stage that has `stages` stages from it on.
int under_way(const PipelineProblem& p, std::size_t stages) {
  return p.all_in_flight ? p.micro_batches
                         : static_cast<int>(stages + static_cast<std::size_t>(p.ahead) * (stages - 1));
}

bool keeps_enough(const PipelineProblem& p, int most_in_flight, std::size_t stages) {
  return most_in_flight >= std::min(p.micro_batches, under_way(p, stages));
}

// Time of a stage for one micro-batch, and the number that its memory can keep.
struct StageFacts {
  double time = 0;
  int most_in_flight = std::numeric_limits<int>::max();
};

StageFacts facts_of(const PipelineProblem& p, const PipelineStage& stage) {
  StageFacts out{p.time(stage.first, stage.last, stage.submesh)};
  if (p.most_in_flight) out.most_in_flight = p.most_in_flight(stage.first, stage.last, stage.submesh);
  return out;
}

// There and back; `rest` is the next stage.
Sending sent_between(const PipelineProblem& p, const PipelineStage& stage, std::size_t rest) {
  if (!p.traffic) return {};
  const Sending way = p.traffic(stage.last, stage.submesh, rest);
  return {2 * way.time, way.each, way.gathered};
}

// Adds a stage before `rest`, which is absent after the last one.
Suffix in_front(const PipelineProblem& p, const PipelineStage& stage, double time, const Sending& sent,
                const Suffix* rest, std::size_t stages) {
  Suffix suffix{0, 0, 0, time, stage, kNoEntry};
  const int further = p.micro_batches - 1;
  suffix.sum = time + sent.time + (rest ? rest->sum : 0.0);
  const bool in_turn = p.in_turn && rest && !p.all_in_flight;
  const double turn = in_turn ? sent.time + sent.gathered + rest->first : 0;
  suffix.slowest = std::max({time, sent.each, turn, rest ? rest->slowest : 0.0});
  const int in_flight = under_way(p, stages) - (in_turn ? 1 : 0);
  const int rounds = further / in_flight, left = further % in_flight;
  const double waiting = rounds * (suffix.sum - (in_turn ? time - sent.gathered : 0.0)) + left * suffix.slowest;
  suffix.waiting = std::max(waiting, rest ? rest->waiting : 0.0);
  return suffix;
}

double total(const PipelineProblem& p, double sum, double slowest, double waiting) {
  return sum + std::max((p.micro_batches - 1) * slowest, waiting);
}
double total(const PipelineProblem& p, const Suffix& suffix) {
  return total(p, suffix.sum, suffix.slowest, suffix.waiting);
}

// Figures of stages on each kind of submesh, shared by all problems that are solved together.
class StageTable {
 public:
  explicit StageTable(std::size_t layers) : layers_(layers) {}

  // The kind of each submesh, numbered from 0.
  std::vector<std::size_t> kinds_of(const PipelineProblem& p) {
    std::vector<std::size_t> out;
    for (std::size_t m = 0; m < p.submeshes.size(); ++m) {
      const auto [at, is_new] =
          p.kinds.empty() ? std::pair(numbers_.end(), true) : numbers_.try_emplace(p.kinds[m], facts_.size());
      out.push_back(is_new ? facts_.size() : at->second);
      if (is_new) facts_.emplace_back(layers_ * (layers_ + 1), StageFacts{.time = kUnknown});
    }
    return out;
  }

  const StageFacts& of(const PipelineProblem& p, std::size_t kind, const PipelineStage& stage) {
    StageFacts& known = facts_[kind][stage.first * (layers_ + 1) + stage.last];
    if (known.time == kUnknown) known = facts_of(p, stage);
    return known;
  }

 private:
  static constexpr double kUnknown = -1;

  std::size_t layers_;
  std::map<std::size_t, std::size_t> numbers_;  // by kind
  std::vector<std::vector<StageFacts>> facts_;  // by number; first and last layer
};

class Cutter {
 public:
  Cutter(const PipelineProblem& problem, StageTable& table)
      : p_(problem), table_(table), kind_(table.kinds_of(problem)) {
    starting_at_.resize(p_.gpus + 1);
    const std::size_t meshes = p_.submeshes.size();
    for (std::size_t m = 0; m < meshes; ++m) starting_at_[p_.submeshes[m].first].push_back(m);
    std::size_t edges = 0;
    for (const auto& submesh : p_.submeshes) {
      first_edge_.push_back(edges);
      edges += starting_at_[submesh.last].size();
    }
    sent_.assign(p_.layers, std::vector<Sending>(edges, {kUnknown}));
    find_heads();
    find_tails();
  }

  // T of a cut that is found quickly and is seldom the best; infinite where none is found. `known`: T of some cut of
  // this or a similar problem.
  double good_time(double known) {
    bound_ = known * (1 + kRounding);
    find_ends();
    const auto cut = search(true);
    return cut ? cut->time : kNever;
  }

  // The best cut, after good_time with no smaller `known`; nothing where none takes less than `below`.
  std::optional<PipelineCut> best(double known, double below) {
    bound_ = std::min(known * (1 + kRounding), below);
    const auto cut = search(false);
    return cut && cut->time < below ? cut : std::nullopt;
  }

 private:
  using Front = std::vector<std::size_t>;  // entries
  using Fronts = std::vector<Front>;       // see at()

  static constexpr double kUnknown = -1;
  static constexpr double kRounding = 1e-12;  // relative; for sums in another order

  std::size_t at(std::size_t first, std::size_t m) const { return first * p_.submeshes.size() + m; }

  // Valid only for stages of some cut: a submesh with the first GPU has the first layer, one with the last GPU the last
  // layer, and no other submesh has them.
  const StageFacts& facts(std::size_t first, std::size_t last, std::size_t m) {
    return table_.of(p_, kind_[m], {first, last, m});
  }

  const Sending& sent(std::size_t layer, std::size_t m, std::size_t edge) {
    Sending& known = sent_[layer][first_edge_[m] + edge];
    if (known.time == kUnknown) known = sent_between(p_, {0, layer, m}, starting_at_[p_.submeshes[m].last][edge]);
    return known;
  }

  // Lower bounds over all cuts of layers [0, l) on the GPUs before a submesh: the sum including transfers, also to the
  // submesh. A tail is the same for layers [l, layers) on the GPUs behind a submesh.
  struct LowerBound {
    double sum = kNever, slowest = kNever;
  };
  void find_heads() {
    heads_.assign(p_.layers, std::vector<LowerBound>(p_.submeshes.size()));
    if (p_.layers == 0) return;
    for (const std::size_t m : starting_at_[0]) heads_[0][m] = {0, 0};
    for (std::size_t last = 1; last < p_.layers; ++last) {
      for (std::size_t m = 0; m < p_.submeshes.size(); ++m) {
        if (p_.submeshes[m].last == p_.gpus) continue;
        LowerBound head;  // with a stage on this submesh
        for (std::size_t first = 0; first < last; ++first) {
          const LowerBound& before = heads_[first][m];
          if (before.sum == kNever) continue;
          const auto& [time, most_in_flight] = facts(first, last, m);
          if (most_in_flight < 1) continue;
          head.sum = std::min(head.sum, before.sum + time);
          head.slowest = std::min(head.slowest, std::max(before.slowest, time));
        }
        if (head.sum == kNever) continue;
        const auto& next = starting_at_[p_.submeshes[m].last];
        for (std::size_t edge = 0; edge < next.size(); ++edge) {
          LowerBound& to = heads_[last][next[edge]];
          const Sending& way = sent(last, m, edge);
          to.sum = std::min(to.sum, head.sum + way.time);
          to.slowest = std::min(to.slowest, std::max(head.slowest, way.each));
        }
      }
    }
  }

  void find_tails() {
    tails_.assign(p_.layers + 1, std::vector<LowerBound>(p_.submeshes.size()));
    for (std::size_t m = 0; m < p_.submeshes.size(); ++m) {
      if (p_.submeshes[m].last == p_.gpus) tails_[p_.layers][m] = {0, 0};
    }
    std::vector<LowerBound> from(p_.submeshes.size());  // with the stage on this submesh
    for (std::size_t first = p_.layers; first-- > 1;) {
      for (std::size_t m = 0; m < p_.submeshes.size(); ++m) {
        from[m] = {};
        if (p_.submeshes[m].first == 0) continue;
        for (std::size_t last = first + 1; last <= p_.layers; ++last) {
          const LowerBound& behind = tails_[last][m];
          if (behind.sum == kNever) continue;
          const auto& [time, most_in_flight] = facts(first, last, m);
          if (most_in_flight < 1) continue;
          from[m].sum = std::min(from[m].sum, time + behind.sum);
          from[m].slowest = std::min(from[m].slowest, std::max(behind.slowest, time));
        }
      }
      for (std::size_t m = 0; m < p_.submeshes.size(); ++m) {
        const auto& next = starting_at_[p_.submeshes[m].last];
        for (std::size_t edge = 0; edge < next.size(); ++edge) {
          const LowerBound& rest = from[next[edge]];
          if (rest.sum == kNever) continue;
          LowerBound& to = tails_[first][m];
          const Sending& way = sent(first, m, edge);
          to.sum = std::min(to.sum, rest.sum + way.time);
          to.slowest = std::min(to.slowest, std::max(rest.slowest, way.each));
        }
      }
    }
  }

  // Lower bound of the time of all cuts with this stage.
  double least(const PipelineStage& stage) {
    const LowerBound &head = heads_[stage.first][stage.submesh], &tail = tails_[stage.last][stage.submesh];
    if (head.sum == kNever || tail.sum == kNever) return kNever;
    const auto& [time, most_in_flight] = facts(stage.first, stage.last, stage.submesh);
    if (!keeps_enough(p_, most_in_flight, stage.last == p_.layers ? 1 : 2)) return kNever;
    const double sum = head.sum + time + tail.sum;
    const double slowest = std::max({head.slowest, time, tail.slowest});
    const Submesh& submesh = p_.submeshes[stage.submesh];
    const std::size_t most =
        std::min(stage.first, submesh.first) + 1 + std::min(p_.layers - stage.last, p_.gpus - submesh.last);
    const std::size_t all = p_.stages.value_or(most);
    if (all > most) return kNever;
    const int rounds = (p_.micro_batches - 1) / under_way(p_, all);
    return total(p_, sum, slowest, rounds * sum);
  }

  // Finds the possible ends of stages that begin with a layer on a submesh, among those that the best cut may have.
  void find_ends() {
    ends_.clear();
    ends_from_.assign(1, 0);
    for (std::size_t first = 0; first < p_.layers; ++first) {
      for (std::size_t m = 0; m < p_.submeshes.size(); ++m) {
        for (std::size_t last = first + 1; last <= p_.layers && heads_[first][m].sum != kNever; ++last) {
          const double at_least = least(PipelineStage{first, last, m});
          if (at_least < kNever && at_least <= bound_) ends_.push_back({last, at_least});
        }
        ends_from_.push_back(ends_.size());
      }
      if (ends_.empty()) return;
    }
  }
  bool has_first_stage() const {
    const std::size_t places = std::min(p_.submeshes.size(), ends_from_.size() - 1);
    const auto from = ends_.begin(), to = from + static_cast<std::ptrdiff_t>(ends_from_[places]);
    return std::any_of(from, to, [&](const End& end) { return end.at_least <= bound_; });
  }

  // Lower bound of the time of all cuts that end in this suffix of `stages` stages; infinite where there are none. The
  // first stage waits least with the most stages before the suffix.
  double least(const Suffix& suffix, std::size_t stages) const {
    const std::size_t first = suffix.stage.first, m = suffix.stage.submesh;
    const LowerBound& head = heads_[first][m];
    if (head.sum == kNever) return kNever;
    const double sum = head.sum + suffix.sum, slowest = std::max(head.slowest, suffix.slowest);
    const std::size_t most = stages + std::min(first, p_.submeshes[m].first), all = p_.stages.value_or(most);
    if (all > most) return kNever;
    const int rounds = (p_.micro_batches - 1) / under_way(p_, all);
    return total(p_, sum, slowest, std::max(suffix.waiting, rounds * sum));
  }

  // With `one_each` only the suffix with the least lower bound is kept: this yields a cut, but seldom the best one.
  std::optional<PipelineCut> search(bool one_each) {
    const std::size_t most = p_.stages.value_or(std::min(p_.layers, p_.gpus));
    std::size_t best = kNoEntry;
    entries_.clear();
    if (!has_first_stage()) return std::nullopt;
    Fronts behind(p_.layers * p_.submeshes.size()), fronts(behind.size());
    for (std::size_t stages = 1; stages <= most; ++stages) {
      for (auto& front : fronts) front.clear();
      for (std::size_t first = 0; first < p_.layers; ++first) {
        for (std::size_t m = 0; m < p_.submeshes.size(); ++m)
          extend(behind, stages, {first, 0, m}, one_each, fronts[at(first, m)]);
      }
      std::swap(behind, fronts);
      if (p_.stages && *p_.stages != stages) continue;
      for (const std::size_t m : starting_at_[0]) {
        for (const std::size_t e : behind[at(0, m)]) {
          if (best == kNoEntry || total(p_, entries_[e]) < total(p_, entries_[best])) best = e;
        }
      }
      if (best != kNoEntry) bound_ = std::min(bound_, total(p_, entries_[best]) * (1 + kRounding));
    }
    if (best == kNoEntry) return std::nullopt;
    PipelineCut cut{{}, total(p_, entries_[best])};
    for (std::size_t e = best; e != kNoEntry; e = entries_[e].rest) cut.stages.push_back(entries_[e].stage);
    return cut;
  }

  // All ways in which a stage begins with this layer on this submesh and is followed by `stages` - 1 others.
  void extend(const Fronts& behind, std::size_t stages, PipelineStage stage, bool one_each, Front& front) {
    const std::size_t end = p_.submeshes[stage.submesh].last, place = at(stage.first, stage.submesh);
    for (std::size_t i = ends_from_[place]; i < ends_from_[place + 1]; ++i) {
      if (ends_[i].at_least > bound_) continue;
      stage.last = ends_[i].last;
      if (stage.last == p_.layers) {
        if (stages == 1) add(stage, nullptr, {}, kNoEntry, stages, one_each, front);
        continue;
      }
      if (stages == 1) continue;
      const auto& next = starting_at_[end];
      for (std::size_t edge = 0; edge < next.size(); ++edge) {
        const Front& rests = behind[at(stage.last, next[edge])];
        if (rests.empty()) continue;
        const Sending way = sent(stage.last, stage.submesh, edge);
        for (const std::size_t e : rests) add(stage, &entries_[e], way, e, stages, one_each, front);
      }
    }
  }

  void add(const PipelineStage& stage, const Suffix* rest, const Sending& sent, std::size_t rest_entry,
           std::size_t stages, bool one_each, Front& front) {
    const auto& [time, most_in_flight] = facts(stage.first, stage.last, stage.submesh);
    if (!keeps_enough(p_, most_in_flight, stages)) return;
    Suffix entry = in_front(p_, stage, time, sent, rest, stages);
    const double at_least = least(entry, stages);
    if (at_least > bound_) return;
    entry.rest = rest_entry;
    if (!one_each) return keep(front, entry);
    if (!front.empty() && least(entries_[front.front()], stages) <= at_least) return;
    front.assign(1, entries_.size());
    entries_.push_back(entry);
  }

  void keep(Front& front, const Suffix& entry) {
    const auto not_worse = [](const Suffix& a, const Suffix& b) {
      return a.sum <= b.sum && a.slowest <= b.slowest && a.waiting <= b.waiting && a.first <= b.first;
    };
    for (const std::size_t e : front) {
      if (not_worse(entries_[e], entry)) return;
    }
    std::erase_if(front, [&](std::size_t e) { return not_worse(entry, entries_[e]); });
    front.push_back(entries_.size());
    entries_.push_back(entry);
  }

  const PipelineProblem& p_;
  StageTable& table_;
  std::vector<std::size_t> kind_;                      // per submesh
  double bound_ = kNever;                              // cuts that take longer are ignored
  std::vector<std::vector<std::size_t>> starting_at_;  // submeshes by their first GPU
  std::vector<std::size_t> first_edge_;                // per submesh: one edge for each possible successor
  std::vector<std::vector<Sending>> sent_;             // by layer and edge
  std::vector<std::vector<LowerBound>> heads_, tails_;
  struct End {
    std::size_t last;
    double at_least;  // lower bound of the time of all cuts with this stage
  };
  std::vector<End> ends_;
  std::vector<std::size_t> ends_from_;  // ends_ of a place start at its entry
  std::vector<Suffix> entries_;
};

}  // namespace

std::optional<BestCut> cut_pipelines(const std::vector<PipelineProblem>& problems) {
  if (problems.empty()) return std::nullopt;
  StageTable table(problems.front().layers);
  std::vector<Cutter> cutters;
  cutters.reserve(problems.size());
  double known = kNever;
  for (const auto& problem : problems) known = std::min(known, cutters.emplace_back(problem, table).good_time(known));
  std::optional<BestCut> out;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (auto cut = cutters[i].best(known, out ? out->cut.time : kNever)) out = {i, *std::move(cut)};
  }
  return out;
}

double pipeline_time(const PipelineProblem& problem, const std::vector<PipelineStage>& stages) {
  std::optional<Suffix> rest;
  for (std::size_t s = stages.size(); s-- > 0;) {
    const StageFacts facts = facts_of(problem, stages[s]);
    if (!keeps_enough(problem, facts.most_in_flight, stages.size() - s)) return kNever;
    const Sending sent = rest ? sent_between(problem, stages[s], rest->stage.submesh) : Sending{};
    rest = in_front(problem, stages[s], facts.time, sent, rest ? &*rest : nullptr, stages.size() - s);
  }
  return total(problem, *rest);
}

}  // namespace slmsim
