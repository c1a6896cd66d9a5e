#include "calibrate/netprobe/wire.h"

#include <chrono>

#include "calibrate/common/text.h"
#include "calibrate/netprobe/failure.h"
#include "calibrate/netprobe/server.h"
#include "calibrate/netprobe/statistics.h"

namespace slmsim::calibrate::netprobe {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string joined(const std::vector<std::string>& ids) {
  std::string out;
  for (const auto& id : ids) out += " " + id;
  return out;
}

}  // namespace

Client::Client(std::string host, int port, const std::string& token)
    : host_(std::move(host)), port_(port), control_(connect_to(host_, port)) {
  const std::string where = format("%s port %d", printable(host_).c_str(), port_);
  std::string said;
  try {
    control_.send_text(format("%s %d control %s\n", kGreeting, kProtocol, token.c_str()));
    said = control_.read_line();
  } catch (const NetworkError& error) {
    throw NetworkError(format("the program at %s does not answer as slmsim-netprobe: %s", where.c_str(), error.what()));
  }
  const auto words = words_of(said);
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == "busy") throw NetworkError("the server at " + where + " is busy with another client; try again later");
  if (verb == "refused")
    throw NetworkError("the server at " + where + " has another token; give the one that it printed at its start");
  if (verb == "version" && words.size() == 2)
    throw NetworkError(format(
        "the server at %s speaks version %s of the protocol, this program %d; use the same program on both hosts",
        where.c_str(), printable(words[1]).c_str(), kProtocol));
  if (verb != "welcome" || words.size() != 2)
    throw NetworkError("what listens at " + where + " is not slmsim-netprobe; is it another program's port?");
  key_ = words[1];
}

Client::~Client() {
  try {
    control_.send_text("bye\n");
  } catch (const NetworkError&) {
    // It is already gone.
  }
}

std::vector<std::string> Client::answer(const std::string& verb, double patience) {
  std::string line;
  try {
    line = control_.read_line(patience);
  } catch (const NetworkError& error) {
    throw NetworkError(format("lost the server: %s; see the messages on its terminal", error.what()));
  }
  auto words = words_of(line);
  if (words.empty() || words[0] != verb) throw NetworkError(format("the server refused: %s", printable(line).c_str()));
  return words;
}

std::string Client::open(Connection& connection) {
  connection = connect_to(host_, port_);
  std::string id = std::to_string(++opened_);
  connection.send_text(format("%s %d data %s %s\n", kGreeting, kProtocol, key_.c_str(), id.c_str()));
  if (connection.read_line() != "ok") throw NetworkError("the server did not take a data connection");
  return id;
}

std::vector<std::string> Client::open(std::vector<Connection>& connections, int count) {
  std::vector<std::string> ids;
  ids.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) ids.push_back(open(connections.emplace_back()));
  return ids;
}

Hosts Client::hosts() {
  Hosts hosts{facts_of_this_host(), {}, own_address_of(control_.get()), peer_of(control_.get())};
  control_.send_text("facts\n");
  constexpr std::size_t kMostFacts = 100;
  for (std::size_t i = 0; i < kMostFacts; ++i) {
    const std::string line = control_.read_line();
    if (line == ".") return hosts;
    const auto space = line.find(' ');
    if (space != std::string::npos) hosts.server[printable(line.substr(0, space))] = printable(line.substr(space + 1));
  }
  throw NetworkError("the server's description is longer than expected");
}

std::vector<double> Client::ping(int count) {
  control_.send_text(format("ping %d\n", count));
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const double start = seconds_now();
    control_.send_text(".");
    control_.receive_bytes(1);
    times.push_back(seconds_now() - start);
  }
  // The first one also carries the command.
  if (times.size() > 1) times.erase(times.begin());
  rtt_ = spread_of(times).median;
  return times;
}

Message Client::transfer(Direction direction, const Connection& connection, const std::string& id, double bytes,
                         double pause) {
  if (direction == Direction::kForward) {
    control_.send_text(format("receive %.0f %s\n", bytes, id.c_str()));
    answer("ready", kPatience);
    const Message message = send_message(connection, bytes, pause, rtt_);
    answer("received", kPatience);
    return message;
  }
  control_.send_text(format("send %.0f %.6f %.9f %s\n", bytes, pause, rtt_, id.c_str()));
  connection.wait_readable(pause);
  receive_message(connection, bytes);
  return message_from(answer("sent", kPatience));
}

Wire Client::wire() {
  Wire wire;
  wire.now = seconds_now;
  wire.ping = [this](int count) { return ping(count); };
  wire.kernel_rtt = [this] { return sample(control_).least_rtt; };
  wire.idle = [this](Direction direction, double warm_up, double timeouts, double bytes) {
    Connection connection;
    const std::string id = open(connection);
    double pause = 0;
    if (warm_up > 0) {
      transfer(direction, connection, id, warm_up, 0);
      // A transfer of one byte reports the time-out after the warm-up.
      pause = timeouts * transfer(direction, connection, id, 1, 0).rto;
    }
    const Message message = transfer(direction, connection, id, bytes, pause);
    connection.abort();
    control_.send_text("close " + id + "\n");
    answer("closed", kPatience);
    return message;
  };
  wire.cold = [idle = wire.idle](Direction direction, double bytes) { return idle(direction, 0, 0, bytes); };
  wire.stream = [this](Direction direction, int count, double warm_up, double seconds, double pace) {
    std::vector<Connection> connections;
    const auto ids = open(connections, count);
    if (direction == Direction::kForward) {
      control_.send_text("drain" + joined(ids) + "\n");
      answer("ready", kPatience);
      const Stream stream = send_stream(connections, warm_up, seconds, pace);
      answer("drained", kPatience);
      return stream;
    }
    control_.send_text(format("stream %.6f %.6f %.0f%s\n", warm_up, seconds, pace, joined(ids).c_str()));
    std::vector<Connection*> each;
    each.reserve(connections.size());
    for (auto& connection : connections) each.push_back(&connection);
    receive_stream(each);
    return stream_from(answer("streamed", kPatience));
  };
  return wire;
}

}  // namespace slmsim::calibrate::netprobe
