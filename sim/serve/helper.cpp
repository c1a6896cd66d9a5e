#include "sim/serve/helper.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/work.h"

namespace slmsim::web {
namespace {

constexpr int kPatience = 50;             // milliseconds between two checks whether the client still waits
constexpr std::size_t kMostWaiting = 16;  // questions that wait for a process
constexpr int kNiceness = 10;             // of processes that yield to others

constexpr std::size_t kLongestLine = 64u << 20;

// False where the other end is closed.
bool write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(to, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

// Incoming text, line by line.
class Lines {
 public:
  // A whole line without its newline; nothing where there is none yet.
  std::optional<std::string> next();
  // Waits for more. False at the end, after an error, or after too much text without a newline.
  bool read_from(int from);

 private:
  std::string received_;
  std::size_t looked_at_ = 0;
};

std::optional<std::string> Lines::next() {
  const std::size_t end = received_.find('\n', looked_at_);
  if (end == std::string::npos) {
    looked_at_ = received_.size();
    return std::nullopt;
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  looked_at_ = 0;
  return line;
}

bool Lines::read_from(int from) {
  char bytes[1 << 16];
  const ssize_t count = read(from, bytes, sizeof bytes);
  if (count < 0) return errno == EINTR;
  received_.append(bytes, static_cast<std::size_t>(count));
  return count > 0 && received_.size() <= kLongestLine;
}

void help(const Workplace& workplace, int in, int out) {
  const pid_t server = getppid();
  Memory memory;
  Lines lines;
  do {
    while (const auto line = lines.next()) {
      const Json asked = Json::parse(*line, nullptr, false);
      if (!asked.is_object()) return;
      using Clock = std::chrono::steady_clock;
      auto reported = Clock::now();
      const Progress progress = [&](const std::string& text, double share) {
        if (getppid() != server) _exit(0);  // the server died, and nobody waits
        if (Clock::now() - reported < std::chrono::milliseconds(100)) return;
        reported = Clock::now();
        write_all(out, dumped({{"progress", text}, {"share", share}}));
      };
      const Response response = answer(asked.value("verb", ""), asked.value("body", ""), workplace, memory, progress);
      if (!write_all(out, dumped({{"status", response.status}, {"type", response.type}, {"body", response.body}})))
        return;
    }
  } while (lines.read_from(in));
}

class Helpers::Process {
 public:
  Process(const std::vector<std::string>& command, bool yields) : yields_(yields) {
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "no pipe");
    if (pipe2(from, O_CLOEXEC) != 0) {
      close(to[0]), close(to[1]);
      throw std::system_error(errno, std::generic_category(), "no pipe");
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    // Its own process group, so that its workers end with it and a terminal's interrupt does not reach it; and default signals,
    // whatever this thread blocks.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&usual, signal);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const int failed = posix_spawn(&process_, words[0], &actions, &attributes, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(to[0]);
    close(from[1]);
    to_ = to[1];
    from_ = from[0];
    if (failed != 0) {
      process_ = -1;
      close(to_), close(from_);
      throw std::system_error(failed, std::generic_category(), "no helper process");
    }
    if (yields) setpriority(PRIO_PROCESS, static_cast<id_t>(process_), kNiceness);  // its workers inherit it
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    close(to_);
    close(from_);
    kill(-process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
  }

  bool yields() const { return yields_; }
  // Nothing where the process must not be used again.
  std::optional<Response> ask(const HelperRequest& asking, const Deadline& deadline) {
    if (!write_all(to_, dumped({{"verb", asking.verb}, {"body", asking.body}}))) return std::nullopt;
    for (;;) {
      while (const auto line = lines_.next()) {
        const Json said = Json::parse(*line, nullptr, false);
        if (!said.is_object()) return std::nullopt;
        if (said.contains("status"))
          return Response{
              .status = said.value("status", 500), .type = said.value("type", ""), .body = said.value("body", "")};
        if (asking.progress) asking.progress(said.value("progress", ""), said.value("share", -1.0));
      }
      if (asking.cancelled && asking.cancelled()) return std::nullopt;
      if (deadline.is_over()) return std::nullopt;
      pollfd wait{from_, POLLIN, 0};
      if (poll(&wait, 1, kPatience) > 0 && !lines_.read_from(from_)) return std::nullopt;
    }
  }

 private:
  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
  bool yields_;
  Lines lines_;
};

Helpers::Helpers(std::vector<std::string> command, std::size_t most) : command_(std::move(command)), most_(most) {}

Helpers::~Helpers() = default;

Response Helpers::ask(const HelperRequest& asking) {
  const Deadline deadline(asking.seconds);
  const auto is_cancelled = [&] { return asking.cancelled && asking.cancelled(); };
  Response late =
      refusal(504, fmt::format("no answer within {:g} s; use a smaller cluster or fewer groups", asking.seconds));
  std::unique_ptr<Process> process;
  {
    std::unique_lock lock(mutex_);
    if (waiting_ >= kMostWaiting) return refusal(503, "too many requests are waiting; try again later");
    ++waiting_;
    while (busy_ >= most_ && !deadline.is_over() && !is_cancelled())
      freed_.wait_for(lock, std::chrono::milliseconds(kPatience));
    --waiting_;
    if (is_cancelled()) return refusal(499, "cancelled");
    if (busy_ >= most_) return late;
    ++busy_;
    // The last one that answered: its cache fits best.
    const auto like =
        std::find_if(idle_.rbegin(), idle_.rend(), [&](const auto& one) { return one->yields() == asking.yields; });
    if (like != idle_.rend()) {
      process = std::move(*like);
      idle_.erase(std::next(like).base());
    }
  }
  std::optional<Response> answered;
  std::string problem = "the process that computed this ended; is there enough memory?";
  try {
    if (!process) process = std::make_unique<Process>(command_, asking.yields);
    answered = process->ask(asking, deadline);
  } catch (const std::system_error& error) {
    problem = error.what();
  }
  if (!answered) process.reset();  // it may still be computing
  {
    const std::scoped_lock lock(mutex_);
    --busy_;
    if (process) idle_.push_back(std::move(process));
    if (idle_.size() > most_) {
      process = std::move(idle_.front());
      idle_.erase(idle_.begin());
    }
  }
  process.reset();
  freed_.notify_one();
  if (answered) return *answered;
  if (is_cancelled()) return refusal(499, "cancelled");
  return deadline.is_over() ? late : refusal(500, problem);
}

}  // namespace slmsim::web
