#include <filesystem>
#include <glob.h>
#include <sstream>

#include "sim/base/text.h"
#include "sim/import/inventory/inventory.h"

namespace slmsim {
namespace {

struct SshBlock {
  std::vector<std::string> hosts;
  HostVariables variables;
  Place place;
};

// Words KEY=VALUE of a comment; other words are ignored.
void read_comment(const std::string& text, const Place& place, HostVariables& variables) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    variables.values[word.substr(0, equals)] = word.substr(equals + 1);
    variables.places[word.substr(0, equals)] = place;
  }
}

// A line's words; a quoted text is one word.
std::vector<std::string> ssh_words(const std::string& line) {
  std::vector<std::string> words;
  bool quoted = false, open = false;
  for (const char c : line) {
    const bool blank = !quoted && (c == ' ' || c == '\t' || c == '\r' || (c == '=' && words.size() == 1));
    if (blank) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (c == '"')
      quoted = !quoted;
    else
      words.back() += c;
  }
  return words;
}

// Files named by the words of Include: shell patterns and "~", relative to the folder of the including file.
std::vector<std::string> included(const std::vector<std::string>& words, const std::filesystem::path& folder) {
  std::vector<std::string> out;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool whole = words[i].front() == '/' || words[i].front() == '~';
    const std::string pattern = whole ? words[i] : (folder / words[i]).string();
    glob_t found{};
    if (glob(pattern.c_str(), GLOB_TILDE, nullptr, &found) == 0) {
      for (std::size_t k = 0; k < found.gl_pathc; ++k) out.emplace_back(found.gl_pathv[k]);
    }
    globfree(&found);
  }
  return out;
}

void read_blocks(const std::string& file, int depth, std::vector<SshBlock>& blocks) {
  constexpr int kDeepest = 16;  // ssh_config(5): readconf.c, READCONF_MAX_DEPTH
  const std::string text = read_text(file);
  const auto source = std::make_shared<const Source>(Source{file, text});
  std::istringstream lines(text);
  std::string line;
  bool begun = false;  // a block of this file
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    const Place place{source, number, static_cast<int>(begin) + 1};
    if (line[begin] == '#') {
      if (begun) read_comment(line.substr(begin + 1), place, blocks.back().variables);
      continue;
    }
    const auto hash = line.find(" #");
    const auto words = ssh_words(line.substr(0, hash));
    if (words.empty()) continue;
    const std::string key = lower_case(words.front());
    if (key == "include") {
      if (depth >= kDeepest) throw InputError(place, "files include each other too deeply");
      for (const auto& other : included(words, std::filesystem::path(file).parent_path()))
        read_blocks(other, depth + 1, blocks);
      begun = false;
      continue;
    }
    if (key != "host" && key != "match") continue;
    blocks.push_back({{}, {}, place});
    begun = true;
    for (std::size_t i = 1; key == "host" && i < words.size(); ++i) {
      if (words[i].find_first_of("*?!") == std::string::npos) blocks.back().hosts.push_back(words[i]);
    }
    if (hash != std::string::npos) read_comment(line.substr(hash + 2), place, blocks.back().variables);
  }
}

}  // namespace

Inventory read_ssh_config(const std::string& file) {
  std::vector<SshBlock> blocks;
  read_blocks(file, 0, blocks);
  // Where several blocks describe a host, ssh takes the first value.
  std::vector<std::string> order;
  std::map<std::string, SshBlock> hosts;
  for (const auto& block : blocks) {
    for (const auto& host : block.hosts) {
      const auto [at, is_new] = hosts.try_emplace(host, SshBlock{{}, {}, block.place});
      if (is_new) order.push_back(host);
      at->second.variables.values.insert(block.variables.values.begin(), block.variables.values.end());
      at->second.variables.places.insert(block.variables.places.begin(), block.variables.places.end());
    }
  }
  Inventory out;
  for (const auto& host : order) out.machines.push_back(read_host(host, hosts[host].variables, hosts[host].place));
  if (out.machines.empty()) throw InputError(whole_of(file), "there is no Host in it; a block begins with Host NAME");
  return out;
}

}  // namespace slmsim
