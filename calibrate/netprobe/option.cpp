#include "calibrate/netprobe/option.h"

#include <optional>

#include "calibrate/common/text.h"
#include "calibrate/netprobe/failure.h"
#include "calibrate/netprobe/profile.h"
#include "calibrate/netprobe/schedule.h"

namespace slmsim::calibrate::netprobe {
namespace {

constexpr double kLeastTime = 20, kMostTime = 24 * 3600, kMostSize = 64e9;
constexpr double kQuickTime = 90, kQuickSize = 64e6;
constexpr int kQuickRepeats = 3;
constexpr double kMostSessions = 1000, kMostBytes = 1e15;
constexpr double kLeastWatch = 7200, kMostWatch = 7 * 24 * 3600, kLeastPause = 60, kMostPause = 3600,
                 kUsualPause = 1800;

class Words {
 public:
  explicit Words(const std::vector<std::string>& words) : words_(words) {}
  bool more() const { return at_ < words_.size(); }
  std::string next() { return words_[at_++]; }
  // The option's value: the next word, or the text after "=".
  std::string value(const std::string& option) {
    if (!more()) throw UsageError(option + " needs a value; see slmsim-netprobe --help");
    return next();
  }

 private:
  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
};

template <class Parse>
double quantity(const std::string& option, const std::string& text, Parse parse, double low, double high,
                const std::string& right) {
  const auto value = parse(text);
  if (!value || *value < low || *value > high)
    throw UsageError(format("%s: \"%s\" is not %s", option.c_str(), printable(text).c_str(), right.c_str()));
  return *value;
}

int port(const std::string& option, const std::string& text) {
  const double value = quantity(option, text, parse_number, 0, 65535, "a port from 0 to 65535");
  if (value != static_cast<int>(value)) throw UsageError(option + ": a port is a whole number");
  return static_cast<int>(value);
}

[[noreturn]] void unknown(const std::string& word, const std::string& known) {
  throw UsageError(format("unknown %s \"%s\"; known are: %s", word.starts_with("-") ? "option" : "word",
                          printable(word).substr(0, 64).c_str(), known.c_str()));
}

std::string token_from(const std::string& option, const std::string& text) {
  if (!is_token(text))
    throw UsageError(
        format("%s: a token has %zu to %zu letters, digits, '-', '_' and '.'; the server generates one by default",
               option.c_str(), kShortestToken, kLongestToken));
  return text;
}

Options server(Words words, const std::string& token) {
  Options options;
  options.verb = Options::Verb::kServer;
  options.port = kDefaultPort;
  while (words.more()) {
    const std::string word = words.next();
    if (word == "--help" || word == "-h") return {};
    if (word == "--port") {
      options.port = port(word, words.value(word));
    } else if (word == "--bind") {
      options.bind = words.value(word);
    } else if (word == "--token") {
      options.limits.token = token_from(word, words.value(word));
    } else if (word == "--sessions") {
      const double sessions =
          quantity(word, words.value(word), parse_number, 1, kMostSessions, "a number of sessions from 1 to 1000");
      options.limits.sessions = static_cast<int>(sessions);
      if (sessions != options.limits.sessions) throw UsageError("--sessions: a number of sessions is whole");
    } else if (word == "--max-time") {
      options.limits.seconds = quantity(word, words.value(word), parse_time, kLeastTime, kMostTime,
                                        "a time such as 15min, from 20 s to 24 h");
    } else if (word == "--max-bytes") {
      options.limits.bytes =
          quantity(word, words.value(word), parse_size, kSmallest, kMostBytes, "a size such as 500GB, up to 1 PB");
    } else {
      unknown(word, "--port, --bind, --token, --sessions, --max-time, --max-bytes");
    }
  }
  if (options.limits.token.empty() && !token.empty()) options.limits.token = token_from(kTokenVariable, token);
  return options;
}

// `curves`: whether an option was given that only a profile has.
void check_watch(Options& options, bool curves) {
  if (options.watch == 0) {
    if (options.every > 0) throw UsageError("--every is for --watch TIME");
    return;
  }
  if (curves) throw UsageError("--quick, --max-size and --time-limit have no effect with --watch; leave them out");
  if (options.output.empty()) throw UsageError("--watch needs --output FILE, from which it resumes after interruption");
  if (options.name.empty()) throw UsageError("--watch needs --name, the link's name in your platform");
  if (options.every == 0) options.every = kUsualPause;
}

Options client(Words words, const std::string& token) {
  Options options;
  options.verb = Options::Verb::kClient;
  options.port = kDefaultPort;
  std::optional<double> time, size;
  while (words.more()) {
    const std::string word = words.next();
    if (word == "--help" || word == "-h") return {};
    if (word == "--port") {
      options.port = port(word, words.value(word));
    } else if (word == "--output" || word == "-o") {
      options.output = words.value(word);
    } else if (word == "--name") {
      options.name = words.value(word);
      if (!is_name(options.name))
        throw UsageError("--name: \"" + printable(options.name) +
                         "\" is not a name; letters, digits, '-', '_' and '.' make one");
    } else if (word == "--token") {
      options.token = token_from(word, words.value(word));
    } else if (word == "--quick") {
      options.request.time_limit = kQuickTime;
      options.request.largest = kQuickSize;
      options.request.repeats = kQuickRepeats;
    } else if (word == "--one-way") {
      options.request.one_way = true;
    } else if (word == "--max-size") {
      size = quantity(word, words.value(word), parse_size, kSmallest, kMostSize,
                      "a size such as 256MB, from 64 kB to 64 GB");
    } else if (word == "--time-limit") {
      time = quantity(word, words.value(word), parse_time, kLeastTime, kMostTime,
                      "a time such as 5min, from 20 s to 24 h");
    } else if (word == "--watch") {
      options.watch = quantity(word, words.value(word), parse_time, kLeastWatch, kMostWatch,
                               "a time such as 24h, from 2 h to 168 h");
    } else if (word == "--every") {
      options.every = quantity(word, words.value(word), parse_time, kLeastPause, kMostPause,
                               "a time such as 30min, from 1 min to 1 h");
    } else if (!word.starts_with("-") && options.host.empty()) {
      options.host = word;
    } else {
      unknown(word,
              "--port, --token, --output, --name, --quick, --one-way, --max-size, --time-limit, --watch, --every");
    }
  }
  check_watch(options, time || size || options.request.repeats == kQuickRepeats);
  if (options.host.empty()) throw UsageError("client needs the server's name or address; see slmsim-netprobe --help");
  if (options.token.empty() && !token.empty()) options.token = token_from(kTokenVariable, token);
  if (options.token.empty())
    throw UsageError(
        format("client needs --token TOKEN (or %s), which the server prints at its start", kTokenVariable));
  options.request.time_limit = time.value_or(options.request.time_limit);
  options.request.largest = size.value_or(options.request.largest);
  return options;
}

}  // namespace

const char* const kHelp =
    R"(Measures the path between two hosts over TCP, for a link of slmsim's platforms.

  slmsim-netprobe server [--port N] [--bind ADDRESS] [--token TOKEN] [--sessions N] [--max-time TIME]
                         [--max-bytes SIZE]
  slmsim-netprobe client HOST --token TOKEN [--port N] [--output FILE] [--name NAME] [--quick] [--one-way]
                         [--max-size SIZE] [--time-limit TIME]
  slmsim-netprobe client HOST --token TOKEN --watch TIME --name LINK --output FILE [--every TIME] [--one-way]

server waits for a client with its token, serves its measurements, and exits.
  --port N           port to listen on; default 5210, 0 takes a free one and prints it
  --bind ADDRESS     listen on this address only; default all, IPv4 and IPv6
  --token TOKEN      16 characters or more; default a new one, which it prints. SLMSIM_NETPROBE_TOKEN in the environment
                     works too, for server and client, and is hidden from other users of the machine
  --sessions N       exit after N clients; default 1. It also exits after an hour without one
  --max-time TIME    limit of a session; default 15min
  --max-bytes SIZE   limit of a session, both directions; default 500GB

client measures round trips, cold-start and after-idle times of messages, the steady rate of 1, 2, 4 and 8
connections and loss, in both directions, and writes a path profile (YAML).
  --port N           the server's port; default 5210
  --token TOKEN      the server's
  --output, -o FILE  the profile; default standard output
  --name NAME        name of the path; default from the hosts' names
  --max-size SIZE    largest message; default 1GB
  --time-limit TIME  default 5min; points beyond it are skipped and listed in the profile
  --quick            --time-limit 90s --max-size 64MB and fewer repeats
  --one-way          only from client to server
  --watch TIME       measure round trips and rate at intervals for TIME, and write the hours of a link's day, part of a
                     scenario; with the same output it resumes. Each measurement takes one of the server's --sessions
  --every TIME       interval of measurements; default 30min. Each fills the path for about three seconds per direction

Examples:
  slmsim-netprobe server                                    on one VM; it prints its token
  slmsim-netprobe client 203.0.113.7 -o lab-cloud.yaml --token 0123456789abcdef0123456789abcdef      on the other
  slmsim check lab-cloud.yaml

Exit status: 0 done, 1 the network or the other host failed, 2 bad usage or output, 3 internal error.
)";

Options parse_options(const std::vector<std::string>& words, const std::string& token) {
  Words rest(words);
  if (!rest.more()) throw UsageError("say server or client; see slmsim-netprobe --help");
  const std::string verb = rest.next();
  if (verb == "--help" || verb == "-h") return {};
  if (verb == "--version")
    return {.verb = Options::Verb::kVersion,
            .port = 0,
            .bind = {},
            .limits = {},
            .host = {},
            .output = {},
            .name = {},
            .token = {},
            .request = {}};
  if (verb == "server") return server(rest, token);
  if (verb == "client") return client(rest, token);
  unknown(verb, "server, client, --help, --version");
}

std::string without_token(const std::vector<std::string>& words) {
  std::string text = "slmsim-netprobe";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--token") {
      ++i;
    } else {
      text += " " + words[i];
    }
  }
  return text;
}

}  // namespace slmsim::calibrate::netprobe
