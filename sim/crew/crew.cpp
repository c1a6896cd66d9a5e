#include "sim/crew/crew.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/engine/simulate.h"

namespace slmsim {
namespace {

constexpr int kUsedUp = 10;  // exit status of a worker whose engine has run

struct AnswerHeader {
  std::uint64_t question = 0, first = 0, second = 0;  // sizes of the answer's two texts
};

bool send_all(int socket, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

// A worker allocates the same again for its next answer: pages returned to the kernel in between would have to be cleared anew,
// a tenth of a sweep's time.
void keep_freed_memory() {
  constexpr int kMebibytes = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 32 * kMebibytes);
  mallopt(M_TRIM_THRESHOLD, 64 * kMebibytes);
}

std::string end_text(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("its worker was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("its worker exited with status {}", WEXITSTATUS(status));
}

}  // namespace

std::size_t available_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&cores)));
}

Crew::Crew(std::size_t workers, std::function<Texts(std::uint64_t)> answer, std::vector<int> close_in_workers)
    : answer_(std::move(answer)), close_in_workers_(std::move(close_in_workers)), workers_(workers) {
  for (auto& worker : workers_) start(worker);
}

Crew::~Crew() {
  for (auto& worker : workers_) {
    if (worker.process <= 0) continue;
    kill(worker.process, SIGKILL);
    close(worker.socket);
    waitpid(worker.process, nullptr, 0);
  }
}

void Crew::start(Worker& worker) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::runtime_error(fmt::format("cannot create a socket for a worker: {}", std::strerror(errno)));
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) {
    close(ends[0]);
    close(ends[1]);
    throw std::runtime_error(fmt::format("cannot start a worker process: {}", std::strerror(errno)));
  }
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    std::signal(SIGINT, SIG_IGN);  // a terminal sends it to all; the first process decides
    std::signal(SIGTERM, SIG_DFL);
    close(ends[0]);
    for (const auto& other : workers_) {
      if (other.socket >= 0) close(other.socket);
    }
    for (const int descriptor : close_in_workers_) close(descriptor);
    work(ends[1]);
  }
  close(ends[1]);
  worker = {process, ends[0], {}, {}};
}

void Crew::work(int socket) const {
  keep_freed_memory();
  for (std::uint64_t question = 0; receive_all(socket, &question, sizeof question);) {
    const Texts answer = answer_(question);
    const AnswerHeader header{question, answer.first.size(), answer.second.size()};
    std::string message(reinterpret_cast<const char*>(&header), sizeof header);
    message += answer.first;
    message += answer.second;
    if (!send_all(socket, message.data(), message.size())) break;
    if (engine_has_run()) _exit(kUsedUp);
  }
  _exit(0);
}

void Crew::give(std::size_t index, const std::vector<std::uint64_t>& questions) {
  Worker& worker = workers_[index];
  worker.given.insert(worker.given.end(), questions.begin(), questions.end());
  send_all(worker.socket, questions.data(),
           questions.size() * sizeof(std::uint64_t));  // wait() reports dead workers
}

void Crew::read_answers(std::size_t index, std::vector<CrewEvent>& events) {
  Worker& worker = workers_[index];
  std::size_t at = 0;
  for (AnswerHeader header; worker.received.size() - at >= sizeof header;) {
    std::memcpy(&header, worker.received.data() + at, sizeof header);
    if (worker.received.size() - at - sizeof header < header.first + header.second) break;
    at += sizeof header;
    CrewEvent event{.worker = index, .question = header.question};
    event.answer.first = worker.received.substr(at, header.first);
    event.answer.second = worker.received.substr(at + header.first, header.second);
    at += header.first + header.second;
    std::erase(worker.given, header.question);
    events.push_back(std::move(event));
  }
  worker.received.erase(0, at);
}

void Crew::replace(std::size_t index, std::vector<CrewEvent>& events) {
  Worker& worker = workers_[index];
  int status = 0;
  close(worker.socket);
  worker.socket = -1;
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  worker.process = -1;
  auto left = worker.given;
  const bool used_up = WIFEXITED(status) && WEXITSTATUS(status) == kUsedUp;
  if (!used_up && !left.empty()) {
    CrewEvent death{.worker = index, .kind = CrewEvent::Kind::kDied, .question = left.front()};
    death.how = end_text(status);
    events.push_back(std::move(death));
    left.erase(left.begin());
  }
  if (!left.empty()) {
    CrewEvent returned{.worker = index, .kind = CrewEvent::Kind::kReturned};
    returned.questions = std::move(left);
    events.push_back(std::move(returned));
  }
  start(worker);
}

std::vector<CrewEvent> Crew::wait(int milliseconds) {
  std::vector<CrewEvent> events;
  std::vector<pollfd> waiting;
  for (const auto& worker : workers_) waiting.push_back({worker.socket, POLLIN, 0});
  if (poll(waiting.data(), waiting.size(), milliseconds) <= 0) return events;
  std::array<char, 1 << 16> buffer;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (waiting[i].revents == 0) continue;
    const ssize_t got = recv(workers_[i].socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got > 0) {
      workers_[i].received.append(buffer.data(), static_cast<std::size_t>(got));
      read_answers(i, events);
    } else {
      replace(i, events);
    }
  }
  return events;
}

QuestionQueue::QuestionQueue(std::uint64_t count, const std::function<bool(std::uint64_t)>& wanted)
    : count_(count), wanted_(wanted) {
  for (std::uint64_t question = 0; question < count; ++question) left_ += wanted(question) ? 1 : 0;
}

std::vector<std::uint64_t> QuestionQueue::take(std::size_t most, std::size_t workers) {
  const std::uint64_t share = left_ / (8 * std::max<std::size_t>(1, workers));
  const std::uint64_t count = std::min(left_, std::clamp<std::uint64_t>(share, 1, most));
  std::vector<std::uint64_t> out;
  while (out.size() < count && (!returned_.empty() || next_ < count_)) {
    if (!returned_.empty()) {
      out.push_back(returned_.front());
      returned_.pop_front();
    } else if (const std::uint64_t question = next_++; wanted_(question)) {
      out.push_back(question);
    }
  }
  if (out.empty() && !suspects_.empty()) {
    out.push_back(suspects_.front());
    suspects_.pop_front();
  }
  left_ -= out.size();
  return out;
}

void QuestionQueue::give_back(const std::vector<std::uint64_t>& questions) {
  returned_.insert(returned_.end(), questions.begin(), questions.end());
  left_ += questions.size();
}

bool QuestionQueue::died(std::uint64_t question) {
  if (++deaths_[question] > 1) return false;
  suspects_.push_back(question);
  ++left_;
  return true;
}

}  // namespace slmsim
