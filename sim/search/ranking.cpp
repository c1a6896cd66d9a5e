#include "sim/search/ranking.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace slmsim {
namespace {

constexpr std::size_t kKept = 512;  // results kept for the list
constexpr double kSameCost = 1e-9;  // relative; rounding of simulations

}  // namespace

const std::array<Ranking::Kind, Ranking::kKinds>& Ranking::kinds() {
  static const std::array<Kind, kKinds> kRows = {{{true, true, &SearchResult::one_vm},
                                                  {false, false, &SearchResult::several_vms},
                                                  {{}, true, &SearchResult::unchanged}}};
  return kRows;
}

bool Ranking::is_of(const Kind& kind, std::size_t choice) const {
  return (!kind.one_vm || *kind.one_vm == space_.is_on_one_vm(space_.choice(choice))) &&
         !(kind.unchanged && space_.changes_training(space_.choice(choice)));
}

void Ranking::add(const RankedChoice& found) {
  for (const Kind& kind : kinds()) {
    std::optional<RankedChoice>& best = best_.*kind.best;
    if (is_of(kind, found.choice) && (!best || std::tie(found.cost, found.choice) < std::tie(best->cost, best->choice)))
      best = found;
  }
  const auto order = [](const RankedChoice& f) { return std::pair(f.cost, f.choice); };
  found_.insert(std::ranges::upper_bound(found_, order(found), {}, order), found);
  if (found_.size() > kKept) found_.pop_back();
  make_list();
}

// Among choices with the same cost, GPUs and technique, lists the one with the smallest number. On a single GPU, techniques
// with the same cost count as the same.
void Ranking::make_list() {
  list_.clear();
  for (const auto& f : found_) {
    const auto same = std::ranges::find_if(list_, [&](const auto& other) { return alike(f, other); });
    if (same == list_.end()) {
      if (list_.size() == length_) break;
      list_.push_back(f);
      continue;
    }
    auto others = std::move(same->alike);
    others.push_back(std::max(f.choice, same->choice));
    if (f.choice < same->choice) *same = f;
    same->alike = std::move(others);
  }
}

bool Ranking::alike(const RankedChoice& a, const RankedChoice& b) const {
  const Choice x = space_.choice(a.choice), y = space_.choice(b.choice);
  if (std::abs(a.cost - b.cost) > kSameCost * b.cost) return false;
  if (x[kTechniqueOf] != y[kTechniqueOf] && space_.group(x).devices.size() > 1) return false;
  auto p = space_.group(x).devices, q = space_.group(y).devices;
  std::sort(p.begin(), p.end());
  std::sort(q.begin(), q.end());
  return p == q;
}

void Ranking::report(SearchResult& out) const {
  out.best = list_;
  for (const Kind& kind : kinds()) {
    std::optional<RankedChoice>& best = out.*kind.best = best_.*kind.best;
    if (!best) continue;
    const auto listed = std::ranges::find_if(
        list_, [&](const auto& other) { return alike(*best, other) && is_of(kind, other.choice); });
    if (listed != list_.end()) best = *listed;
  }
}

}  // namespace slmsim
