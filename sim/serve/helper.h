// Questions answered by helper processes: copies of this program that read a question per line and write its answer. A process
// can be ended when its time is over or nobody waits any more, and a crash affects only its own question.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <vector>

#include "sim/serve/answer.h"

namespace slmsim::web {

// Options of one question. `cancelled` is called now and then; true ends the question, with status 499.
struct HelperRequest {
  std::string verb, body;
  double seconds = 0;   // time limit, after which it ends with status 504
  bool yields = false;  // to all other processes of the machine, so that interactive updates are not delayed
  std::function<bool()> cancelled = {};
  Progress progress = {};
};
using Answerer = std::function<Response(const HelperRequest&)>;

// Main loop of a helper process, until its input ends: a line {"verb", "body"} in; out lines {"progress", "share"}, then
// {"status", "type", "body"}.
void help(const Workplace& workplace, int in, int out);

class Helpers {
 public:
  // At most `most` processes of `command`, each of which calls help(), run at once; they start on demand, and those that
  // answered without error stay for the next question, at most `most`.
  Helpers(std::vector<std::string> command, std::size_t most);
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  ~Helpers();  // ends them; no question may be open

  // Waits for a free process within the question's time; 503 where too many questions wait.
  Response ask(const HelperRequest& asking);

 private:
  class Process;

  std::vector<std::string> command_;
  std::size_t most_, busy_ = 0, waiting_ = 0;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Process>> idle_;
};

}  // namespace slmsim::web
