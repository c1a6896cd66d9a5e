// A request and its response, as the handlers have them: no sockets, no library.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/json_values.h"

namespace slmsim::web {

struct Request {
  std::string method, path;                    // the path without its query
  std::map<std::string, std::string> headers;  // names in small letters
  std::map<std::string, std::string> query;
  std::string body;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// {"errors": [{"text": ...}]}, as all that goes wrong is told.
Response refusal(int status, const std::string& text);

}  // namespace slmsim::web
