#include "sim/serve/message.h"

namespace slmsim::web {

Response refusal(int status, const std::string& text) {
  const Json errors = {{"errors", {{{"text", text}, {"message", text}}}}};
  return {.status = status, .body = errors.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

}  // namespace slmsim::web
