#include "sim/import/inventory/inventory.h"

#include <algorithm>
#include <cctype>
#include <regex>

#include <fmt/format.h>

#include "sim/base/file.h"
#include "sim/base/text.h"
#include "sim/platform/gpu.h"
#include "sim/scenario/data_root.h"

namespace slmsim {

namespace {

constexpr int kMostGpus = 1024;  // per machine

// The first of these keys that is set.
const std::string* value_of(const HostVariables& variables, std::initializer_list<const char*> keys, Place& place) {
  for (const char* key : keys) {
    const auto found = variables.values.find(key);
    if (found == variables.values.end()) continue;
    place = variables.places.at(key);
    return &found->second;
  }
  return nullptr;
}

int count_of(const std::string& text, const Place& place) {
  const auto number = parse_number(text);
  if (number && *number >= 0 && *number <= kMostGpus && *number == static_cast<int>(*number))
    return static_cast<int>(*number);
  throw InputError(place, fmt::format("\"{}\" is not a number of GPUs; expected a whole number from 1 to {}",
                                      printable(text).substr(0, 64), kMostGpus));
}

// desk:rtx3090 for desk=rtx3090.
void refuse_colon_for_equals(const std::string& item, std::size_t colon, const Place& place) {
  const std::string name = item.substr(0, colon), rest = item.substr(colon + 1);
  const std::string gpu = gpu_called(rest.substr(0, rest.find(':')));
  if (gpu.empty() || !gpu_called(name).empty() || parse_number(name) || parse_number(rest)) return;
  throw InputError(
      place, fmt::format("\"{}\": a machine's name ends with \"=\"; did you mean \"{}={}\"?",
                         printable(item).substr(0, 64), printable(name).substr(0, 64), printable(rest).substr(0, 64)));
}

// Reads variants of "a10:2": 2xa10, 2:a10, a10x2, 2 x a10, a10*2, a10 2. Empty where it is none of these.
std::string with_count(const std::string& text) {
  static const std::regex kBefore("\\s*([0-9]+)\\s*[xX*:]?\\s*(.+)"), kBehind("(.+?)\\s*[xX* ]\\s*([0-9]+)\\s*");
  std::smatch match;
  if (std::regex_match(text, match, kBehind) && !gpu_called(match[1]).empty())
    return fmt::format("{}:{}", gpu_called(match[1]), match[2].str());
  if (std::regex_match(text, match, kBefore) && !gpu_called(match[2]).empty())
    return fmt::format("{}:{}", gpu_called(match[2]), match[1].str());
  return "";
}

struct KnownGpu {
  std::string name, title;
};

const std::vector<KnownGpu>& known_gpus() {
  static const std::vector<KnownGpu> kKnown = [] {
    std::vector<KnownGpu> out;
    for (const auto& root : data_roots(std::filesystem::current_path() / "x")) {
      for (const auto& name : names_in(root / kGpuFile.folder)) {
        if (std::ranges::any_of(out, [&](const auto& gpu) { return gpu.name == name; })) continue;
        const Node file = read_yaml(root / kGpuFile.folder / (name + ".yaml"));
        const Node* title = file.find("title");
        out.push_back({name, title ? title->scalar : name});
      }
    }
    return out;
  }();
  return kKnown;
}

// The GPU of this name or, where the name leaves out memory or slot, the only one of the chip. Empty where none is.
std::string gpu_of_chip(const std::string& name) {
  if (std::string same = gpu_called(name); !same.empty() || !names_a_gpu(name)) return same;
  std::string out;
  for (const auto& gpu : known_gpus()) {
    if (!is_same_chip(name, gpu.title) || is_other_variant(name, gpu.title)) continue;
    if (!out.empty()) return "";
    out = gpu.name;
  }
  return out;
}

}  // namespace

std::vector<std::string> read_gpus(const std::string& text, const Place& place) {
  std::vector<std::string> out;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    if (const auto first = item.find(':'); first != std::string::npos) refuse_colon_for_equals(item, first, place);
    const auto colon = item.rfind(':');
    const std::string word = item.substr(0, colon), name = gpu_called(word);
    if (name.empty()) {
      const std::string meant = with_count(item);
      throw InputError(place, meant.empty() ? no_such_gpu(word, gpu_list())
                                            : fmt::format("there is no GPU \"{}\"; did you mean \"{}\"?",
                                                          printable(word).substr(0, 64), meant));
    }
    const int count = colon == std::string::npos ? 1 : count_of(item.substr(colon + 1), place);
    out.insert(out.end(), static_cast<std::size_t>(count), name);
  }
  if (out.size() > kMostGpus) throw InputError(place, fmt::format("more than {} GPUs in one machine", kMostGpus));
  return out;
}

Machine read_host(const std::string& name, const HostVariables& variables, const Place& place) {
  Machine machine;
  machine.name = name;
  machine.place = place;
  Place at, where;
  const std::string* count = value_of(variables, {"gpu_count", "gpus_per_node", "slots"}, where);
  if (count) machine.count = count_of(*count, where);
  if (const std::string* gpus = value_of(variables, {"gpus", "gpu", "gpu_type"}, at)) {
    machine.gpus = read_gpus(*gpus, at);
    if (count && machine.gpus.size() == 1 && gpus->find(':') == std::string::npos)
      machine.gpus.assign(static_cast<std::size_t>(machine.count), std::string(machine.gpus.front()));
  }
  if (const std::string* site = value_of(variables, {"site", "location", "region", "datacenter"}, at))
    machine.site = *site;
  if (const std::string* type = value_of(variables, {"vm_type"}, at)) machine.type = *type;
  if (const std::string* nic = value_of(variables, {"nic"}, at)) {
    const auto [value, problem] = parse_quantity(*nic, Dimension::kDataRate);
    if (!problem.empty()) throw InputError(at, fmt::format("nic: {}", problem));
    machine.nic = BytesPerSecond{value};
    machine.nic_source = at.source ? at.source->name : "";
  }
  return machine;
}

std::string read_text(const std::string& file) {
  std::string text = read_regular_file(file, kMaxFileBytes);
  if (text.find('\0') != std::string::npos) throw InputError(whole_of(file), "not a text file");
  return text;
}

std::string key_name(const std::string& name) {
  std::string out;
  for (const unsigned char c : name) out += std::isalnum(c) || c == '_' ? static_cast<char>(c) : '-';
  while (!out.empty() && out.front() == '-') out.erase(0, 1);
  return out.empty() ? "machine" : out.substr(0, 60);
}

std::vector<std::string> gpus_in_brackets(const std::string& text) {
  static const std::regex kBrackets("\\[([^\\[\\]]+)\\]"), kRevision(" Rev\\. .*| Lite Hash Rate");
  std::vector<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), kBrackets), end; at != end; ++at) {
    std::istringstream names(std::regex_replace((*at)[1].str(), kRevision, ""));
    std::string first;
    for (std::string name; std::getline(names, name, '/');) {
      // "Quadro RTX 6000/8000": the other name differs in the last word.
      const bool short_form = !first.empty() && name.find(' ') == std::string::npos;
      if (short_form) name.insert(0, first, 0, first.rfind(' ') + 1);
      if (first.empty()) first = name;
      const std::string gpu = gpu_of_chip(name);
      if (!gpu.empty() && std::ranges::find(out, gpu) == out.end()) out.push_back(gpu);
    }
  }
  return out;
}

std::string gpu_called(const std::string& text) {
  if (text.find('[') != std::string::npos) {
    const auto known = gpus_in_brackets(text);
    return known.size() == 1 ? known.front() : "";
  }
  std::string word = text;
  // FABRIC writes "GPU_TeslaT4" for one word "Tesla T4".
  for (const char* prefix : {"GPU_", "GPU-"}) {
    if (word.starts_with(prefix)) word = word.substr(4);
  }
  if (word.starts_with("Tesla") && word.size() > 5 && std::isupper(static_cast<unsigned char>(word[5])))
    word = word.substr(5);
  if (!names_a_gpu(word)) return "";
  for (const auto& gpu : known_gpus()) {
    if (is_same_gpu(word, gpu.name) || is_same_gpu(word, gpu.title)) return gpu.name;
  }
  return "";
}

const std::vector<std::string>& gpu_list() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> out;
    for (const auto& gpu : known_gpus()) out.push_back(gpu.name);
    return out;
  }();
  return kNames;
}

std::string gpu_title(const std::string& name) {
  for (const auto& gpu : known_gpus()) {
    if (gpu.name == name) return gpu.title;
  }
  return "";
}

}  // namespace slmsim
