#include <algorithm>
#include <cctype>
#include <sstream>

#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/base/yaml.h"
#include "sim/import/inventory/inventory.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostHosts = 4096;

void lay_over(HostVariables& base, const HostVariables& over) {
  for (const auto& [key, value] : over.values) {
    base.values[key] = value;
    base.places[key] = over.places.at(key);
  }
}

// Values of a range between brackets, as Ansible reads it: 01:03 and 1:9:2, whose numbers keep their width, and a:f.
std::vector<std::string> range_of(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  if (parts.size() < 2 || parts.size() > 3) return {};
  const auto step = parts.size() == 3 ? parse_number(parts[2]) : std::optional(1.0);
  const bool letters = parts[0].size() == 1 && parts[1].size() == 1 && std::isalpha(parts[0][0]) &&
                       std::isalpha(parts[1][0]) && (std::islower(parts[0][0]) == std::islower(parts[1][0]));
  const auto first = letters ? std::optional<double>(parts[0][0]) : parse_number(parts[0]),
             last = letters ? std::optional<double>(parts[1][0]) : parse_number(parts[1]);
  if (!step || !first || !last || *step < 1 || *first < 0 || *first > *last || *last - *first >= double(kMostHosts))
    return {};
  std::vector<std::string> out;
  for (int i = static_cast<int>(*first); i <= static_cast<int>(*last); i += static_cast<int>(*step))
    out.push_back(letters ? std::string(1, static_cast<char>(i)) : fmt::format("{:0{}}", i, parts[0].size()));
  return out;
}

// rack[1:2]-node[01:03].lab: six hosts.
std::vector<std::string> hosts_of(const std::string& pattern, const Place& place) {
  const auto open = pattern.find('['), close = pattern.find(']', open);
  if (open == std::string::npos) {
    // node1:2222 has an ssh port; IPv6 addresses have several colons.
    const auto colon = pattern.find(':');
    const bool port = colon != std::string::npos && pattern.find(':', colon + 1) == std::string::npos;
    return {pattern.substr(0, port ? colon : std::string::npos)};
  }
  const auto range =
      close == std::string::npos ? std::vector<std::string>{} : range_of(pattern.substr(open + 1, close - open - 1));
  if (range.empty())
    throw InputError(place, fmt::format("\"{}\" is not a range of hosts; the form is node[01:08]", printable(pattern)));
  std::vector<std::string> out;
  for (const auto& one : range) {
    for (auto& host : hosts_of(pattern.substr(0, open) + one + pattern.substr(close + 1), place))
      out.push_back(std::move(host));
    if (out.size() > kMostHosts) throw InputError(place, fmt::format("more than {} hosts", kMostHosts));
  }
  return out;
}

struct AnsibleGroup {
  std::vector<std::string> hosts;
  std::vector<std::string> children;
  HostVariables variables;
};

// Hosts in the order of the file; a host's variables override its groups', and a child group's its parent's.
class AnsibleTree {
 public:
  void add_host(const std::string& group, const std::string& host, const HostVariables& variables, const Place& place) {
    if (!places_.contains(host)) {
      if (order_.size() >= kMostHosts) throw InputError(place, fmt::format("more than {} hosts", kMostHosts));
      order_.push_back(host);
      places_[host] = place;
    }
    lay_over(hosts_[host], variables);
    groups_[group].hosts.push_back(host);
  }
  void describe_host(const std::string& host, const HostVariables& variables) { lay_over(hosts_[host], variables); }
  AnsibleGroup& group(const std::string& name) { return groups_[name]; }

  Inventory read() {
    std::map<std::string, HostVariables> beneath;
    std::set<std::string> child;
    for (const auto& [name, group] : groups_) child.insert(group.children.begin(), group.children.end());
    const HostVariables all = groups_["all"].variables;
    for (const auto& host : order_) beneath[host] = all;
    for (const auto& [name, group] : groups_) {
      if (!child.contains(name)) descend(name, {}, beneath, 0);
    }
    Inventory out;
    for (const auto& host : order_) {
      lay_over(beneath[host], hosts_[host]);
      out.machines.push_back(read_host(host, beneath[host], places_[host]));
    }
    return out;
  }

 private:
  void descend(const std::string& name, HostVariables above, std::map<std::string, HostVariables>& beneath, int depth) {
    constexpr int kDeepest = 32;  // depth of nested groups
    if (depth > kDeepest) return;
    const AnsibleGroup& group = groups_[name];
    lay_over(above, group.variables);
    for (const auto& host : group.hosts) lay_over(beneath[host], above);
    for (const auto& child : group.children) descend(child, above, beneath, depth + 1);
  }

  std::vector<std::string> order_;
  std::map<std::string, Place> places_;
  std::map<std::string, HostVariables> hosts_;
  std::map<std::string, AnsibleGroup> groups_;
};

// Words of a line; a value may be quoted: nic="25 Gbps".
std::vector<std::pair<std::string, int>> words_of_line(const std::string& line) {
  std::vector<std::pair<std::string, int>> words;
  char quote = 0;
  bool open = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!quote && (c == '#' || c == ';') && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) break;
    if (!quote && (c == ' ' || c == '\t' || c == '\r')) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back("", static_cast<int>(i) + 1);
    open = true;
    if ((c == '"' || c == '\'') && (!quote || quote == c)) {
      quote = quote ? 0 : c;
    } else {
      words.back().first += c;
    }
  }
  return words;
}

void read_ini(const std::string& file, const std::string& text, AnsibleTree& tree) {
  const auto source = std::make_shared<const Source>(Source{file, text});
  std::istringstream lines(text);
  std::string line, group = "ungrouped", kind;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto words = words_of_line(line);
    if (words.empty()) continue;
    const Place place{source, number, words.front().second};
    const std::string& first = words.front().first;
    if (first.front() == '[' && (first.back() == ']' || words.size() > 1)) {
      if (words.size() > 1 || first.size() < 3)
        throw InputError(place, "not a group; the form is [name], [name:vars] or [name:children]");
      const auto colon = first.find(':');
      group = first.substr(1, (colon == std::string::npos ? first.size() - 1 : colon) - 1);
      kind = colon == std::string::npos ? "" : first.substr(colon + 1, first.size() - colon - 2);
      if (!kind.empty() && kind != "vars" && kind != "children")
        throw InputError(
            place, fmt::format("[{}:{}] is unknown; known are vars and children", printable(group), printable(kind)));
      tree.group(group);
      continue;
    }
    if (kind == "children") {
      tree.group(group).children.push_back(first);
      tree.group(first);
      continue;
    }
    HostVariables variables;
    std::size_t begin = kind == "vars" ? 0 : 1;
    std::string whole;  // "key = value" in three words
    for (std::size_t i = begin; i < words.size(); ++i) {
      std::string word = words[i].first;
      if (kind == "vars") {
        for (std::size_t j = i + 1; j < words.size(); ++j) word += words[j].first;
        i = words.size();
      }
      const auto equals = word.find('=');
      const Place at{source, number, words[std::min(i, words.size() - 1)].second};
      if (equals == std::string::npos || equals == 0)
        throw InputError(at,
                         fmt::format("\"{}\" is not a variable; the form is KEY=VALUE", printable(word).substr(0, 64)));
      const std::string key = word.substr(0, equals);
      variables.values[key] = word.substr(equals + 1);
      variables.places[key] = {source, number, kind == "vars" ? words.front().second : at.column};
    }
    if (kind == "vars") {
      lay_over(tree.group(group).variables, variables);
    } else {
      for (const auto& host : hosts_of(first, place)) tree.add_host(group, host, variables, place);
    }
  }
}

HostVariables variables_of(const Node& node) {
  HostVariables out;
  for (const auto& entry : node.entries) {
    std::string value = entry.value.scalar;
    if (entry.value.kind == Node::Kind::kSequence) {
      for (const auto& item : entry.value.items) value += (value.empty() ? "" : ",") + item.scalar;
    } else if (entry.value.kind != Node::Kind::kScalar) {
      continue;
    }
    out.values[entry.key] = value;
    out.places[entry.key] = entry.value.place;
  }
  return out;
}

void read_group(const std::string& name, const Node& node, AnsibleTree& tree) {
  if (node.kind == Node::Kind::kNull) {
    tree.group(name);
    return;
  }
  if (node.kind != Node::Kind::kMap)
    throw InputError(node.place, fmt::format("group {} is {}; a map of hosts, vars and children is expected",
                                             printable(name), kind_name(node.kind)));
  for (const auto& entry : node.entries) {
    // ansible-inventory --list writes lists of names.
    const bool listed = entry.value.kind == Node::Kind::kSequence && (entry.key == "hosts" || entry.key == "children");
    if (listed) {
      for (const auto& item : entry.value.items) {
        if (entry.key == "hosts") tree.add_host(name, item.scalar, {}, item.place);
        if (entry.key == "children") tree.group(name).children.push_back(item.scalar);
      }
      continue;
    }
    if (entry.value.kind != Node::Kind::kMap && entry.value.kind != Node::Kind::kNull)
      throw InputError(entry.value.place, fmt::format("{} of group {} is {}; a map is expected", printable(entry.key),
                                                      printable(name), kind_name(entry.value.kind)));
    if (entry.key == "hosts") {
      for (const auto& host : entry.value.entries) {
        for (const auto& one : hosts_of(host.key, host.place))
          tree.add_host(name, one, variables_of(host.value), host.place);
      }
    } else if (entry.key == "vars") {
      tree.group(name).variables = variables_of(entry.value);
    } else if (entry.key == "children") {
      for (const auto& child : entry.value.entries) {
        tree.group(name).children.push_back(child.key);
        read_group(child.key, child.value, tree);
      }
    } else {
      throw InputError(entry.place, fmt::format("\"{}\" is unknown in group {}; known are hosts, vars, children",
                                                printable(entry.key), printable(name)));
    }
  }
}

}  // namespace

Inventory read_ansible(const std::string& file) {
  const std::string text = read_text(file);
  AnsibleTree tree;
  const auto begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != std::string::npos && text[begin] == '{';
  if (json || file.ends_with(".yaml") || file.ends_with(".yml")) {
    const Node root = read_yaml(file);
    if (root.kind != Node::Kind::kMap) throw InputError(root.place, "an inventory is a map of groups");
    for (const auto& entry : root.entries) {
      if (entry.key != "_meta") read_group(entry.key, entry.value, tree);
    }
    const Node* meta = root.find("_meta");
    const Node* variables = meta ? meta->find("hostvars") : nullptr;
    if (variables) {
      for (const auto& host : variables->entries) tree.describe_host(host.key, variables_of(host.value));
    }
  } else {
    read_ini(file, text, tree);
  }
  Inventory out = tree.read();
  if (out.machines.empty()) throw InputError(whole_of(file), "there are no hosts in it");
  return out;
}

}  // namespace slmsim
