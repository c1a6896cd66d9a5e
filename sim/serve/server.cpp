#include <algorithm>
#include <atomic>
#include <csignal>
#include <sys/random.h>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/file.h"
#include "sim/serve/app.h"

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

std::string header(const Request& request, const char* name) {
  const auto at = request.headers.find(name);
  return at == request.headers.end() ? "" : at->second;
}

// Compares in constant time, so that the time does not reveal how much of the token is right.
bool is_token(const std::string& token, const std::string& word) {
  if (word.size() != token.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < token.size(); ++i)
    different |= static_cast<unsigned char>(token[i]) ^ static_cast<unsigned char>(word[i]);
  return different == 0;
}

std::string cookie_of(const std::string& cookies, const std::string& name) {
  for (std::size_t at = 0; at < cookies.size();) {
    const std::size_t end = std::min(cookies.find(';', at), cookies.size());
    std::string one = cookies.substr(at, end - at);
    one.erase(0, one.find_first_not_of(' '));
    if (one.starts_with(name + "=")) return one.substr(name.size() + 1);
    at = end + 1;
  }
  return "";
}

bool shows_token(const Guard& guard, const Request& request) {
  const std::string bearer = header(request, "authorization");
  if (bearer.starts_with("Bearer ")) return is_token(guard.token, bearer.substr(7));
  return is_token(guard.token, cookie_of(header(request, "cookie"), guard.cookie));
}

}  // namespace

std::unique_ptr<Listener> Listener::make() {
  return std::unique_ptr<Listener>(library_function<Listener*()>("libslmsim_http.so", "slmsim_http_listener")());
}

void serve(const ServerOptions& options, const std::function<void(const std::string&)>& ready) {
  const auto listener = Listener::make();
  const int port = listener->bind(options.host, options.port);
  if (port <= 0) {
    const bool has_address = options.port != 0 && Listener::make()->bind(options.host, 0) > 0;
    throw InputError({}, has_address ? fmt::format("port {} of {} is not available; --port 0 takes a free one",
                                                   options.port, printable(options.host))
                                     : fmt::format("--host {}: this machine has no such address",
                                                   printable(options.host).substr(0, 64)));
  }

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

std::string new_token() {
  std::array<unsigned char, 16> bytes{};
  if (getentropy(bytes.data(), bytes.size()) != 0)
    throw std::system_error(errno, std::generic_category(), "no random numbers");
  std::string out;
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

std::optional<Response> check(const Guard& guard, const Request& request) {
  const std::string host = header(request, "host"), origin = header(request, "origin");
  const auto is_own = [&](const std::string& word) {
    return std::ranges::find(guard.hosts, word) != guard.hosts.end();
  };
  // Host contains the name where another name leads here (DNS rebinding).
  if (!is_own(host)) return refusal(403, "this page answers only under the address that slmsim serve printed");
  if (request.method != "GET" && request.method != "POST")
    return refusal(405, "use GET for the page and its parts, POST for requests");
  const bool entry = request.method == "GET" && request.path == "/" && request.query.contains("token");
  if (!origin.empty() && !(origin.starts_with("http://") && is_own(origin.substr(7))))
    return refusal(403, "requests of other pages are refused");
  const std::string from = header(request, "sec-fetch-site");
  if (!entry && !from.empty() && from != "same-origin" && from != "none")
    return refusal(403, "requests of other pages are refused");
  if (entry && is_token(guard.token, request.query.at("token"))) {
    Response sent_on{.status = 303, .type = "text/plain", .body = "", .headers = {{"Location", "/"}}};
    sent_on.headers.emplace_back("Set-Cookie",
                                 fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", guard.cookie, guard.token));
    return sent_on;
  }
  if (!shows_token(guard, request))
    return refusal(401, "open the address that slmsim serve printed: it holds the token");
  if (request.method == "POST" && !header(request, "content-type").starts_with("application/json"))
    return refusal(415, "Content-Type: application/json is expected");
  return std::nullopt;
}

}  // namespace slmsim::web
