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
std::string dumped(const Json& json);
Response json_response(const Json& json);
// {"errors": [{"text": ...}]}, the form of every error.
Response refusal(int status, const std::string& text);

}  // namespace slmsim::web
