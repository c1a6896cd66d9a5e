// The files of sim/serve/web, which are inside the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slmsim::web {

struct Asset {
  const char* name;  // "page.css"
  std::string_view text;
};

// Written at build from the files themselves.
const std::vector<Asset>& assets();
// nullptr where there is none of that name.
const Asset* find_asset(const std::string& name);
// The media type by the name's ending.
std::string media_type(const std::string& name);

}  // namespace slmsim::web
