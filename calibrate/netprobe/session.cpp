#include "calibrate/netprobe/session.h"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "calibrate/common/text.h"
#include "calibrate/netprobe/failure.h"
#include "calibrate/netprobe/flow.h"
#include "calibrate/netprobe/host.h"
#include "calibrate/netprobe/server.h"

namespace slmsim::calibrate::netprobe {
namespace {

// Limits slightly above what this program's client requests.
constexpr std::size_t kMostConnections = 16, kLongestId = 16;
constexpr double kMostMessage = 64e9, kLeastPace = 1000, kMostPace = 1e12, kMostPings = 1000;
constexpr double kMostSessionPause = 120, kMostWarmUp = 120, kMostStream = 600, kMostRtt = 60;  // s

// A command that no client of this version sends.
struct BadCommand : std::runtime_error {
  using std::runtime_error::runtime_error;
};

double number(const std::vector<std::string>& words, std::size_t at, double most) {
  const auto value = at < words.size() ? parse_number(words[at]) : std::nullopt;
  if (!value || *value < 0 || *value > most) throw BadCommand("a number is missing or out of range");
  return *value;
}
// Bytes or a count: a whole number from 1.
double whole(const std::vector<std::string>& words, std::size_t at, double most) {
  const double value = number(words, at, most);
  if (value < 1 || value != std::floor(value)) throw BadCommand("a whole number from 1 is expected");
  return value;
}

}  // namespace

Session::Session(Connection control, std::string key, double most_bytes)
    : meter_(most_bytes), control_(std::move(control)), key_(std::move(key)), peer_(peer_of(control_.get())) {
  control_.count_with(meter_);
}

void Session::attach(const std::string& id, Connection connection) {
  const std::lock_guard hold(mutex_);
  if (data_.size() >= kMostConnections || id.size() > kLongestId || data_.contains(id)) return;
  connection.count_with(meter_);
  const Connection& kept = data_.emplace(id, std::move(connection)).first->second;
  kept.send_text("ok\n");
}

std::vector<Connection> Session::take(const std::vector<std::string>& words, std::size_t first) {
  const std::lock_guard hold(mutex_);
  std::vector<Connection> taken;
  for (std::size_t i = first; i < words.size(); ++i) {
    const auto found = data_.find(words[i]);
    if (found == data_.end()) throw BadCommand("there is no such connection");
    taken.push_back(std::move(found->second));
    data_.erase(found);
  }
  if (taken.empty()) throw BadCommand("a connection is missing");
  return taken;
}

void Session::put(const std::string& id, Connection connection) {
  const std::lock_guard hold(mutex_);
  data_.insert_or_assign(id, std::move(connection));
}

void Session::run() {
  control_.send_text("welcome " + key_ + "\n");
  for (;;) {
    if (!control_.wait_readable(kIdleClient)) throw NetworkError(format("no command for %g s; given up", kIdleClient));
    const std::string line = control_.read_line();
    if (line == "bye") return;
    try {
      at_work_ = true;
      obey(words_of(line));
      at_work_ = false;
    } catch (const BadCommand& error) {
      at_work_ = false;
      control_.send_text(format("error %s\n", error.what()));
    }
  }
}

void Session::obey(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == "facts") {
    std::string answer;
    for (const auto& [name, value] : facts_of_this_host()) answer.append(name).append(" ").append(value).append("\n");
    control_.send_text(answer + ".\n");
  } else if (verb == "ping") {
    const double count = whole(words, 1, kMostPings);
    for (int i = 0; i < count; ++i) {
      control_.receive_bytes(1);
      control_.send_text(".");
    }
  } else if (verb == "receive") {
    const double bytes = whole(words, 1, kMostMessage);
    auto taken = take(words, 2);
    control_.send_text("ready\n");
    receive_message(taken[0], bytes);
    put(words[2], std::move(taken[0]));
    control_.send_text("received\n");
  } else if (verb == "send") {
    const double bytes = whole(words, 1, kMostMessage), pause = number(words, 2, kMostSessionPause),
                 rtt = number(words, 3, kMostRtt);
    auto taken = take(words, 4);
    const Message message = send_message(taken[0], bytes, pause, rtt);
    put(words[4], std::move(taken[0]));
    control_.send_text("sent" + to_words(message) + "\n");
  } else if (verb == "drain") {
    auto taken = take(words, 1);
    control_.send_text("ready\n");
    std::vector<Connection*> each;
    each.reserve(taken.size());
    for (auto& connection : taken) each.push_back(&connection);
    receive_stream(each);
    control_.send_text("drained\n");
  } else if (verb == "stream") {
    const double warm_up = number(words, 1, kMostWarmUp), seconds = number(words, 2, kMostStream),
                 pace = number(words, 3, kMostPace);
    if (pace > 0 && pace < kLeastPace) throw BadCommand("the pace is too slow to report");
    auto taken = take(words, 4);
    control_.send_text("streamed" + to_words(send_stream(taken, warm_up, seconds, pace)) + "\n");
  } else if (verb == "close") {
    for (auto& connection : take(words, 1)) connection.abort();
    control_.send_text("closed\n");
  } else {
    throw BadCommand("unknown command");
  }
}

}  // namespace slmsim::calibrate::netprobe
