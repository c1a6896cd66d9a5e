#include <cctype>
#include <sstream>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/inventory/inventory.h"

namespace slmsim {
namespace {

struct SshBlock {
  std::vector<std::string> hosts;
  HostVariables variables;
  Place place;
};

// Words KEY=VALUE of a comment; others are somebody's prose.
void read_comment(const std::string& text, const Place& place, HostVariables& variables) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    variables.values[word.substr(0, equals)] = word.substr(equals + 1);
    variables.places[word.substr(0, equals)] = place;
  }
}

}  // namespace

Inventory read_ssh_config(const std::string& file) {
  const std::string text = read_text(file);
  const auto source = std::make_shared<const Source>(Source{file, text});
  std::vector<SshBlock> blocks;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    const Place place{source, number, static_cast<int>(begin) + 1};
    if (line[begin] == '#') {
      if (!blocks.empty()) read_comment(line.substr(begin + 1), place, blocks.back().variables);
      continue;
    }
    for (char& c : line) {
      if (c == '=' || c == '\t' || c == '\r') c = ' ';
    }
    std::istringstream words(line);
    std::string key, word;
    words >> key;
    if (lower_case(key) != "host" && lower_case(key) != "match") continue;
    blocks.push_back({{}, {}, place});
    while (lower_case(key) == "host" && words >> word && word.front() != '#') {
      if (word.find_first_of("*?!") == std::string::npos) blocks.back().hosts.push_back(word);
    }
  }
  Inventory out;
  for (const auto& block : blocks) {
    for (const auto& host : block.hosts) out.machines.push_back(read_host(host, block.variables, block.place));
  }
  if (out.machines.empty())
    throw InputError(Place{source, 0, 0}, "there is no Host in it; a block begins with Host NAME");
  return out;
}

}  // namespace slmsim
