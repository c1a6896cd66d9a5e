#include "sim/serve/message.h"

namespace slmsim::web {

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

Response json_response(const Json& json) { return {.body = dumped(json)}; }

Response refusal(int status, const std::string& text) {
  const Json errors = {{"errors", {{{"text", text}, {"message", text}}}}};
  return {.status = status, .body = dumped(errors)};
}

}  // namespace slmsim::web
