// A request and its response, as the handlers use them: no sockets, no library.
#pragma once

#include <map>
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

}  // namespace slmsim::web
