#include "sim/base/describe.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slmsim {
namespace {

std::vector<Fork> forks_at(const Description& run, const std::string& map) {
  std::vector<Fork> out;
  std::copy_if(run.forks.begin(), run.forks.end(), std::back_inserter(out),
               [&](const Fork& fork) { return fork.map == map; });
  return out;
}

// Alternatives with the same keys are merged; the bundle holds several choices for each of their forks.
struct Bundle {
  std::vector<KeyRecord> keys;
  bool closed = true;
  std::vector<std::string> order;  // of the forks' keys
  std::map<std::string, std::vector<std::string>> words;
};

void add_words(Bundle& bundle, const std::vector<Fork>& forks) {
  for (const auto& fork : forks) {
    auto& words = bundle.words[fork.key];
    if (words.empty()) bundle.order.push_back(fork.key);
    const std::string& word = fork.options[fork.taken];
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
}

// Limits the choices of a forking key to those that lead to this bundle.
void narrow(KeyRecord& record, const Bundle& bundle) {
  const auto words = bundle.words.find(record.key);
  if (words == bundle.words.end()) return;
  for (auto& type : record.types) {
    if (type.kind == ValueType::Kind::kChoice) type.choices = words->second;
  }
}

// "family: llama", "with step". A key's value is preferred to its presence, and presence to absence.
std::string when_text(const Bundle& bundle) {
  std::vector<std::string> values, there, absent;
  for (const auto& key : bundle.order) {
    if (!key.empty()) values.push_back(fmt::format("{}: {}", key, fmt::join(bundle.words.at(key), ", ")));
  }
  const auto presence = bundle.words.find("");
  for (const auto& word : presence == bundle.words.end() ? std::vector<std::string>{} : presence->second)
    (word.starts_with("with ") ? there : absent).push_back(word);
  const auto& best = !values.empty() ? values : !there.empty() ? there : absent;
  return fmt::format("{}", fmt::join(best, "; "));
}

// Removes what earlier runs describe, by each map's forks; most of a run is like the one before it.
using Seen = std::map<std::string, std::vector<std::vector<Fork>>>;
void keep_new(Description& run, Seen& seen) {
  std::map<std::string, bool> is_new;
  for (const auto& record : run.keys) {
    if (is_new.contains(record.map)) continue;
    auto& known = seen[record.map];
    auto forks = forks_at(run, record.map);
    is_new[record.map] = std::ranges::find(known, forks) == known.end();
    if (is_new[record.map]) known.push_back(std::move(forks));
  }
  std::erase_if(run.keys, [&](const auto& record) { return !is_new.at(record.map); });
  run.samples.clear();
  run.entries.clear();
}

// The options that runs took at the forks of one map, up to one of its forks.
using Tried = std::set<std::pair<std::string, std::vector<std::size_t>>>;

// Adds the options at the first `count` forks, those of the last one's map. False if a run took them before.
bool try_path(Tried& tried, const std::vector<Fork>& forks, std::size_t count) {
  std::pair<std::string, std::vector<std::size_t>> path{forks[count - 1].map, {}};
  for (std::size_t i = 0; i < count; ++i) {
    if (forks[i].map == path.first) path.second.push_back(forks[i].taken);
  }
  return tried.insert(std::move(path)).second;
}

Node make_sample(const ValueType& type) {
  Node node;
  switch (type.kind) {
    case ValueType::Kind::kMap:
    case ValueType::Kind::kFile:
      node.kind = Node::Kind::kMap;
      break;
    case ValueType::Kind::kList:
      node.kind = Node::Kind::kSequence;
      node.items.assign(std::max<std::size_t>(1, type.count.low), make_sample(type.items.front()));
      break;
    default:
      node.kind = Node::Kind::kScalar;
  }
  return node;
}

}  // namespace

std::vector<Alternative> KeyTree::alternatives(const std::string& map) const {
  std::vector<Bundle> bundles;
  std::vector<std::vector<Fork>> seen;
  for (const auto& run : runs_) {
    const auto forks = forks_at(run, map);
    if (std::ranges::find(seen, forks) != seen.end()) continue;
    std::vector<KeyRecord> keys;
    std::copy_if(run.keys.begin(), run.keys.end(), std::back_inserter(keys),
                 [&](const KeyRecord& record) { return record.map == map; });
    if (keys.empty()) continue;
    seen.push_back(forks);
    auto same = std::ranges::find_if(bundles, [&](const Bundle& b) { return b.keys == keys; });
    if (same == bundles.end()) same = bundles.insert(same, {std::move(keys), run.closed.contains(map), {}, {}});
    add_words(*same, forks);
  }
  std::vector<Alternative> out;
  for (auto& bundle : bundles) {
    for (auto& record : bundle.keys) narrow(record, bundle);
    out.push_back({bundles.size() > 1 ? when_text(bundle) : "", std::move(bundle.keys), bundle.closed});
  }
  return out;
}

std::string inner_path(const KeyRecord& record, const ValueType& type) {
  const std::string path = record.map.empty() ? record.key : record.map + "." + record.key;
  return type.kind == ValueType::Kind::kList ? path + ".0" : path;
}

KeyTree describe(const Reader& read) {
  Description any;
  const Node& sample = *any.sample_of(ValueType::map());
  std::vector<Description> runs;
  Seen seen;
  Tried tried;
  for (std::vector<std::size_t> script;;) {
    Description run;
    run.script = script;
    Reading reading;
    reading.description = &run;
    read(sample, reading);
    auto forks = run.forks;
    keep_new(run, seen);
    runs.push_back(std::move(run));
    // The next path: the last fork with an option that no run took after the same earlier options of its map.
    for (std::size_t count = 1; count <= forks.size(); ++count) try_path(tried, forks, count);
    for (; !forks.empty(); forks.pop_back()) {
      auto& last = forks.back();
      do ++last.taken;
      while (last.taken < last.options.size() && !try_path(tried, forks, forks.size()));
      if (last.taken < last.options.size()) break;
    }
    if (forks.empty()) return KeyTree(std::move(runs));
    script.clear();
    for (const auto& fork : forks) script.push_back(fork.taken);
  }
}

bool ValueType::operator==(const ValueType& other) const {
  return kind == other.kind && dimension == other.dimension && low == other.low && high == other.high &&
         choices == other.choices && file == other.file && items == other.items && count.low == other.count.low &&
         count.high == other.count.high && stated == other.stated && nullable == other.nullable;
}

void Description::add(KeyRecord record) {
  const auto known =
      std::ranges::find_if(keys, [&](const auto& k) { return k.map == record.map && k.key == record.key; });
  if (known == keys.end()) {
    keys.push_back(std::move(record));
    return;
  }
  // A key may be read twice: as a word or a number, or as optional and then required.
  for (auto& type : record.types) {
    const auto same = [&](ValueType other) { return other.nullable = type.nullable, other == type; };
    if (std::ranges::none_of(known->types, same)) known->types.push_back(std::move(type));
  }
}

std::size_t Description::take(std::string map, std::string key, std::vector<std::string> options) {
  const std::size_t taken = forks.size() < script.size() ? script[forks.size()] : 0;
  forks.push_back({std::move(map), std::move(key), taken, std::move(options)});
  return taken;
}

const Node* Description::sample_of(const ValueType& type) {
  samples.push_back(make_sample(type));
  return &samples.back();
}

const Entry* Description::sample_entry() {
  entries.push_back({kAnyName, {}, make_sample(ValueType::map())});
  return &entries.back();
}

}  // namespace slmsim
