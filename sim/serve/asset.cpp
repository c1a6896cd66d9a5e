#include "sim/serve/asset.h"

#include <algorithm>

namespace slmsim::web {

const Asset* find_asset(const std::string& name) {
  const auto& all = assets();
  const auto at = std::ranges::find_if(all, [&](const Asset& asset) { return asset.name == name; });
  return at == all.end() ? nullptr : &*at;
}

std::string media_type(const std::string& name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "text/plain; charset=utf-8";
}

}  // namespace slmsim::web
