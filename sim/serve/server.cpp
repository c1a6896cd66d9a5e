#include "sim/serve/server.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <csignal>
#include <httplib.h>
#include <thread>

#include <fmt/format.h>

namespace slmsim::web {
namespace {

constexpr std::size_t kThreads = 32;         // a connection keeps one as long as it stays open
constexpr std::size_t kMostBody = 4u << 20;  // a scenario of kMaxFileBytes, with what JSON escapes
constexpr int kPatienceSeconds = 5;          // of a connection that sends or takes nothing
constexpr int kKeptSeconds = 2;              // of a connection between two requests; an end waits for it
constexpr std::size_t kRequestsOfConnection = 1000;

Request request_of(const httplib::Request& from) {
  Request out{.method = from.method, .path = from.path, .headers = {}, .query = {}, .body = from.body};
  for (const auto& [word, value] : from.headers) {
    std::string name = word;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    // A header that stands twice would let one reader see the first and another the last.
    if (const auto [at, is_new] = out.headers.emplace(name, value); !is_new) at->second += ", " + value;
  }
  for (const auto& [name, value] : from.params) out.query.emplace(name, value);
  return out;
}

void give(const Response& from, httplib::Response& to) {
  to.status = from.status;
  for (const auto& [name, value] : from.headers) to.set_header(name, value);
  to.set_content(from.body, from.type);
}

bool is_every_address(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

// As Host has them.
std::vector<std::string> hosts_of(const std::string& host, int port) {
  std::vector<std::string> names = {"127.0.0.1", "localhost", "[::1]"};
  if (!is_every_address(host)) names.push_back(host.find(':') == std::string::npos ? host : "[" + host + "]");
  for (auto& name : names) name += fmt::format(":{}", port);
  return names;
}

}  // namespace

void serve(const ServerOptions& options, const std::function<void(const std::string&)>& ready) {
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_payload_max_length(kMostBody);
  server.set_read_timeout(kPatienceSeconds);
  server.set_write_timeout(kPatienceSeconds);
  server.set_keep_alive_timeout(kKeptSeconds);
  server.set_keep_alive_max_count(kRequestsOfConnection);
  server.set_tcp_nodelay(true);
  // The library would let a second program listen on the same port.
  server.set_socket_options([](int socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  const int port = options.port == 0                                 ? server.bind_to_any_port(options.host)
                   : server.bind_to_port(options.host, options.port) ? options.port
                                                                     : -1;
  if (port <= 0)
    throw InputError({}, fmt::format("port {} of {} cannot be had; --port 0 takes a free one", options.port,
                                     printable(options.host)));

  // All threads are born with them blocked; this one waits for them.
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
          [&](const Asking& asking) {
            Asking until_the_end = asking;
            until_the_end.cancelled = [&] { return ending || (asking.cancelled && asking.cancelled()); };
            return helpers.ask(until_the_end);
          });
  const auto handler = [&](const httplib::Request& from, httplib::Response& to) {
    give(app.handle(request_of(from)), to);
  };
  // Before anything of a body is read.
  server.set_pre_routing_handler([&](const httplib::Request& from, httplib::Response& to) {
    const Request request = request_of(from);
    if (!app.refuse(request)) return httplib::Server::HandlerResponse::Unhandled;
    give(app.handle(request), to);
    return httplib::Server::HandlerResponse::Handled;
  });
  server.Get(".*", handler);
  server.Post(".*", handler);
  std::thread listening([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();  // before, it could not be stopped
  ready(address);
  int got = 0;
  sigwait(&ends, &got);
  ending = true;
  server.stop();
  listening.join();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace slmsim::web
