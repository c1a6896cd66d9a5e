// The only file that uses MPI.
#include <mpi.h>

#include "sim/crew/ranks.h"

namespace slmsim {
namespace {

class Mpi : public Transport {
 public:
  Mpi() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
  ~Mpi() override { MPI_Finalize(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(const void* data, std::size_t size, int to, int tag) override {
    MPI_Send(data, static_cast<int>(size), MPI_BYTE, to, tag, MPI_COMM_WORLD);
  }

  std::optional<RankMessage> receive(int from) override {
    MPI_Status status;
    int there = 0, size = 0;
    MPI_Iprobe(from < 0 ? MPI_ANY_SOURCE : from, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (there == 0) return std::nullopt;
    MPI_Get_count(&status, MPI_BYTE, &size);
    RankMessage out{status.MPI_SOURCE, status.MPI_TAG, std::string(static_cast<std::size_t>(size), '\0')};
    MPI_Recv(out.bytes.data(), size, MPI_BYTE, out.from, out.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return out;
  }

 private:
  int rank_ = 0, size_ = 1;
};

}  // namespace
}  // namespace slmsim

extern "C" [[gnu::visibility("default")]] slmsim::Transport* slmsim_mpi_transport() { return new slmsim::Mpi; }
