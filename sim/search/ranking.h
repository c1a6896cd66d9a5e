// The simulated choices by their cost: the list of `slmsim plan`, and the cheapest choice of each kind.
#pragma once

#include <array>
#include <vector>

#include "sim/search/search.h"

namespace slmsim {

class Ranking {
 public:
  // The space must outlive this. The list has at most `length` entries.
  Ranking(const Space& space, std::size_t length) : space_(space), length_(length) {}

  // Choices whose best one is reported beside the best of all.
  struct Kind {
    std::optional<bool> one_vm;  // on GPUs of one VM, or of several; absent: of any
    bool unchanged;              // leaves the training unchanged
    std::optional<RankedChoice> SearchResult::*best;
  };
  static constexpr std::size_t kKinds = 3;
  static const std::array<Kind, kKinds>& kinds();
  bool is_of(const Kind& kind, std::size_t choice) const;

  void add(const RankedChoice& found);
  // The cheapest first.
  const std::vector<RankedChoice>& found() const { return found_; }
  const std::vector<RankedChoice>& list() const { return list_; }
  const std::optional<RankedChoice>& best_of(const Kind& kind) const { return best_.*kind.best; }
  // Writes the list and the best of each kind. A kind's best takes the place of the list's entry that it is alike to.
  void report(SearchResult& out) const;

 private:
  bool alike(const RankedChoice& a, const RankedChoice& b) const;
  void make_list();

  const Space& space_;
  std::size_t length_;
  SearchResult best_;  // holds the best of each kind and nothing else
  std::vector<RankedChoice> found_, list_;
};

}  // namespace slmsim
