#include "sim/serve/server.h"

#include <atomic>
#include <csignal>

#include <fmt/format.h>

#include "sim/base/library.h"
#include "sim/serve/listener.h"

namespace slmsim::web {
namespace {

bool is_every_address(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

// Values of Host.
std::vector<std::string> hosts_of(const std::string& host, int port) {
  std::vector<std::string> names = {"127.0.0.1", "localhost", "[::1]"};
  if (!is_every_address(host)) names.push_back(host.find(':') == std::string::npos ? host : "[" + host + "]");
  for (auto& name : names) name += fmt::format(":{}", port);
  return names;
}

}  // namespace

std::unique_ptr<Listener> Listener::make() {
  return std::unique_ptr<Listener>(library_function<Listener*()>("libslmsim_http.so", "slmsim_http_listener")());
}

void serve(const ServerOptions& options, const std::function<void(const std::string&)>& ready) {
  const auto listener = Listener::make();
  const int port = listener->bind(options.host, options.port);
  if (port <= 0)
    throw InputError({}, fmt::format("port {} of {} is not available; --port 0 takes a free one", options.port,
                                     printable(options.host)));

  // All threads start with them blocked; this one waits for them.
  sigset_t ends, before;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, &before);
  std::signal(SIGPIPE, SIG_IGN);

  Guard guard{.token = new_token(), .hosts = hosts_of(options.host, port), .cookie = fmt::format("slmsim-{}", port)};
  const std::string shown = is_every_address(options.host) ? "127.0.0.1" : options.host;
  const std::string address = fmt::format(
      "http://{}:{}/?token={}", shown.find(':') == std::string::npos ? shown : "[" + shown + "]", port, guard.token);
  std::atomic<bool> ending = false;
  Helpers helpers(options.helper, options.jobs + JobList::kMostRunning);
  App app({.guard = std::move(guard), .folder = options.folder, .open = options.open, .version = options.version},
          [&](const HelperRequest& asking) {
            HelperRequest until_the_end = asking;
            until_the_end.cancelled = [&] { return ending || (asking.cancelled && asking.cancelled()); };
            return helpers.ask(until_the_end);
          });
  listener->start([&](const Request& request) { return app.refuse(request).has_value(); },
                  [&](const Request& request) { return app.handle(request); });
  ready(address);
  int got = 0;
  sigwait(&ends, &got);
  ending = true;
  listener->stop();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace slmsim::web
