// Messages between the ranks of an MPI job. The code that calls MPI is a separate library (mpi_library.cpp), loaded where a job
// has several ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace slmsim {

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

}  // namespace slmsim
