#include "calibrate/gpu/rank.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

#include "calibrate/common/descriptor.h"
#include "calibrate/common/failure.h"
#include "calibrate/common/text.h"
#include "sim/base/work.h"

namespace slmsim::calibrate {
namespace {

constexpr int kDefaultPort = 29500;  // torchrun's MASTER_PORT where none is given
constexpr int kMostRanks = 65536;
constexpr auto kRetry = std::chrono::milliseconds(200);

struct Launcher {
  const char* rank;
  const char* world;
  const char* local;
  const char* local_world;
};
// In this order: torchrun under Slurm sets its own variables beside Slurm's.
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"}};

int number_from(const Environment& environment, const std::string& name, int low, int high,
                std::optional<int> fallback = std::nullopt) {
  const auto text = environment(name);
  if (!text && fallback) return *fallback;
  const auto value = text ? parse_number(*text) : std::nullopt;
  if (!value || *value != static_cast<int>(*value) || *value < low || *value > high) {
    throw UsageError(format("%s is %s; a number from %d to %d is expected", name.c_str(),
                            text ? ("\"" + printable(*text) + "\"").c_str() : "not set", low, high));
  }
  return static_cast<int>(*value);
}

class Addresses {
 public:
  Addresses(const std::string& host, int port, bool passive) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = passive ? AI_PASSIVE : 0;
    hints.ai_family = passive ? AF_INET : AF_UNSPEC;
    const int failed = getaddrinfo(passive ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &list_);
    if (failed != 0) throw UsageError("MASTER_ADDR \"" + printable(host) + "\": " + gai_strerror(failed));
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  ~Addresses() { freeaddrinfo(list_); }
  const addrinfo* list() const { return list_; }

 private:
  addrinfo* list_ = nullptr;
};

void send_to_others(const Rank& rank, const std::string& bytes, double patience) {
  const Addresses any("", rank.port, true);
  const Descriptor listener{socket(any.list()->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const int yes = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(listener.get(), any.list()->ai_addr, any.list()->ai_addrlen) != 0 || listen(listener.get(), rank.world) != 0)
    throw UsageError(with_reason(format("rank 0 cannot listen on port %d", rank.port)));
  for (int others = rank.world - 1; others > 0;) {
    pollfd waiting{listener.get(), POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(patience * 1e3)) <= 0)
      throw UsageError(
          format("%d of %d ranks did not connect to port %d within %.0f s", others, rank.world, rank.port, patience));
    const Descriptor peer{accept(listener.get(), nullptr, nullptr)};
    if (peer.get() < 0) continue;
    // Short enough for any socket's buffer.
    if (send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size())) --others;
  }
}

bool receive_from_first(const Rank& rank, std::string& bytes) {
  const Addresses found(rank.address, rank.port, false);
  for (const addrinfo* at = found.list(); at; at = at->ai_next) {
    const Descriptor peer{socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol)};
    if (peer.get() < 0 || connect(peer.get(), at->ai_addr, at->ai_addrlen) != 0) continue;
    std::size_t have = 0;
    while (have < bytes.size()) {
      const ssize_t now = recv(peer.get(), bytes.data() + have, bytes.size() - have, 0);
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0) break;
      have += static_cast<std::size_t>(now);
    }
    if (have == bytes.size()) return true;
  }
  return false;
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

std::optional<Rank> rank_from(const Environment& environment) {
  for (const auto& names : kLaunchers) {
    if (!environment(names.rank) || !environment(names.world)) continue;
    Rank rank;
    rank.world = number_from(environment, names.world, 1, kMostRanks);
    rank.rank = number_from(environment, names.rank, 0, rank.world - 1);
    const int local_world = number_from(environment, names.local_world, 1, kMostRanks, 1);
    rank.local = number_from(environment, names.local, 0, kMostRanks, 0);
    rank.port = number_from(environment, "MASTER_PORT", 1, 65534, kDefaultPort) + 1;
    if (const auto address = environment("MASTER_ADDR")) {
      rank.address = *address;
    } else if (local_world == rank.world) {
      rank.address = "127.0.0.1";
    } else {
      throw UsageError("MASTER_ADDR is not set; name rank 0's host, e.g. mpirun -x MASTER_ADDR=10.0.0.1");
    }
    return rank;
  }
  return std::nullopt;
}

void share_from_first(const Rank& rank, std::string& bytes, double patience) {
  if (rank.world < 2) return;
  if (rank.rank == 0) return send_to_others(rank, bytes, patience);
  const Deadline deadline(patience);
  while (!receive_from_first(rank, bytes)) {
    if (deadline.is_over())
      throw UsageError(format("rank 0 does not answer at %s, port %d; is it running, and does a firewall let it pass?",
                              printable(rank.address).c_str(), rank.port));
    std::this_thread::sleep_for(kRetry);
  }
}

}  // namespace slmsim::calibrate
