// The only file that uses the HTTP library.
#include <algorithm>
#include <cctype>
#include <httplib.h>
#include <thread>

#include "sim/serve/message.h"

namespace slmsim::web {
namespace {

constexpr std::size_t kThreads = 32;         // a connection occupies one as long as it stays open
constexpr std::size_t kMostBody = 4u << 20;  // a scenario of kMaxFileBytes, with JSON's escapes
constexpr int kPatienceSeconds = 5;          // timeout of a connection that neither sends nor receives
constexpr int kKeptSeconds = 2;              // lifetime of an idle connection; shutdown waits for it
constexpr std::size_t kRequestsOfConnection = 1000;

Request request_of(const httplib::Request& from) {
  Request out{.method = from.method, .path = from.path, .headers = {}, .query = {}, .body = from.body};
  for (const auto& [word, value] : from.headers) {
    std::string name = word;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    // With a repeated header one reader would see the first and another the last.
    if (const auto [at, is_new] = out.headers.emplace(name, value); !is_new) at->second += ", " + value;
  }
  for (const auto& [name, value] : from.params) out.query.emplace(name, value);
  return out;
}

void give(const Response& from, httplib::Response& to) {
  to.status = from.status;
  for (const auto& [name, value] : from.headers) to.set_header(name, value);
  // cpp-httplib does not compress a body from a provider; compressing takes longer than all other work for a page.
  const auto send = [body = from.body](std::size_t offset, std::size_t length, httplib::DataSink& client) {
    return client.write(body.data() + offset, length);
  };
  if (from.body.empty())
    to.set_content(from.body, from.type);  // cpp-httplib asks a provider of length zero for ever
  else
    to.set_content_provider(from.body.size(), from.type, send);
}

class Http : public Listener {
 public:
  Http() {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_payload_max_length(kMostBody);
    server_.set_read_timeout(kPatienceSeconds);
    server_.set_write_timeout(kPatienceSeconds);
    server_.set_keep_alive_timeout(kKeptSeconds);
    server_.set_keep_alive_max_count(kRequestsOfConnection);
    server_.set_tcp_nodelay(true);
    // By default the library lets a second program listen on the same port.
    server_.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
  }

  int bind(const std::string& host, int port) override {
    if (port == 0) return server_.bind_to_any_port(host);
    return server_.bind_to_port(host, port) ? port : -1;
  }

  void start(std::function<bool(const Request&)> refuses, std::function<Response(const Request&)> answer) override {
    server_.set_pre_routing_handler([refuses, answer](const httplib::Request& from, httplib::Response& to) {
      const Request request = request_of(from);
      if (!refuses(request)) return httplib::Server::HandlerResponse::Unhandled;
      give(answer(request), to);
      return httplib::Server::HandlerResponse::Handled;
    });
    const auto handler = [answer](const httplib::Request& from, httplib::Response& to) {
      give(answer(request_of(from)), to);
    };
    server_.Get(".*", handler);
    server_.Post(".*", handler);
    listening_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();  // it cannot be stopped earlier
  }

  void stop() override {
    server_.stop();
    listening_.join();
  }

 private:
  httplib::Server server_;
  std::thread listening_;
};

}  // namespace
}  // namespace slmsim::web

extern "C" [[gnu::visibility("default")]] slmsim::web::Listener* slmsim_http_listener() {
  return new slmsim::web::Http;
}
