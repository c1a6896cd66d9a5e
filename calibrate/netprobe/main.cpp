// slmsim-netprobe: measures the path between two hosts.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>

#include "calibrate/common/output.h"
#include "calibrate/common/progress.h"
#include "calibrate/common/text.h"
#include "calibrate/netprobe/failure.h"
#include "calibrate/netprobe/measure.h"
#include "calibrate/netprobe/option.h"
#include "calibrate/netprobe/profile.h"
#include "calibrate/netprobe/server.h"
#include "calibrate/netprobe/watch.h"
#include "calibrate/netprobe/wire.h"

namespace slmsim::calibrate::netprobe {
namespace {

enum Status { kDone = 0, kNetworkFailed = 1, kBadUsage = 2, kInternal = 3 };

// Nothing is written before the result is complete.
void interrupted(int signal) {
  constexpr char kText[] = "\nslmsim-netprobe: interrupted; nothing was written\n";
  if (write(STDERR_FILENO, kText, sizeof kText - 1) < 0) _exit(kInternal);
  _exit(128 + signal);
}

int run_server(const Options& options) {
  const Descriptor listener = listen_on(options.bind, options.port);
  Limits limits = options.limits;
  const bool made = limits.token.empty();
  if (made) limits.token = new_token();
  const std::string where = options.bind.empty() ? "all addresses" : printable(options.bind);
  std::fprintf(stderr, "slmsim-netprobe: listening on port %d of %s; end with Ctrl-C\n", port_of(listener),
               where.c_str());
  if (made) std::fprintf(stderr, "slmsim-netprobe: clients need --token %s\n", limits.token.c_str());
  serve(listener, limits);
  return kDone;
}

int run_client(const Options& options, const std::string& command) {
  check_writable(options.output);
  std::signal(SIGINT, interrupted);
  std::signal(SIGTERM, interrupted);
  const std::string date = now_utc();
  Client client(options.host, options.port, options.token);
  const Hosts hosts = client.hosts();
  Measurement measurement;
  std::string doing;
  try {
    const ProgressLine line;
    measurement = measure(client.wire(), options.request, [&](const std::string& what, double share) {
      line.show(what, share);
      doing = what;
    });
  } catch (const NetworkError& error) {
    throw NetworkError(format("%s (%s); did the server end? Nothing was written", error.what(), doing.c_str()));
  }
  const std::string name =
      options.name.empty() ? name_from(fact(hosts.client, "host") + "-" + fact(hosts.server, "host")) : options.name;
  const std::string text = to_yaml(measurement, hosts, {name, date, command});
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  write_file(options.output, text);
  std::size_t left_out = measurement.forward.left_out.size();
  if (measurement.reverse) left_out += measurement.reverse->left_out.size();
  if (left_out > 0)
    std::fprintf(
        stderr,
        "slmsim-netprobe: %zu points were skipped for lack of time; the profile lists them, raise --time-limit\n",
        left_out);
  return kDone;
}

// The file's earlier looks; nothing where there is no file.
std::vector<WatchSample> looks_before(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return {};
  std::ostringstream text;
  text << in.rdbuf();
  try {
    return samples_of(text.str());
  } catch (const UsageError& error) {
    throw UsageError(printable(file) + ": " + error.what());
  }
}

// The file is complete after each look, so an interruption loses nothing. A failed look is reported and left out.
int run_watch(const Options& options, const std::string& command) {
  std::vector<WatchSample> samples = looks_before(options.output);
  check_writable(options.output);
  const double begin = seconds_of(samples.empty() ? now_utc() : samples.front().time);
  bool any = false;
  while (true) {
    const std::string now = now_utc();
    try {
      Client client(options.host, options.port, options.token);
      samples.push_back(sample_at(client.wire(), now, options.request.one_way));
      write_file(options.output, to_hours(samples, options.name, command));
      any = true;
    } catch (const NetworkError& error) {
      std::fprintf(stderr, "slmsim-netprobe: %s: no measurement: %s\n", now.c_str(), error.what());
    }
    const double next = seconds_of(now) + options.every;
    if (next > begin + options.watch) return any ? kDone : kNetworkFailed;
    const double left = next - seconds_of(now_utc());
    if (left > 0) std::this_thread::sleep_for(std::chrono::duration<double>(left));
  }
}

int run(const std::vector<std::string>& words) {
  const char* token = std::getenv(kTokenVariable);
  const Options options = parse_options(words, token ? token : "");
  const std::string command = without_token(words);
  switch (options.verb) {
    case Options::Verb::kHelp:
      std::fputs(kHelp, stdout);
      return kDone;
    case Options::Verb::kVersion:
      std::printf("slmsim-netprobe %s, protocol %d\n", SLMSIM_VERSION, kProtocol);
      return kDone;
    case Options::Verb::kServer:
      return run_server(options);
    case Options::Verb::kClient:
      return options.watch > 0 ? run_watch(options, command) : run_client(options, command);
  }
  return kInternal;
}

}  // namespace
}  // namespace slmsim::calibrate::netprobe

int main(int argc, char** argv) {
  using namespace slmsim::calibrate;
  using namespace slmsim::calibrate::netprobe;
  const auto fail = [](const char* text, int status) {
    std::fprintf(stderr, "slmsim-netprobe: error: %s\n", text);
    return status;
  };
  try {
    return run({argv + 1, argv + argc});
  } catch (const UsageError& error) {
    return fail(error.what(), kBadUsage);
  } catch (const NetworkError& error) {
    return fail(error.what(), kNetworkFailed);
  } catch (const std::exception& error) {
    return fail(error.what(), kInternal);
  }
}
