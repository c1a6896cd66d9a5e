// The search of `slmsim plan` over worker processes, or over the ranks of an MPI job, with a journal of the results: an
// interrupted search asks the same again and is answered from the journal.
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
  std::string identity;           // of scenario, options and version: identifies the journal's search
  bool restart = false;
  Shard shard;                               // the part whose answers the journal holds
  std::vector<std::filesystem::path> parts;  // journals of other machines, whose answers are used
  // Whether the processes of an MPI launcher search together. `alone`: rank 0 asks none of the others.
  bool ranks = false, alone = false;
  PlanObjective objective = PlanObjective::kTime;  // decides what is evaluated
  std::function<bool()> stop;
};

class PlanCrew {
 public:
  // One search per space, by index. Throws InputError where the journal, or a part, belongs to another search. The spaces must
  // outlive this.
  PlanCrew(const std::vector<Space>& spaces, const PlanCrewOptions& options);
  ~PlanCrew();
  PlanCrew(const PlanCrew&) = delete;
  PlanCrew& operator=(const PlanCrew&) = delete;

  Evaluator evaluator(std::size_t space);
  // On an MPI rank other than 0: answers rank 0's questions until its search ends, and returns true. Otherwise returns false at
  // once.
  bool serve();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace slmsim
