#include "tests/wan/collective.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <new>
#include <sched.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/wan/rank.h"

namespace slmsim::wan {
namespace {

constexpr double kNano = 1e-9;

// Memory that processes share with those that they start.
class SharedMeeting {
 public:
  SharedMeeting() {
    void* memory = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot share memory");
    meeting_ = new (memory) Meeting{};
  }
  ~SharedMeeting() { munmap(meeting_, sizeof(Meeting)); }
  SharedMeeting(const SharedMeeting&) = delete;
  SharedMeeting& operator=(const SharedMeeting&) = delete;
  Meeting& operator*() const { return *meeting_; }
  Meeting* operator->() const { return meeting_; }

 private:
  Meeting* meeting_;
};

// A folder that is removed with what is in it.
struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/collective-XXXXXX";
    if (!mkdtemp(name)) throw std::runtime_error("cannot make a folder in /tmp");
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

[[noreturn]] void be_rank(const CollectiveCase& what, int rank, const Host& host, const std::string& folder,
                          Meeting& meeting) {
  try {
    if (setns(host.name_space(), CLONE_NEWNET) != 0) throw std::runtime_error("cannot enter the network namespace");
    run_rank(what, rank, host.address(), folder, meeting);
  } catch (const std::exception& error) {
    if (!meeting.failed.exchange(true)) std::strncpy(meeting.reason, error.what(), sizeof meeting.reason - 1);
    _exit(1);
  }
  _exit(0);
}

// Waits for all; the others are ended when one failed. True if none did.
bool wait_for(std::vector<pid_t> processes, Meeting& meeting) {
  bool good = true;
  for (std::size_t left = processes.size(); left > 0;) {
    for (pid_t& process : processes) {
      int status = 0;
      if (process == 0 || waitpid(process, &status, WNOHANG) != process) continue;
      process = 0;
      --left;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
      good = false;
      meeting.failed = true;
      for (const pid_t other : processes) {
        if (other != 0) kill(other, SIGKILL);
      }
    }
    usleep(2000);
  }
  return good;
}

// When the shares of what arrived between `start` and `finish` had arrived, from `start` on.
std::array<double, kShares.size()> dates_of(const std::vector<Mark>& curve, double start, double finish) {
  const auto first =
      std::lower_bound(curve.begin(), curve.end(), start, [](const Mark& m, double t) { return m.time < t; });
  const auto last = std::upper_bound(first, curve.end(), finish, [](double t, const Mark& m) { return t < m.time; });
  std::array<double, kShares.size()> dates{};
  if (last - first < 2) return dates;
  const std::uint64_t before = first == curve.begin() ? 0 : std::prev(first)->bytes;
  const double total = static_cast<double>(std::prev(last)->bytes - before);
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    const auto at = std::find_if(
        first, last, [&](const Mark& mark) { return static_cast<double>(mark.bytes - before) >= total * kShares[i]; });
    dates[i] = at->time - start;
  }
  return dates;
}

CollectiveSample sample_of(const Meeting& meeting, int run, int ranks, const Relay& relay) {
  std::vector<std::int64_t> ends;
  for (int rank = 0; rank < ranks; ++rank) ends.push_back(meeting.finish[run][rank]);
  const auto [first, last] = std::minmax_element(ends.begin(), ends.end());
  const std::int64_t start = meeting.start[run];
  CollectiveSample sample;
  sample.seconds = static_cast<double>(*last - start) * kNano;
  sample.first_rank = static_cast<double>(*first - start) * kNano;
  if (run > 0) {
    std::int64_t before = 0;
    for (int rank = 0; rank < ranks; ++rank) before = std::max(before, meeting.finish[run - 1][rank].load());
    sample.pause = static_cast<double>(start - before) * kNano;
  }
  const double from = static_cast<double>(start) * kNano, to = static_cast<double>(*last) * kNano;
  sample.forward = dates_of(relay.forward().curve, from, to);
  sample.backward = dates_of(relay.backward().curve, from, to);
  return sample;
}

}  // namespace

ColdAndWarm collective(const CollectiveCase& what, std::uint64_t seed) {
  if (what.ranks < 2 || what.ranks > kMostRanks || what.ranks % 2 != 0) throw std::runtime_error("2 to 16 ranks, even");
  const Host a("10.99.0.2", what.path.mtu), b("10.99.0.3", what.path.mtu);
  settle(a, what.path);
  settle(b, what.path);
  const SharedMeeting meeting;
  const Folder folder;
  // Before the relay's thread starts: a process is started from a program of one thread.
  std::vector<pid_t> processes;
  for (int rank = 0; rank < what.ranks; ++rank) {
    const pid_t process = fork();
    if (process == 0) be_rank(what, rank, rank < what.ranks / 2 ? a : b, folder.path, *meeting);
    if (process > 0) processes.push_back(process);
  }
  if (processes.size() != static_cast<std::size_t>(what.ranks)) {
    meeting->failed = true;
    std::strncpy(meeting->reason, "cannot start a process", sizeof meeting->reason - 1);
  }
  Direction forward{.delay = what.path.rtt / 2e3, .rate = what.path.rate * 1e6 / 8, .seed = seed};
  Relay relay(a, b, forward, forward);
  ColdAndWarm result;
  result.path_rtt = round_trip(a, b);
  meeting->arrived[kRuns] = 1;
  const bool good = wait_for(processes, *meeting);
  relay.stop();
  if (!good || meeting->failed) {
    throw std::runtime_error(meeting->reason[0] ? meeting->reason : "a rank ended without a reason");
  }
  result.cold = sample_of(*meeting, 0, what.ranks, relay);
  result.warm = sample_of(*meeting, 1, what.ranks, relay);
  return result;
}

}  // namespace slmsim::wan
