#include "sim/base/key_record.h"

#include <algorithm>

namespace slmsim {
namespace {

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
