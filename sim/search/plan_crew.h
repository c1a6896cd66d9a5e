// The search of `slmsim plan` over worker processes, or over the ranks of an MPI job, with a journal of what they found: a search
// that was interrupted asks the same again, and is answered from there.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "sim/search/search.h"

namespace slmsim {

struct PlanCrewOptions {
  std::size_t jobs = 1;
  std::filesystem::path journal;  // empty: none
  std::string identity;           // of scenario, options and version: whose journal it is
  bool restart = false;
  Shard shard;                               // whose answers the journal is to hold
  std::vector<std::filesystem::path> parts;  // journals of other machines, whose answers are taken as they are
  // Where an MPI launcher started several of these: whether they search together. `alone`: rank 0 asks none of the others.
  bool ranks = false, alone = false;
  PlanObjective objective = PlanObjective::kTime;  // which says what is found out
  std::function<bool()> stop;
};

class PlanCrew {
 public:
  // One search per space, each by its number. Throws InputError where the journal, or a part, is not ours. The spaces must
  // outlive this.
  PlanCrew(const std::vector<Space>& spaces, const PlanCrewOptions& options);
  ~PlanCrew();
  PlanCrew(const PlanCrew&) = delete;
  PlanCrew& operator=(const PlanCrew&) = delete;

  Evaluator evaluator(std::size_t space);
  // On an MPI rank other than 0: answers what that one asks until its search is over, and returns true. Else false at once.
  bool serve();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace slmsim
