// Access control: requests need the token and must come from the page's own address. docs/commands/serve.md describes the
// threats.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/serve/message.h"

namespace slmsim::web {

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

}  // namespace slmsim::web
