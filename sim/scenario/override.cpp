#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"
#include "sim/compute/transformer.h"
#include "sim/scenario/link.h"
#include "sim/scenario/technique.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

constexpr auto kMostDots = 2 * kMaxDepth;  // of a path

// Keys may contain dots ("net.ipv4.tcp_rmem"), so at each map the longest matching key is taken.
Node* step(Node& node, std::string& rest) {
  if (node.kind == Node::Kind::kSequence) {
    const auto dot = rest.find('.');
    const auto index = parse_number(rest.substr(0, dot));
    if (!index || *index < 0 || *index >= static_cast<double>(node.items.size())) return nullptr;
    rest = dot == std::string::npos ? "" : rest.substr(dot + 1);
    return &node.items[static_cast<std::size_t>(*index)];
  }
  Entry* best = nullptr;
  for (auto& entry : node.entries) {
    const bool fits = rest == entry.key || rest.starts_with(entry.key + ".");
    if (fits && (!best || entry.key.size() > best->key.size())) best = &entry;
  }
  if (!best) return nullptr;
  rest = rest.size() == best->key.size() ? "" : rest.substr(best->key.size() + 1);
  return &best->value;
}

// Adds the maps of the path `rest` and the value below them. Linux's settings have dots in their names.
void add_path(Node& node, const std::string& rest, const Override& override) {
  const auto dot = rest.starts_with("net.ipv4.") ? std::string::npos : rest.find('.');
  node.kind = Node::Kind::kMap;
  node.entries.push_back({rest.substr(0, dot), override.place, {}});
  Node& value = node.entries.back().value;
  value.place = override.place;
  if (dot == std::string::npos) {
    value = override.value;
  } else {
    add_path(value, rest.substr(dot + 1), override);
  }
}

// The entries of a map that a name or a list of names selects, with their contents; unknown names remain names.
Node chosen(const Node& map, const Node& names) {
  const std::vector<Node> listed = names.kind == Node::Kind::kScalar ? std::vector{names} : names.items;
  if (map.kind != Node::Kind::kMap || listed.empty()) return names;
  Node out;
  out.kind = Node::Kind::kMap;
  out.place = names.place;
  for (const Node& name : listed) {
    if (name.kind != Node::Kind::kScalar) return names;
    const Node* options = map.find(name.scalar);
    Node none;
    none.place = name.place;
    out.entries.push_back({name.scalar, name.place, options ? *options : none});
  }
  return out;
}

// Converts a list of techniques, or the default list, to the map that a technique's option needs.
void list_techniques_as_map(Node& root) {
  if (root.kind != Node::Kind::kMap) return;
  Node* techniques = root.find("techniques");
  if (!techniques) {
    root.entries.push_back({"techniques", root.place, {}});
    techniques = &root.entries.back().value;
    techniques->place = root.place;
    techniques->kind = Node::Kind::kSequence;
    for (const Technique* technique : technique_table()) {
      if (!technique->usual) continue;
      techniques->items.emplace_back();
      techniques->items.back().kind = Node::Kind::kScalar;
      techniques->items.back().place = root.place;
      techniques->items.back().scalar = technique->name;
    }
  }
  Node none;
  none.kind = Node::Kind::kMap;
  if (techniques->kind == Node::Kind::kScalar || techniques->kind == Node::Kind::kSequence)
    *techniques = chosen(none, *techniques);
}

// The scenario's models with these names, whether given by a path or a map; other names refer to files.
Node chosen_models(const Node& models, const Node& names) {
  const auto name_of = [](const Node& model) -> std::string {
    const Node* stated = model.find("name");
    if (stated) return stated->scalar;
    const fs::path file = fs::path(model.place.source->name).parent_path() / model.scalar;
    return model.scalar.find('/') == std::string::npos ? "" : model_name_of(file);
  };
  const std::vector<Node> listed = models.kind == Node::Kind::kScalar ? std::vector{models} : models.items;
  const auto choose = [&](Node& name) {
    const auto own = std::ranges::find_if(listed, [&](const Node& model) {
      return name.kind == Node::Kind::kScalar && !name.scalar.empty() && name_of(model) == name.scalar;
    });
    if (own != listed.end()) name = *own;
  };
  Node out = names;
  choose(out);
  for (Node& name : out.items) choose(name);
  return out;
}

// "link" or "VM" where a path leads below one that the platform lacks; nullptr where its first key adds it: `between`, `site`.
const char* missing_thing(const std::string& path, const std::string& rest) {
  static constexpr std::array kThings = {std::array{"platform.links.", "between", "link"},
                                         std::array{"platform.vms.", "site", "VM"}};
  const auto dot = rest.find('.');
  if (dot == std::string::npos) return nullptr;
  for (const auto& [parent, first, name] : kThings) {
    if (path == parent + rest && rest.substr(dot + 1) != first) return name;
  }
  return nullptr;
}

// The positions of a list's items, for messages about a path.
std::string positions_of(const Node& list) {
  if (list.items.empty()) return "the list is empty";
  std::vector<std::string> texts;
  for (const Node& item : list.items) {
    const Node* name = item.kind == Node::Kind::kMap ? item.find("name") : &item;
    const bool is_named = name && name->kind == Node::Kind::kScalar;
    texts.push_back(fmt::format("{}{}", texts.size(), is_named ? fmt::format(" ({})", printable(name->scalar)) : ""));
  }
  constexpr std::size_t kMostTold = 8;
  const bool more = texts.size() > kMostTold;
  if (more) texts.resize(kMostTold);
  return fmt::format("the list's items are {}{}", fmt::join(texts, ", "), more ? ", ..." : "");
}

}  // namespace

bool apply(Node& root, const Override& override) {
  if (std::ranges::count(override.path, '.') > kMostDots)
    throw InputError(override.place,
                     fmt::format("a path of more than {} dots; no value of a scenario is nested that deep", kMostDots));
  if (override.path.starts_with("techniques.")) list_techniques_as_map(root);
  Node* node = &root;
  std::string rest = override.path;
  while (!rest.empty()) {
    if (Node* next = step(*node, rest)) {
      node = next;
      continue;
    }
    if (node->kind == Node::Kind::kScalar) return false;
    // New keys are added, and reading reports unknown ones; a path that continues below a key similar to an existing
    // one is a typing error.
    std::vector<std::string> keys;
    for (const auto& entry : node->entries) keys.push_back(entry.key);
    const bool map = node->kind == Node::Kind::kMap || node->kind == Node::Kind::kNull;
    const auto dot = rest.find('.');
    if (const char* thing = missing_thing(override.path, rest); thing && !keys.empty())
      throw InputError(override.place, fmt::format("there is no {} \"{}\" to override; {}", thing,
                                                   printable(rest.substr(0, dot)).substr(0, 64),
                                                   did_you_mean(rest.substr(0, dot), keys)));
    if (map && (dot == std::string::npos || nearest(rest.substr(0, dot), keys).empty())) {
      add_path(*node, rest, override);
      return true;
    }
    const std::string known =
        node->kind == Node::Kind::kSequence ? positions_of(*node) : did_you_mean(rest.substr(0, dot), keys);
    throw InputError(override.place, fmt::format("there is no \"{}\" to override; {}", rest, known));
  }
  // An override replaces the whole provenance statement, since it is the user's own figure. Names of techniques alone
  // select among those with options.
  *node = override.path == "techniques" ? chosen(*node, override.value)
          : override.path == "models"   ? chosen_models(*node, override.value)
                                        : override.value;
  return true;
}

Override parse_override(const std::string& text) {
  auto source = std::make_shared<Source>(Source{kOverrideSource, text});
  const Place place{source, 1, 1};
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError(place, "an override has the form KEY=VALUE, e.g. --set platform.links.wan.rtt=57.4ms");
  Node value;
  const std::string right = text.substr(equals + 1);
  if (right.empty()) throw InputError(place, "an override without a value; its form is KEY=VALUE");
  value = parse_yaml(right, fmt::format("{} {}", kOverrideSource, text));
  return {text.substr(0, equals), std::move(value), place};
}

}  // namespace slmsim
