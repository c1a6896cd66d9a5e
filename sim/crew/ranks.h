// The ranks of an MPI job as a crew: rank 0 holds a Ranks and uses it like a Crew, the others serve.
#pragma once

#include "sim/crew/crew.h"
#include "sim/crew/transport.h"

namespace slmsim {

class Ranks {
 public:
  explicit Ranks(Transport& transport)
      : transport_(transport), given_(static_cast<std::size_t>(transport.size() - 1)) {}
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();  // tells the other ranks to end

  std::size_t size() const { return given_.size(); }
  bool is_idle(std::size_t worker) const { return given_[worker].empty(); }
  void give(std::size_t worker, const std::vector<std::uint64_t>& questions);
  std::vector<CrewEvent> wait(int milliseconds);

 private:
  Transport& transport_;
  std::vector<std::vector<std::uint64_t>> given_;
};

// Runs in every other rank: answers questions in one worker process until rank 0 ends.
void serve(Transport& transport, const std::function<Texts(std::uint64_t)>& answer);

// The MPI launcher's environment, read before MPI begins.

// The number of ranks, 1 without a launcher, and this process's rank.
struct Launch {
  int ranks = 1, rank = 0;
};
Launch launch_of_environment();

}  // namespace slmsim
