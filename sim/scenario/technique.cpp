#include "sim/scenario/technique.h"

#include <algorithm>

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

}  // namespace

const Option<int> kMicroBatches{count_option({"micro_batches", "Number of micro-batches of an iteration.",
                                              "the smallest micro-batches that give every GPU work"},
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

}  // namespace slmsim
