#include "sim/search/search.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "sim/predict/predict.h"
#include "sim/search/bound.h"
#include "sim/search/outline.h"

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
        seen_(space.size(), false) {
    for (std::size_t i = 0; i < space.size(); ++i) result_.choices += options.shard.holds(i) ? 1 : 0;
    effort_wanted_ = options.effort;
  }

  SearchResult run() {
    tell();
    if (options_.exhaustive) {
      std::vector<std::size_t> all(space_.size());
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
      // In a scattered order, so that a part of it is a sample of all.
      std::sort(all.begin(), all.end(), [](auto a, auto b) { return scattered(a) < scattered(b); });
      try_all(all);
    } else {
      seed();
      rest();
    }
    result_.thinned = !space_.has_all_groups();
    result_.proven = !result_.stopped && !spent() && !result_.thinned;
    if (!result_.proven) result_.least_left = least_left();
    for (const auto& [kind, those] : refused_) result_.refused.push_back(those);
    std::stable_sort(result_.refused.begin(), result_.refused.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    list();
    return std::move(result_);
  }

 private:
  static std::uint64_t scattered(std::uint64_t n) { return n * 0x9e3779b97f4a7c15u; }  // Fibonacci hashing

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
    if (options_.exhaustive || list_.size() < (proving_ ? 1 : options_.list)) return kInfinite;
    return (proving_ ? list_.front() : list_.back()).cost * (1 + kSame);
  }

  void try_all(std::vector<std::size_t> choices) {
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
    if (cost(choice, quick_.job(choice, outline_.step(choice))) <= threshold()) return false;
    seen_[choice] = true;
    return true;
  }

  void assess_and_measure(const std::vector<std::size_t>& some) {
    const auto assessed = evaluator_.assess(some);
    if (assessed.size() < some.size()) {
      result_.stopped = true;
      return;
    }
    struct OpenChoice {
      double bound, tasks;
      std::size_t choice;
      bool operator<(const OpenChoice& o) const { return std::tie(bound, choice) < std::tie(o.bound, o.choice); }
    };
    std::vector<OpenChoice> open;
    for (std::size_t i = 0; i < some.size(); ++i) {
      seen_[some[i]] = true;
      ++result_.assessed;
      effort_ += kTasksOfPlan + assessed[i].tasks;
      if (assessed[i].status != Status::kOk) {
        if (assessed[i].status == Status::kOutOfMemory) {
          ++result_.unfit;
          too_large_.push_back(some[i]);
        } else {
          note_refused(assessed[i].reason);
        }
        continue;
      }
      open.push_back({cost(some[i], assessed[i].job), assessed[i].tasks, some[i]});
    }
    std::sort(open.begin(), open.end());
    for (std::size_t at = 0; at < open.size() && !over();) {
      std::vector<std::size_t> next;
      double tasks = 0;
      for (; at < open.size() && next.size() < kMeasuredAtOnce && open[at].bound <= threshold(); ++at) {
        next.push_back(open[at].choice);
        tasks += open[at].tasks;
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

  void add(RankedChoice found) {
    ++result_.simulated;
    const bool one_vm = on_one_vm(found.choice);
    auto& of_its_kind = one_vm ? result_.one_vm : result_.several_vms;
    const bool better =
        !of_its_kind || std::tie(found.cost, found.choice) < std::tie(of_its_kind->cost, of_its_kind->choice);
    if (better && !(one_vm && changes_training(found.choice))) of_its_kind = found;
    found_.push_back(found);
    std::sort(found_.begin(), found_.end(),
              [](const auto& a, const auto& b) { return std::tie(a.cost, a.choice) < std::tie(b.cost, b.choice); });
    if (found_.size() > kKept) found_.pop_back();
    list();
  }

  bool on_one_vm(std::size_t choice) const {
    const auto& devices = space_.group(space_.choice(choice)).devices;
    const auto vm = [&](int d) { return space_.scenario().platform.devices[d].vm; };
    return std::all_of(devices.begin(), devices.end(), [&](int d) { return vm(d) == vm(devices.front()); });
  }

  bool changes_training(std::size_t choice) const {
    const auto options = space_.trained(space_.choice(choice)).second;
    return options.technique->changes_training && options.technique->changes_training(options);
  }

  // Among choices with the same cost, GPUs and technique, lists the one with the smallest number. On a single GPU, techniques
  // with the same cost count as the same.
  void list() {
    list_.clear();
    for (const auto& f : found_) {
      const auto same = std::find_if(list_.begin(), list_.end(), [&](const auto& other) { return alike(f, other); });
      if (same == list_.end()) {
        if (list_.size() == options_.list) break;
        list_.push_back(f);
      } else if (f.choice < same->choice) {
        *same = f;
      }
    }
    result_.best = list_;
  }

  bool alike(const RankedChoice& a, const RankedChoice& b) const {
    const Choice x = space_.choice(a.choice), y = space_.choice(b.choice);
    if (std::abs(a.cost - b.cost) > kSame * b.cost) return false;
    if (x[kTechniqueOf] != y[kTechniqueOf] && space_.group(x).devices.size() > 1) return false;
    auto p = space_.group(x).devices, q = space_.group(y).devices;
    std::sort(p.begin(), p.end());
    std::sort(q.begin(), q.end());
    return p == q;
  }

  // The scenario's own choices that may be better, whatever the effort: they cost as much as `slmsim run`.
  void as_given() {
    const double wanted = std::exchange(effort_wanted_, 0), spent = effort_;
    proving_ = true;
    std::vector<std::size_t> given;
    for (const Space::Block& block : space_.blocks()) {
      if (space_.is_as_given(space_.lists()[block.list].front())) given.push_back(block.first);
    }
    try_all(given);
    proving_ = false;
    effort_ = spent;
    effort_wanted_ = wanted;
  }

  // Each technique on each group, with the most micro-batches possible; with rematerialisation where memory does not suffice.
  // First those of each technique that may be best, and then those near the best: they rule out most of the others.
  void seed() {
    std::vector<std::optional<std::size_t>> last_plain;  // place in each list
    for (const auto& list : space_.lists()) {
      std::optional<std::size_t>& last = last_plain.emplace_back();
      for (std::size_t place = 0; place < list.size(); ++place) {
        if (space_.is_plain(list[place])) last = place;
      }
    }
    std::vector<std::pair<double, std::size_t>> bounded;
    for (const Space::Block& block : space_.blocks()) {
      if (!last_plain[block.list]) continue;
      const std::size_t seed = block.first + *last_plain[block.list];
      bounded.emplace_back(quick(seed), seed);
    }
    std::sort(bounded.begin(), bounded.end());
    std::map<std::int32_t, std::size_t> of_technique;
    std::vector<std::size_t> first, seeds;
    for (const auto& [bound, i] : bounded) {
      seeds.push_back(i);
      if (of_technique[space_.choice(i)[kTechniqueOf]]++ < kFirstSeeds) first.push_back(i);
    }
    try_all(first);
    as_given();
    plant(std::move(first));
    plant(std::move(seeds));
  }

  void plant(std::vector<std::size_t> seeds) {
    too_large_.clear();
    try_all(std::move(seeds));
    std::vector<std::size_t> again;
    for (const std::size_t i : too_large_) {
      Choice choice = space_.choice(i);
      choice[kRematerialisationOf] ^= 1;
      if (const auto found = space_.find(choice)) again.push_back(*found);
    }
    try_all(again);
    climb();
  }

  void climb() {
    for (bool moved = true; moved && !over();) {
      moved = false;
      for (std::size_t i = 0; i < std::min(kExpanded, found_.size()) && !moved; ++i) {
        const std::size_t choice = found_[i].choice;
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
    options_.progress({result_.choices, result_.assessed, result_.simulated, list_.empty() ? 0 : list_.front().cost,
                       options_.effort > 0 ? std::min(1.0, effort_ / options_.effort) : 0.0});
  }

  static constexpr std::size_t kKept = 512;  // results kept for the list

  const Space& space_;
  const Evaluator& evaluator_;
  const SearchOptions& options_;
  QuickBound quick_;
  OutlineBound outline_;
  std::vector<bool> seen_;  // evaluated or ruled out
  bool proving_ = false;    // that no other is better than the best
  std::vector<std::size_t> too_large_;
  std::set<std::size_t> expanded_;
  std::map<std::string, RefusedChoices> refused_;  // by reason without its numbers
  std::vector<RankedChoice> found_, list_;
  double effort_ = 0, effort_wanted_ = 0;  // wanted: 0 is without limit
  SearchResult result_;
};

}  // namespace

SearchResult search(const Space& space, const Evaluator& evaluator, const SearchOptions& options) {
  return Search(space, evaluator, options).run();
}

}  // namespace slmsim
