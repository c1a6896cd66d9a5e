// The ranks of an MPI job as a crew: rank 0 holds a Ranks and talks to it as to a Crew, the others serve.
#pragma once

#include "sim/crew/crew.h"

namespace slmsim {

// MPI from here to the end of the program's use of it.
class MpiSession {
 public:
  MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession();
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  int rank_ = 0, size_ = 1;
};

class Ranks {
 public:
  explicit Ranks(const MpiSession& session) : given_(static_cast<std::size_t>(session.size() - 1)) {}
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();  // tells the others that nothing is left

  std::size_t size() const { return given_.size(); }
  bool is_idle(std::size_t worker) const { return given_[worker].empty(); }
  void give(std::size_t worker, const std::vector<std::uint64_t>& questions);
  std::vector<CrewEvent> wait(int milliseconds);

 private:
  std::vector<std::vector<std::uint64_t>> given_;
};

// What every other rank does: answers what it is asked, in one worker process, until nothing is left.
void serve(const std::function<Texts(std::uint64_t)>& answer);

}  // namespace slmsim
