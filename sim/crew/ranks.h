// The ranks of an MPI job as a crew: rank 0 holds a Ranks and uses it like a Crew, the others serve.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "sim/crew/crew.h"

namespace slmsim {

// Messages between the ranks of an MPI job. The code that calls MPI is a separate library (mpi_library.cpp), loaded where a job
// has several ranks.

struct RankMessage {
  int from = 0, tag = 0;
  std::string bytes;
};

class Transport {
 public:
  // Begins MPI; the destructor ends it. Throws InputError if the program was built or installed without MPI.
  static std::unique_ptr<Transport> begin();
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void send(const void* data, std::size_t size, int to, int tag) = 0;
  // The next waiting message, from that rank or, below 0, from any; none if none waits.
  virtual std::optional<RankMessage> receive(int from) = 0;
};

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
