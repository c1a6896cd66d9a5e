// The files of sim/serve/web, compiled into the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slmsim::web {

struct Asset {
  const char* name;  // "page.css"
  std::string_view text;
};

// Generated at build time from the files.
const std::vector<Asset>& assets();
// nullptr where no asset has this name.
const Asset* find_asset(const std::string& name);

}  // namespace slmsim::web
