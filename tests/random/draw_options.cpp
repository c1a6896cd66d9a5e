// Options are drawn from what the readers tell of their keys, so that a new one is drawn without a word here.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/describe.h"
#include "sim/scenario/scenario.h"
#include "tests/random/draw.h"

namespace slmsim {
namespace {

// Keys that the options of each technique may have.
using OptionKeys = std::map<std::string, std::vector<KeyRecord>>;

const OptionKeys& option_keys() {
  static const OptionKeys kKeys = [] {
    const KeyTree scenario = describe(describe_scenario);
    OptionKeys out;
    for (const auto& name : technique_names())
      out.emplace(name, scenario.alternatives("techniques." + name).front().keys);
    return out;
  }();
  return kKeys;
}

std::string draw_quantity(CaseDice& dice, const ValueType& type) {
  if (dice.one_in(4) && type.low <= 0) return type.dimension == Dimension::kTime ? "0 s" : "0 B";
  if (type.dimension == Dimension::kTime)
    return fmt::format("{:.6g} s", dice.log_between(std::max(type.low, 1e-3), std::min(type.high, 100.0)));
  return fmt::format("{:.0f} B", dice.log_between(std::max(type.low, 4e6), std::min(type.high, 1e10)));
}

// GPUs along one or two axes, mostly all GPUs.
Json draw_mesh(CaseDice& dice, int gpus) {
  std::vector<int> divisors;
  for (int n = 1; n <= gpus; ++n) {
    if (gpus % n == 0) divisors.push_back(n);
  }
  const int rows = dice.of(divisors);
  return dice.one_in(3) ? Json{gpus} : Json{rows, gpus / rows};
}

Json draw_value(CaseDice& dice, const KeyRecord& key, int batch, int gpus) {
  const ValueType& type = key.types[dice.number(0, std::ssize(key.types) - 1)];
  switch (type.kind) {
    case ValueType::Kind::kQuantity:
      return draw_quantity(dice, type);
    case ValueType::Kind::kNumber:
      return dice.log_between(std::max(type.low, 0.1), std::min(type.high, 10.0));
    case ValueType::Kind::kInteger: {
      // Counts are of sequences, GPUs or steps; mostly such as divide.
      const auto most = std::min<std::int64_t>(static_cast<std::int64_t>(type.high), 16);
      const auto least = static_cast<std::int64_t>(type.low);
      if (key.key == "micro_batches") return std::int64_t{1} << dice.number(0, batch >= 8 ? 3 : batch >= 2 ? 1 : 0);
      if (dice.one_in(2)) return std::max(least, std::min<std::int64_t>(most, std::int64_t{1} << dice.number(0, 3)));
      return dice.log_number(least, most);
    }
    case ValueType::Kind::kFlag:
      return dice.of({"yes", "no"});
    case ValueType::Kind::kChoice:
      return dice.of(type.choices);
    case ValueType::Kind::kList:
      return draw_mesh(dice, gpus);
    default:
      return {};
  }
}

}  // namespace

void describe_options() { option_keys(); }

Json draw_techniques(CaseDice& dice, int batch, int gpus) {
  Json out = Json::object();
  const auto names = technique_names();
  const auto count = dice.number(1, 3);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string& name = dice.of(names);
    Json options = Json::object();
    for (const auto& key : option_keys().at(name)) {
      if (!dice.one_in(4)) continue;
      if (Json value = draw_value(dice, key, batch, gpus); !value.is_null()) options[key.key] = std::move(value);
    }
    out[name] = std::move(options);
  }
  return out;
}

}  // namespace slmsim
