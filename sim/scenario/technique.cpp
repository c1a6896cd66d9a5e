#include "sim/scenario/technique.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"

namespace slmsim {
namespace {

constexpr int kMostMicroBatches = 4096;

TechniqueOptions read_options(const Technique& technique, const Node* node, const std::string& path, Reading& reading) {
  TechniqueOptions options{&technique, {}};
  if (!node || node->kind == Node::Kind::kNull) return options;
  Fields fields(*node, path, reading);
  const Owned owned = fields.owned_by(Scope::kOption, technique.name);
  for (const OptionSpec* option : options_of(technique))
    options.values.set_value(*option, option->read(fields, *option));
  fields.done();
  return options;
}

// Describes every technique with its options, as if a map named them all.
void describe_techniques(const std::string& path, Reading& reading) {
  auto options = ValueType::map();
  options.nullable = true;
  const Node& sample = *reading.description->sample_of(options);
  Fields names(sample, path, reading);
  for (const Technique* technique : technique_table()) {
    names.describe({technique->name, technique->summary}, options);
    read_options(*technique, &sample, path + "." + technique->name, reading);
  }
  names.done();
}

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

const Option<int> kMicroBatches{count_option(
    {"micro_batches", "Number of micro-batches of an iteration.", "by training.micro_batch, else the technique's own"},
    kMostMicroBatches, 0)};
const Option<Seconds> kStartup{
    time_option(FileKey{"startup", "Start-up time, once per job: compilation, building of stages."}.measured_by(kFit),
                {{0.0}, {86400.0}}, Seconds{0})};

const Option<double> kStepsFactor{number_option(
    {"steps_factor", "Factor on the optimizer steps to the same loss, as you know or expect it; it lengthens the job.",
     "1"},
    {0.01, 100.0}, 1.0)};
const Option<std::optional<Recompute>> kRecompute{
    optional_choice_option({"recompute",
                            "Recomputation in the backward pass: nothing, attention's softmax and dropout, all "
                            "operators but attention and every other product, or every layer.",
                            "by training.rematerialisation"},
                           recompute_names)};

int TechniqueOptions::micro_batches() const { return get(kMicroBatches); }
Seconds TechniqueOptions::startup() const { return get(kStartup); }
double TechniqueOptions::steps_factor() const { return get(kStepsFactor); }
Recompute TechniqueOptions::recompute(bool rematerialisation) const {
  return get(kRecompute).value_or(rematerialisation ? Recompute::kFull : Recompute::kNone);
}

const std::vector<std::string>& recompute_names() {
  static const std::vector<std::string> kNames = {"none", "selective", "operators", "full"};
  return kNames;
}

const std::vector<const OptionSpec*>& common_options() {
  static const std::vector<const OptionSpec*> kOptions = {&kMicroBatches, &kStartup, &kStepsFactor, &kRecompute};
  return kOptions;
}

std::vector<const OptionSpec*> options_of(const Technique& technique) {
  std::vector<const OptionSpec*> all = common_options();
  all.insert(all.end(), technique.options.begin(), technique.options.end());
  return all;
}

std::vector<std::string> technique_names() {
  std::vector<std::string> names;
  for (const Technique* technique : technique_table()) names.emplace_back(technique->name);
  return names;
}

const Technique* find_technique(const std::string& name) {
  const auto& table = technique_table();
  const auto at = std::ranges::find_if(table, [&](const Technique* t) { return t->name == name; });
  return at == table.end() ? nullptr : *at;
}

std::size_t position_of(const Technique& technique) {
  const auto& table = technique_table();
  return static_cast<std::size_t>(std::ranges::find(table, &technique) - table.begin());
}

std::vector<TechniqueOptions> read_techniques(const Node& node, const std::string& path, Reading& reading) {
  std::vector<TechniqueOptions> out;
  if (reading.describing()) return describe_techniques(path, reading), out;
  const std::size_t errors_before = reading.errors.size();
  const auto add = [&](const std::string& name, const Place& place, const Node* options) {
    const Technique* technique = find_technique(name);
    if (!technique) {
      reading.error(place, fmt::format("{}: unknown technique \"{}\"; {}", path, name.substr(0, 64),
                                       did_you_mean(name, technique_names())));
      return;
    }
    if (std::ranges::any_of(out, [&](const auto& o) { return o.technique == technique; })) {
      reading.error(place, fmt::format("{}: \"{}\" is listed twice; name each technique once", path, name));
      return;
    }
    out.push_back(read_options(*technique, options, path + "." + name, reading));
  };
  switch (node.kind) {
    case Node::Kind::kMap:
      for (const auto& entry : node.entries) add(entry.key, entry.place, &entry.value);
      break;
    case Node::Kind::kSequence:
      for (const auto& item : node.items) {
        if (item.kind == Node::Kind::kScalar) {
          add(item.scalar, item.place, nullptr);
        } else {
          reading.error(item.place, fmt::format("{}: {} in the list of names; to give options write {} as a map", path,
                                                kind_name(item.kind), path));
        }
      }
      break;
    case Node::Kind::kScalar:
      add(node.scalar, node.place, nullptr);
      break;
    case Node::Kind::kNull:
      break;
  }
  if (out.empty() && reading.errors.size() == errors_before) {
    reading.error(node.place,
                  fmt::format("{} is empty; name at least one of {}", path, fmt::join(technique_names(), ", ")));
  }
  return out;
}

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
