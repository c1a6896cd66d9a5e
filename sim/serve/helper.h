// Questions answered by helper processes: copies of this program that read a question per line and write its answer. A process
// can be ended when its time is over or when nobody waits any more, and what goes wrong in it takes nothing with it.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <vector>

#include "sim/serve/answer.h"

namespace slmsim::web {

// Asks one question. `cancelled` is asked every now and then; true ends it, with status 499.
struct Asking {
  std::string verb, body;
  double seconds = 0;   // until it is ended, with status 504
  bool yields = false;  // to all other processes of the machine, so that what a hand waits for is not delayed
  std::function<bool()> cancelled = {};
  Progress progress = {};
};
using Answerer = std::function<Response(const Asking&)>;

// What a helper process does until its input ends: a line {"verb", "body"} in; out lines {"progress", "share"}, then
// {"status", "type", "body"}.
void help(const Workplace& workplace, int in, int out);

class Helpers {
 public:
  // At most `most` processes of `command` at work at once, which each call help(); they are started when they are needed, and
  // those that answered well stay for the next question, at most as many.
  Helpers(std::vector<std::string> command, std::size_t most);
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  ~Helpers();  // ends them; nobody may be asking

  // Waits for a free process within the question's time; 503 where too many wait.
  Response ask(const Asking& asking);

 private:
  class Process;

  std::vector<std::string> command_;
  std::size_t most_, busy_ = 0, waiting_ = 0;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Process>> idle_;
};

}  // namespace slmsim::web
