// Messages between the ranks of an MPI job. What calls MPI is a library of its own (mpi_library.cpp), which is loaded where a job
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
  // Begins MPI; the object's destructor ends it. Throws InputError if the program was built or installed without MPI.
  static std::unique_ptr<Transport> begin();
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void send(const void* data, std::size_t size, int to, int tag) = 0;
  // The next one that waits, from that rank or, below 0, from any; none where none does.
  virtual std::optional<RankMessage> receive(int from) = 0;
};

}  // namespace slmsim
