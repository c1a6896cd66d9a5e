#include "sim/scenario/option.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slmsim {
namespace {

using Fill = std::function<void(OptionSpec&)>;

Fill option(const FileKey& key, const OptionValue& fallback,
            const std::function<OptionValue(Fields&, const OptionSpec&)>& read,
            const std::function<std::string(const OptionValue&)>& text) {
  return [=](OptionSpec& spec) {
    spec.key = key.name;
    spec.what = key.about;
    spec.otherwise = key.otherwise;
    spec.measure = key.measure;
    spec.fallback = fallback;
    spec.read = read;
    spec.text = text;
  };
}

std::string number_text(const OptionValue& value) { return std::to_string(std::get<std::int64_t>(value)); }

std::function<std::string(const OptionValue&)> choice_text(const std::vector<std::string>& (*names)()) {
  return [names](const OptionValue& value) { return names()[std::get<std::int64_t>(value)]; };
}

std::function<std::string(const OptionValue&)> quantity_text(const char* unit) {
  return [unit](const OptionValue& value) { return fmt::format("{:.17g} {}", std::get<double>(value), unit); };
}

OptionValue read_mesh(Fields& fields, const OptionSpec& spec) {
  constexpr double kMost = 1 << 20;
  std::vector<int> mesh;
  const auto items = fields.list(spec.file_key(), {ValueType::integer(1, static_cast<std::int64_t>(kMost))}, {0, 2});
  for (const Node* item : items) {
    const auto value = item->kind == Node::Kind::kScalar ? parse_number(item->scalar) : std::nullopt;
    if (value && *value == std::floor(*value) && *value >= 1 && *value <= kMost) {
      mesh.push_back(static_cast<int>(*value));
    } else {
      fields.error_at(item->place, fmt::format("{}: GPUs along one or two axes are expected, such as [2, 2]",
                                               fields.path_of(spec.key)));
    }
  }
  if (items.size() > 2)
    fields.error(spec.key,
                 fmt::format("{} has {} axes; one or two are possible", fields.path_of(spec.key), items.size()));
  return mesh;
}

Fill flag_or(const FileKey& key, bool fallback) {
  const auto read = [fallback](Fields& fields, const OptionSpec& spec) -> OptionValue {
    return fields.flag(spec.file_key(), fallback);
  };
  const auto text = [](const OptionValue& value) { return std::string(std::get<bool>(value) ? "yes" : "no"); };
  return option(key, fallback, read, text);
}

}  // namespace

Fill count_option(const FileKey& key, std::int64_t most, std::int64_t fallback, std::int64_t least) {
  const auto read = [least, most](Fields& fields, const OptionSpec& spec) -> OptionValue {
    return fields.integer(spec.file_key(), {least, most}, std::get<std::int64_t>(spec.fallback));
  };
  return option(key, fallback, read, number_text);
}

Fill count_or_auto_option(const FileKey& key, std::int64_t least, std::int64_t most) {
  const auto read = [least, most](Fields& fields, const OptionSpec& spec) -> OptionValue {
    const Node* node = fields.child(spec.file_key(), ValueType::choice({"auto"}));
    if (node && node->kind == Node::Kind::kScalar && node->scalar == "auto") return std::int64_t{kAutomatic};
    return fields.integer(spec.file_key(), {least, most}, 0);
  };
  const auto text = [](const OptionValue& value) {
    return std::get<std::int64_t>(value) == kAutomatic ? "auto" : number_text(value);
  };
  return option(key, std::int64_t{0}, read, text);
}

Fill number_option(const FileKey& key, Range<double> range, double fallback) {
  const auto read = [range](Fields& fields, const OptionSpec& spec) -> OptionValue {
    return fields.number(spec.file_key(), range, std::get<double>(spec.fallback));
  };
  const auto text = [](const OptionValue& value) { return fmt::format("{:.17g}", std::get<double>(value)); };
  return option(key, fallback, read, text);
}

Fill flag_option(const FileKey& key) { return flag_or(key, false); }
Fill yes_option(const FileKey& key) { return flag_or(key, true); }

Fill choice_option(const FileKey& key, const std::vector<std::string>& (*names)()) {
  const auto read = [names](Fields& fields, const OptionSpec& spec) -> OptionValue {
    return static_cast<std::int64_t>(fields.choice(spec.file_key(), names(), 0));
  };
  return option(key, std::int64_t{0}, read, choice_text(names));
}

Fill optional_choice_option(const FileKey& key, const std::vector<std::string>& (*names)()) {
  const auto read = [names](Fields& fields, const OptionSpec& spec) -> OptionValue {
    if (!fields.has(spec.key)) return {};
    return static_cast<std::int64_t>(fields.choice(spec.file_key(), names()));
  };
  return option(key, {}, read, choice_text(names));
}

Fill time_option(const FileKey& key, Range<Seconds> range, Seconds fallback) {
  const auto read = [range](Fields& fields, const OptionSpec& spec) -> OptionValue {
    return fields.quantity<Seconds>(spec.file_key(), range, Seconds{std::get<double>(spec.fallback)}).value;
  };
  return option(key, fallback.value, read, quantity_text("s"));
}

Fill size_option(const FileKey& key, Range<Bytes> range, Bytes fallback) {
  const auto read = [range](Fields& fields, const OptionSpec& spec) -> OptionValue {
    return fields.quantity<Bytes>(spec.file_key(), range, Bytes{std::get<double>(spec.fallback)}).value;
  };
  return option(key, fallback.value, read, quantity_text("B"));
}

Fill optional_size_option(const FileKey& key, Range<Bytes> range) {
  const auto read = [range](Fields& fields, const OptionSpec& spec) -> OptionValue {
    if (!fields.has(spec.key)) return {};
    return fields.quantity<Bytes>(spec.file_key(), range).value;
  };
  return option(key, {}, read, quantity_text("B"));
}

Fill mesh_option(const FileKey& key) {
  const auto text = [](const OptionValue& value) {
    return fmt::format("[{}]", fmt::join(std::get<std::vector<int>>(value), ", "));
  };
  return option(key, std::vector<int>{}, read_mesh, text);
}

const OptionValue& OptionValues::value(const OptionSpec& option) const {
  const auto at = std::ranges::find_if(values_, [&](const auto& set) { return set.first == &option; });
  return at == values_.end() ? option.fallback : at->second;
}

void OptionValues::set_value(const OptionSpec& option, OptionValue value) {
  const auto at = std::lower_bound(values_.begin(), values_.end(), &option, [](const auto& set, const OptionSpec* key) {
    return std::less<>()(set.first, key);
  });
  const bool is_set = at != values_.end() && at->first == &option;
  if (value == option.fallback) {
    if (is_set) values_.erase(at);
  } else if (is_set) {
    at->second = std::move(value);
  } else {
    values_.insert(at, {&option, std::move(value)});
  }
}

}  // namespace slmsim
