#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/cli/machines.h"
#include "sim/scenario/data_root.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

// A model's own file, and how messages name it.
struct ModelFile {
  fs::path path;
  std::string shipped;  // its name in models/; empty: a user's file
  std::string hub_id;   // by which it was named; empty: by none
};

[[noreturn]] void refuse(const std::string& word, const std::string& problem) {
  throw InputError(whole_of(printable(word).substr(0, 64)), problem);
}

ModelFile file_of(const std::string& word, const fs::path& folder) {
  std::error_code ignored;
  const auto roots = data_roots(folder / "scenario.yaml");
  const fs::path config = fs::path(word) / "config.json";
  if (fs::exists(config, ignored)) return {config, "", ""};
  const fs::path named = is_name(word) ? find_named(roots, kModelFile, word) : fs::path();
  const bool is_folder = fs::is_directory(word, ignored);
  if (fs::exists(word, ignored) && !(is_folder && !named.empty())) {
    if (is_folder) refuse(word, "this folder has no config.json; name one that has, or the file");
    return {word, "", ""};
  }
  if (!named.empty()) return {named, word, ""};
  const std::string name = word.substr(word.find('/') + 1);
  if (is_hub_id(word)) {
    const std::string shipped = lower_case(name);
    if (const fs::path file = find_named(roots, kModelFile, shipped); !file.empty()) return {file, shipped, word};
    if (!fs::is_directory(fs::path(word).parent_path(), ignored)) refuse(word, "not shipped; " + how_to_download(word));
  }
  if (word.find('/') != std::string::npos || word.ends_with(".json") || word.ends_with(".yaml"))
    refuse(word, "no such file or folder");
  const std::string like = did_you_mean(word, known_names(roots, kModelFile));
  const bool is_near = !is_name(word) || like.starts_with("did you mean");
  throw InputError({}, fmt::format("there is no model \"{}\"; {}", printable(word).substr(0, 64),
                                   is_near ? like : fmt::format("{}; or {}", like, how_to_download(word))));
}

// The map with this key first, or in place of its own.
void set_key(Node& map, const std::string& key, const std::string& value) {
  Node* own = map.find(key);
  if (!own) own = &map.entries.emplace(map.entries.begin(), Entry{key, map.place, {}})->value;
  own->kind = Node::Kind::kScalar;
  own->place = map.place;
  own->scalar = value;
}

// The same in the file's text: JSON's first key, or a line of YAML.
std::string with_key(const std::string& text, const std::string& key, const std::string& value) {
  const auto brace = text.find_first_not_of(" \t\r\n");
  const std::regex member(fmt::format("\"{}\"\\s*:\\s*[^,}}\\s]+", key));
  if (std::regex_search(text, member)) return std::regex_replace(text, member, fmt::format("\"{}\": {}", key, value));
  if (brace != std::string::npos && text[brace] == '{') {
    const auto next = std::min(text.find_first_not_of(" \t\r\n", brace + 1), text.size());
    return fmt::format("{}\n  \"{}\": {},\n  {}", text.substr(0, brace + 1), key, value, text.substr(next));
  }
  const std::regex line(fmt::format("(^|\n){}:[^\n]*", key));
  const std::string own = fmt::format("{}: {}", key, value);
  if (std::regex_search(text, line)) return std::regex_replace(text, line, "$1" + own);
  return text + (text.ends_with('\n') ? "" : "\n") + own + "\n";
}

}  // namespace

ChosenModel choose_model(const std::string& word, const fs::path& folder, std::int64_t sequence, std::int64_t most) {
  const ModelFile file = file_of(word, folder);
  ChosenModel out;
  out.node = read_yaml(file.path);
  out.text = out.node.place.source->text;
  const bool hugging_face = out.node.find("model_type");
  const bool states_length = !hugging_face || out.node.find("sequence");
  // An unstated length is the longest possible one; the error that it may be is answered here.
  const std::string name = model_name_of(file.path);
  Reading first;
  const Transformer longest = read_transformer(out.node, "", name, first);
  out.longest = longest.sequence;
  const std::int64_t usual = states_length ? out.longest : kUsualSequence;
  const std::int64_t chosen = sequence > 0 ? sequence : std::min(out.longest, most > 0 ? most : usual);
  if (chosen != out.longest && out.longest > 0) {
    const std::string tokens = std::to_string(chosen);
    // Learned positions keep their number.
    if (longest.traits.learned_positions && !out.node.find("positions")) {
      const std::string rows = std::to_string(longest.positions);
      set_key(out.node, "positions", rows);
      out.text = with_key(out.text, "positions", rows);
    }
    set_key(out.node, "sequence", tokens);
    out.text = with_key(out.text, "sequence", tokens);
  }
  Reading reading;
  out.transformer = read_transformer(out.node, "", name, reading);
  reading.check();
  out.dtype = stated_precision(out.node);
  const bool copied = file.shipped.empty() || chosen != out.longest;
  if (copied) {
    const bool json = file.path.extension() == ".json";
    out.file = (name == "platform" || name == "scenario" ? name + "-model" : name) + (json ? ".json" : ".yaml");
    out.word = "./" + out.file;
    const std::string source =
        file.shipped.empty() ? file.path.lexically_normal().string() : fmt::format("the shipped {}", file.shipped);
    out.why = fmt::format("copy of {}, sequences of {} tokens", source, chosen);
    if (chosen > out.longest)
      out.why += fmt::format(" (--sequence; the model states {})", out.longest);
    else if (chosen < out.longest)
      out.why += fmt::format(" ({}; {} at most)", sequence > 0 ? "--sequence" : "chosen: --sequence states others",
                             out.longest);
  } else {
    out.word = file.shipped;
    out.text.clear();
    if (!file.hub_id.empty()) out.why = fmt::format("shipped as {}'s", file.hub_id);
  }
  out.node.named_at = out.node.place;
  return out;
}

}  // namespace slmsim
