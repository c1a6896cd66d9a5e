// A request and its response, as the handlers use them: no sockets, no library.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/json_values.h"

namespace slmsim::web {

struct Request {
  std::string method, path;                    // the path without its query
  std::map<std::string, std::string> headers;  // names in lower case
  std::map<std::string, std::string> query;
  std::string body;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// A line of JSON; invalid UTF-8 is replaced.
inline std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

inline Response json_response(const Json& json) { return {.body = dumped(json)}; }

// {"errors": [{"text": ...}]}, the form of every error.
inline Response refusal(int status, const std::string& text) {
  const Json errors = {{"errors", {{{"text", text}, {"message", text}}}}};
  return {.status = status, .body = dumped(errors)};
}

// Access control: requests need the token and must come from the page's own address. docs/commands/serve.md describes the
// threats.

struct Guard {
  std::string token;
  std::vector<std::string> hosts;  // allowed values of Host: "127.0.0.1:8765"
  std::string cookie;              // name of the cookie; cookies ignore ports, so the port is in it
};

// 32 hexadecimal digits from the system's random numbers.
std::string new_token();

// The response to a refused request; nothing where the request may proceed. The address with the token gets a cookie and a
// redirect, so that the token does not stay in the address. Does not read the body.
std::optional<Response> check(const Guard& guard, const Request& request);

// An HTTP listener. The code that calls the HTTP library is a separate library (http_library.cpp), loaded where pages are
// served.

class Listener {
 public:
  // Throws std::logic_error where that library is not installed with the program.
  static std::unique_ptr<Listener> make();
  virtual ~Listener() = default;

  // The bound port, also where 0 requests a free one; below 1: binding failed.
  virtual int bind(const std::string& host, int port) = 0;
  // Runs on its own threads, until stop(). Requests for which `refuses` returns true are answered before their body is read.
  virtual void start(std::function<bool(const Request&)> refuses, std::function<Response(const Request&)> answer) = 0;
  // Waits for open requests.
  virtual void stop() = 0;
};

}  // namespace slmsim::web
