#include "sim/search/search.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "sim/predict/predict.h"
#include "sim/search/bound.h"
#include "sim/search/outline.h"
#include "sim/search/ranking.h"

namespace slmsim {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kAssessedAtOnce = 64, kMeasuredAtOnce = 8;
constexpr std::size_t kFirstSeeds = 8;
constexpr std::size_t kExpanded = 6;     // this many of the best have all their neighbours tried
constexpr double kTasksOfPlan = 20'000;  // planning costs as much as one pass over this many tasks
constexpr double kPasses = 10;           // a simulation costs this many passes over its tasks
constexpr double kSame = 1e-9;           // relative; rounding of simulations

class Search {
 public:
  Search(const Space& space, const Evaluator& evaluator, const SearchOptions& options)
      : space_(space),
        evaluator_(evaluator),
        options_(options),
        quick_(space, options.objective),
        outline_(space),
        seen_(space.size(), false),
        ranking_(space, options.list) {
    for (std::size_t i = 0; i < space.size(); ++i) result_.choices += options.shard.holds(i) ? 1 : 0;
    effort_wanted_ = options.effort;
  }

  SearchResult run() {
    tell();
    if (options_.exhaustive) {
      std::vector<std::size_t> all(space_.size());
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
      // In a scattered order, so that a part of it is a sample of all.
      std::ranges::sort(all, {}, [](std::uint64_t i) { return i * 0x9e3779b97f4a7c15u; });  // Fibonacci hashing
      try_all(all);
    } else {
      seed();
      rest();
    }
    result_.thinned = !space_.has_all_groups();
    result_.proven = !result_.stopped && !spent() && !result_.thinned;
    if (!result_.proven) result_.least_left = least_left();
    for (const auto& [kind, those] : refused_) result_.refused.push_back(those);
    std::ranges::stable_sort(result_.refused, std::greater{}, &RefusedChoices::count);
    ranking_.report(result_);
    return std::move(result_);
  }

 private:
  // Lower bound of the cost for this time.
  template <class Figures>
  double cost(std::size_t choice, const Figures& figures) const {
    return cost_of(space_, space_.choice(choice), options_.objective, figures);
  }
  double quick(std::size_t choice) const { return cost(choice, quick_.job(choice)); }
  bool is_open(std::size_t choice) const { return !seen_[choice] && options_.shard.holds(choice); }

  // Choices of a block with equal bounds.
  struct BoundedClass {
    double bound;
    const Space::Block* block;
    const QuickBound::Class* of;
    bool operator<(const BoundedClass& o) const {
      return std::tie(bound, block->first, of->places.front()) <
             std::tie(o.bound, o.block->first, o.of->places.front());
    }
  };
  // Calls `use` for the classes of all blocks.
  void for_each_class(const auto& use) const {
    for (const Space::Block& block : space_.blocks()) {
      for (const QuickBound::Class& of : quick_.classes(block))
        use(BoundedClass{cost(block.first, quick_.job(block.group, of)), &block, &of});
    }
  }

  double least_left() const {
    double least = kInfinite;
    for_each_class([&](const BoundedClass& one) {
      const auto open = [&](std::uint32_t place) { return is_open(one.block->first + place); };
      if (one.bound < least && std::any_of(one.of->places.begin(), one.of->places.end(), open)) least = one.bound;
    });
    return least;
  }
  bool spent() const { return effort_wanted_ > 0 && effort_ >= effort_wanted_; }
  bool over() {
    if (options_.stop && options_.stop()) result_.stopped = true;
    return result_.stopped || spent();
  }

  // Largest cost with which a choice may still be listed; for the proof, with which it may be the best.
  double threshold() const {
    const std::vector<RankedChoice>& list = ranking_.list();
    if (options_.exhaustive || list.size() < (proving_ ? 1 : options_.list)) return kInfinite;
    return (proving_ ? list.front() : list.back()).cost * (1 + kSame);
  }

  void try_all(const std::vector<std::size_t>& choices) {
    std::vector<std::pair<double, std::size_t>> bounded;
    for (const std::size_t i : choices) {
      const double bound = options_.exhaustive ? 0 : quick(i);
      if (is_open(i) && bound <= threshold()) bounded.emplace_back(bound, i);
    }
    if (!options_.exhaustive) std::sort(bounded.begin(), bounded.end());
    std::size_t at = 0;
    try_each([&]() -> std::optional<std::pair<double, std::size_t>> {
      if (at == bounded.size()) return std::nullopt;
      return bounded[at++];
    });
  }

  // Choices with their bounds, in ascending order; nothing after the last one.
  void try_each(const auto& next) {
    for (bool more = true; more && !over();) {
      std::vector<std::size_t> some;
      while (more && some.size() < kAssessedAtOnce) {
        const std::optional<std::pair<double, std::size_t>> one = next();
        more = one && one->first <= threshold();
        if (more && is_open(one->second) && !is_ruled_out(one->second)) some.push_back(one->second);
      }
      if (!some.empty()) assess_and_measure(some);
    }
  }

  // By the outline of its plan.
  bool is_ruled_out(std::size_t choice) {
    if (threshold() == kInfinite || is_of_whole_jobs(options_.objective)) return false;
    const Seconds job{threshold() / cost(choice, Seconds{1})};  // to which the cost is proportional
    const Seconds step = outline_.step(choice, quick_.step_within(choice, job));
    seen_[choice] = cost(choice, quick_.job(choice, step)) > threshold();
    return seen_[choice];
  }

  void assess_and_measure(const std::vector<std::size_t>& some) {
    const auto assessed = evaluator_.assess(some);
    if (assessed.size() < some.size()) {
      result_.stopped = true;
      return;
    }
    std::vector<std::tuple<double, std::size_t, double>> open;  // bound, choice, tasks
    for (std::size_t i = 0; i < some.size(); ++i) {
      seen_[some[i]] = true;
      ++result_.assessed;
      effort_ += kTasksOfPlan + assessed[i].tasks;
      if (assessed[i].status == Status::kOk) {
        open.emplace_back(cost(some[i], assessed[i].job), some[i], assessed[i].tasks);
      } else if (assessed[i].status == Status::kOutOfMemory) {
        ++result_.unfit;
        too_large_.push_back(some[i]);
      } else {
        note_refused(assessed[i].reason);
      }
    }
    std::sort(open.begin(), open.end());
    for (std::size_t at = 0; at < open.size() && !over();) {
      std::vector<std::size_t> next;
      double tasks = 0;
      for (; at < open.size() && next.size() < kMeasuredAtOnce && std::get<0>(open[at]) <= threshold(); ++at) {
        next.push_back(std::get<1>(open[at]));
        tasks += std::get<2>(open[at]);
      }
      if (next.empty()) break;
      const auto measured = evaluator_.measure(next);
      if (measured.size() < next.size()) {
        result_.stopped = true;
        return;
      }
      effort_ += kPasses * tasks;
      for (std::size_t i = 0; i < next.size(); ++i) add({next[i], measured[i], cost(next[i], measured[i])});
      tell();
    }
    tell();
  }

  void note_refused(const std::string& reason) {
    std::string kind = reason;
    std::erase_if(kind, [](unsigned char c) { return std::isdigit(c) != 0; });
    RefusedChoices& those = refused_[kind];
    if (those.count++ == 0) those.reason = reason;
  }

  void add(const RankedChoice& found) {
    ++result_.simulated;
    ranking_.add(found);
  }

  // The best of each kind among these choices, with and without rematerialisation, whatever the best of all: what that rules out
  // is simulated here, the cheapest bounds first, until no other can be better.
  void settle(const std::vector<std::size_t>& some) {
    std::set<std::size_t> known;
    for (const auto& f : ranking_.found()) known.insert(f.choice);
    for (const Ranking::Kind& kind : Ranking::kinds()) {
      std::vector<std::pair<double, std::size_t>> open;
      for (const std::size_t one : some) {
        if (!ranking_.is_of(kind, one)) continue;
        for (const std::size_t i : {one, other_rematerialisation(one).value_or(one)}) {
          if (options_.shard.holds(i) && !known.contains(i)) open.emplace_back(quick(i), i);
        }
      }
      std::sort(open.begin(), open.end());
      const std::optional<RankedChoice>& best = ranking_.best_of(kind);
      for (const auto& [bound, i] : open) {
        if ((best && bound > best->cost) || over()) break;
        if (known.contains(i) || (best && cost(i, quick_.job(i, outline_.step(i))) > best->cost)) continue;
        const auto assessed = evaluator_.assess({i});
        if (assessed.empty()) return;
        if (assessed.front().status != Status::kOk || (best && cost(i, assessed.front().job) > best->cost)) continue;
        const auto measured = evaluator_.measure({i});
        if (measured.empty()) return;
        seen_[i] = true;
        known.insert(i);
        add({i, measured.front(), cost(i, measured.front())});
      }
    }
  }

  std::optional<std::size_t> other_rematerialisation(std::size_t i) const {
    Choice choice = space_.choice(i);
    choice[kRematerialisationOf] ^= 1;
    return space_.find(choice);
  }

  // The scenario's own choices that may be listed, whatever the effort: they cost as much as `slmsim run`.
  void as_given() {
    const double wanted = std::exchange(effort_wanted_, 0), spent = effort_;
    std::vector<std::size_t> given;
    for (const Space::Block& block : space_.blocks()) {
      if (space_.is_as_given(space_.lists()[block.list].front())) given.push_back(block.first);
    }
    try_all(given);
    if (options_.kinds) settle(given);
    result_.given_left = result_.stopped;
    effort_ = spent;
    effort_wanted_ = wanted;
  }

  // Each technique on each group, with the most micro-batches possible; with rematerialisation where memory does not suffice.
  // First those of each technique that may be best, and then those near the best: they rule out most of the others.
  void seed() {
    std::vector<std::vector<std::size_t>> plain_places;
    for (const auto& list : space_.lists()) {
      auto& places = plain_places.emplace_back();
      for (std::size_t place = 0; place < list.size(); ++place) {
        if (space_.is_plain(list[place])) places.push_back(place);
      }
    }
    std::vector<std::pair<double, std::size_t>> bounded;
    std::vector<std::size_t> plain;
    for (const Space::Block& block : space_.blocks()) {
      for (const std::size_t place : plain_places[block.list]) plain.push_back(block.first + place);
      if (!plain_places[block.list].empty()) bounded.emplace_back(quick(plain.back()), plain.back());
    }
    std::sort(bounded.begin(), bounded.end());
    std::map<std::int32_t, std::size_t> of_technique;
    std::vector<std::size_t> first, seeds;
    for (const auto& [bound, i] : bounded) {
      seeds.push_back(i);
      if (of_technique[space_.choice(i)[kTechniqueOf]]++ < kFirstSeeds) first.push_back(i);
    }
    // Whole jobs of one choice may take as long as the search may: those of the scenario's own first.
    const bool slow = is_of_whole_jobs(options_.objective);
    if (slow) as_given();
    plant(first);
    if (!slow) as_given();
    plant(seeds);
    if (options_.kinds) settle(plain);
  }

  void plant(const std::vector<std::size_t>& seeds) {
    too_large_.clear();
    try_all(seeds);
    std::vector<std::size_t> again;
    for (const std::size_t i : too_large_) {
      if (const auto found = other_rematerialisation(i)) again.push_back(*found);
    }
    try_all(again);
    climb();
  }

  void climb() {
    for (bool moved = true; moved && !over();) {
      moved = false;
      for (std::size_t i = 0; i < std::min(kExpanded, ranking_.found().size()) && !moved; ++i) {
        const std::size_t choice = ranking_.found()[i].choice;
        if (!expanded_.insert(choice).second) continue;
        moved = true;
        try_all(space_.neighbours(choice));
      }
    }
  }

  // All others that may be better than the best.
  void rest() {
    proving_ = true;
    std::vector<BoundedClass> left;
    for_each_class([&](const BoundedClass& one) {
      if (one.bound <= threshold()) left.push_back(one);
    });
    std::sort(left.begin(), left.end());
    auto at = left.begin();
    std::size_t place = 0;
    try_each([&]() -> std::optional<std::pair<double, std::size_t>> {
      if (at != left.end() && place == at->of->places.size()) {
        ++at;
        place = 0;
      }
      if (at == left.end()) return std::nullopt;
      return std::pair{at->bound, at->block->first + at->of->places[place++]};
    });
  }

  void tell() const {
    if (!options_.progress) return;
    options_.progress({result_.choices, result_.assessed, result_.simulated,
                       ranking_.list().empty() ? 0 : ranking_.list().front().cost,
                       options_.effort > 0 ? std::min(1.0, effort_ / options_.effort) : 0.0});
  }

  const Space& space_;
  const Evaluator& evaluator_;
  const SearchOptions& options_;
  QuickBound quick_;
  OutlineBound outline_;
  std::vector<bool> seen_;  // evaluated or ruled out
  Ranking ranking_;
  bool proving_ = false;  // that no other is better than the best
  std::vector<std::size_t> too_large_;
  std::set<std::size_t> expanded_;
  std::map<std::string, RefusedChoices> refused_;  // by reason without its numbers
  double effort_ = 0, effort_wanted_ = 0;          // wanted: 0 is without limit
  SearchResult result_;
};

}  // namespace

SearchResult search(const Space& space, const Evaluator& evaluator, const SearchOptions& options) {
  return Search(space, evaluator, options).run();
}

}  // namespace slmsim
