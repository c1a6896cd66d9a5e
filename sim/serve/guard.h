// Who may ask: only what shows the token, from the page's own address (docs/serve.md tells the threats).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/serve/message.h"

namespace slmsim::web {

struct Guard {
  std::string token;
  std::vector<std::string> hosts;  // what Host may say: "127.0.0.1:8765"
  std::string cookie;              // its name; cookies do not tell ports apart, so the port is in it
};

// 32 hexadecimal digits from the system's random numbers.
std::string new_token();

// A response in place of what was asked for; nothing where the request may go on. The address with the token is answered with
// a cookie and sent on, so that the token does not stay in the address. Looks at no body.
std::optional<Response> check(const Guard& guard, const Request& request);

}  // namespace slmsim::web
