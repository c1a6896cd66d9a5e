#include "sim/base/yaml.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "sim/base/file.h"
#include "sim/base/text.h"

namespace slmsim {
namespace {

constexpr std::size_t kMaxErrors = 50;  // per file: a binary file should not print a thousand lines
constexpr const char* kOpenQuote = "not valid YAML: a quote that is never closed";

// Likely causes, for the author of the file, of yaml-cpp's messages.
constexpr std::pair<std::string_view, std::string_view> kHints[] = {
    {"end of map not found", "; is this line indented as its neighbours are, with a space after the colon?"},
    {"end of sequence not found", "; is this line indented as the list's other items are?"},
    {"end of sequence flow not found", "; a [ here or in a line above is not closed"},
    {"end of map flow not found", "; a { here or in a line above is not closed"},
    {"illegal map value", "; is this line indented as its neighbours are? a text with \": \" needs quotes"},
    {"illegal EOF", "; is the file cut off?"},
};

Place place_at(const std::shared_ptr<const Source>& source, std::size_t at) {
  const std::string_view before = std::string_view(source->text).substr(0, at);
  return {source, 1 + static_cast<int>(std::ranges::count(before, '\n')),
          static_cast<int>(at - (before.rfind('\n') + 1)) + 1};
}

// Refuses a quote or bracket without its partner in JSON, of which yaml-cpp reports a consequence elsewhere.
void refuse_unpaired(const std::shared_ptr<const Source>& source) {
  const std::string& text = source->text;
  std::size_t at = text.find_first_not_of(" \t\r\n");
  if (at == std::string::npos || (text[at] != '{' && text[at] != '[')) return;
  const std::size_t end = text.find_last_not_of(" \t\r\n") + 1;
  std::vector<std::size_t> open;
  for (; at < end; ++at) {
    const char c = text[at];
    if (c == '"') {
      const std::size_t quote = at++;
      while (at < end && text[at] != '"' && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
      if (at >= end || text[at] == '\n') throw InputError(place_at(source, quote), kOpenQuote);
    } else if (c == '{' || c == '[') {
      open.push_back(at);
    } else if (c == '}' || c == ']') {
      if (open.empty()) return;
      if ((text[open.back()] == '{') != (c == '}')) break;
      open.pop_back();
    }
  }
  if (open.empty()) return;
  throw InputError(place_at(source, at), fmt::format("not valid YAML: the {} of line {} is not closed before here",
                                                     text[open.back()], place_at(source, open.back()).line));
}

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  Node take() {
    if (!errors_.empty()) throw InputError(std::move(errors_));
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node;
    node.place = place(mark);
    add(std::move(node), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!is_closed(mark)) fail(mark, kOpenQuote);
    Node node;
    // "~" and "null" arrive as plain scalars; a quoted one has the tag "!".
    const bool null = tag == "?" && (value == "~" || value == "null");
    node.kind = null ? Node::Kind::kNull : Node::Kind::kScalar;
    node.place = place(mark);
    node.scalar = value;
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(mark, "an alias inside its own anchor; a value cannot contain itself");
    Node copy = found->second;
    count(copy, place(mark), static_cast<int>(stack_.size()));
    add(std::move(copy), 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, Node::Kind::kSequence, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, Node::Kind::kMap, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct OpenNode {
    Node node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    std::string key;
    Place key_place;
    std::unordered_map<std::string, std::size_t> entry_of;  // index of each key's entry
  };

  Place place(const YAML::Mark& mark) const { return {source_, mark.line + 1, mark.column + 1}; }

  [[noreturn]] void fail(const YAML::Mark& mark, std::string text) { fail(place(mark), std::move(text)); }
  [[noreturn]] void fail(const Place& at, std::string text) {
    errors_.push_back({at, std::move(text)});
    throw InputError(std::move(errors_));
  }

  // yaml-cpp reads the rest of the file as the text of an unclosed quote.
  bool is_closed(const YAML::Mark& mark) const {
    const std::string& text = source_->text;
    auto at = static_cast<std::size_t>(std::max(0, mark.pos));
    if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) return true;
    const char quote = text[at];
    for (++at; at < text.size(); ++at) {
      if (quote == '"' && text[at] == '\\') {
        ++at;
      } else if (text[at] == quote) {
        const bool escaped = quote == '\'' && at + 1 < text.size() && text[at + 1] == quote;
        if (!escaped) return true;
        ++at;
      }
    }
    return false;
  }

  void open(const YAML::Mark& mark, Node::Kind kind, YAML::anchor_t anchor) {
    if (stack_.size() >= kMaxDepth) too_deep(place(mark));
    if (!stack_.empty() && stack_.back().node.kind == Node::Kind::kMap && !stack_.back().has_key) {
      refuse_unpaired(source_);
      fail(mark, "not valid YAML: a map or list used as a key; keys are plain names");
    }
    OpenNode level;
    level.node.kind = kind;
    level.node.place = place(mark);
    level.anchor = anchor;
    stack_.push_back(std::move(level));
  }

  void close() {
    OpenNode level = std::move(stack_.back());
    stack_.pop_back();
    add(std::move(level.node), level.anchor);
  }

  void add(Node node, YAML::anchor_t anchor) {
    if (++nodes_ > kMaxNodes) too_large(node.place);
    if (anchor != 0) {
      count(node, node.place, static_cast<int>(stack_.size()));  // the copy that is kept for aliases
      anchors_[anchor] = node;
    }
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    OpenNode& parent = stack_.back();
    if (parent.node.kind == Node::Kind::kSequence) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.has_key) {
      take_key(parent, node);
    } else {
      add_entry(parent, std::move(node));
    }
  }

  void take_key(OpenNode& parent, const Node& node) {
    if (node.kind != Node::Kind::kScalar) {
      errors_.push_back({node.place, "a key that is not a plain name"});
    } else if (node.scalar == "<<") {
      errors_.push_back(
          {node.place, "merge keys (<<) are not supported; use \"extends: FILE\" to build on another file"});
    }
    parent.key = node.scalar;
    parent.key_place = node.place;
    parent.has_key = true;
  }

  void add_entry(OpenNode& parent, Node node) {
    parent.has_key = false;
    // For an empty value yaml-cpp marks the next token.
    if (node.kind == Node::Kind::kNull && node.place.line != parent.key_place.line) node.place = parent.key_place;
    const auto [at, is_new] = parent.entry_of.try_emplace(parent.key, parent.node.entries.size());
    if (!is_new) {
      const Entry* first = &parent.node.entries[at->second];
      const bool same =
          node.kind == Node::Kind::kScalar && first->value.kind == node.kind && first->value.scalar == node.scalar;
      if (same && source_->name.ends_with(".json")) return;
      if (errors_.size() < kMaxErrors) {
        errors_.push_back({parent.key_place, fmt::format("duplicate key \"{}\"; the first one is in line {}",
                                                         parent.key, first->place.line)});
      }
      return;
    }
    parent.node.entries.push_back({parent.key, parent.key_place, std::move(node)});
  }

  // An alias counts as the node that it refers to, in number and in depth.
  void count(const Node& node, const Place& at, int depth) {
    if (++nodes_ > kMaxNodes) too_large(at);
    if (depth > kMaxDepth) too_deep(at);
    for (const auto& item : node.items) count(item, at, depth + 1);
    for (const auto& entry : node.entries) count(entry.value, at, depth + 1);
  }

  [[noreturn]] void too_deep(const Place& at) {
    fail(at, fmt::format("nested deeper than {} levels; such a file is not a scenario", kMaxDepth));
  }

  [[noreturn]] void too_large(const Place& at) {
    throw InputError(at,
                     fmt::format("more than {} values, aliases included; such a file is not a scenario", kMaxNodes));
  }

  std::shared_ptr<const Source> source_;
  Node root_;
  std::vector<OpenNode> stack_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::size_t nodes_ = 0;
  std::vector<Error> errors_;
};

// Position of a bare NUL or an invalid UTF-8 sequence, which make the file binary.
std::size_t first_binary_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = c < 0x80 ? 1 : (c >> 5) == 6 ? 2 : (c >> 4) == 14 ? 3 : (c >> 3) == 30 ? 4 : 0;
    const bool control = c < 0x20 && c != '\n' && c != '\r' && c != '\t';
    if (length == 0 || control || i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) >> 6) != 2) return i;
    }
    i += length;
  }
  return std::string_view::npos;
}

// Line and column of the first tab used for indentation; the parser's own error does not name it.
std::optional<std::pair<int, int>> tab_in_indentation(std::string_view text) {
  for (int line = 1; !text.empty(); ++line) {
    const std::string_view row = text.substr(0, text.find('\n'));
    const auto first = row.find_first_not_of(" \t\r");
    const auto tab = row.find('\t');
    if (first != std::string_view::npos && tab < first) return std::pair{line, static_cast<int>(tab) + 1};
    text.remove_prefix(std::min(row.size() + 1, text.size()));
  }
  return std::nullopt;
}

// Refuses what follows a closing bracket on its line, which yaml-cpp reports as an error of the map or as another document.
void refuse_after_bracket(const std::shared_ptr<const Source>& source, int line, int column) {
  const std::string_view before = line_of(source->text, line).substr(0, static_cast<std::size_t>(column - 1));
  const std::size_t last = before.find_last_not_of(' ');
  if (last == std::string_view::npos || (before[last] != ']' && before[last] != '}')) return;
  throw InputError(
      {source, line, column},
      fmt::format("not valid YAML: nothing may follow a {}; a list repeats its items: [a, a]", before[last]));
}

Node parse(const std::shared_ptr<const Source>& source) {
  if (const std::size_t at = first_binary_byte(source->text); at != std::string_view::npos) {
    throw InputError(place_at(source, at), "not a text file; a YAML file in UTF-8 is expected");
  }
  TreeBuilder builder(source);
  try {
    std::istringstream stream(source->text);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder))
      throw InputError({source, 1, 1}, "the file is empty; a YAML map is expected");
    Node root = builder.take();
    TreeBuilder second(source);
    if (parser.HandleNextDocument(second)) {
      const Place place = second.take().place;
      refuse_after_bracket(source, place.line, place.column);
      throw InputError(place, "a second YAML document; one file holds one document");
    }
    return root;
  } catch (const YAML::Exception& error) {
    if (const auto tab = tab_in_indentation(source->text); tab && !source->name.ends_with(".json"))
      throw InputError({source, tab->first, tab->second}, "a tab in the indentation; YAML allows only spaces there");
    refuse_unpaired(source);
    const bool marked = !error.mark.is_null();
    if (marked) refuse_after_bracket(source, error.mark.line + 1, error.mark.column + 1);
    const auto hint =
        std::ranges::find_if(kHints, [&](const auto& one) { return error.msg.find(one.first) != std::string::npos; });
    throw InputError({source, marked ? error.mark.line + 1 : 1, marked ? error.mark.column + 1 : 1},
                     fmt::format("not valid YAML: {}{}", error.msg, hint == std::end(kHints) ? "" : hint->second));
  }
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  const auto at = std::ranges::find_if(entries, [&](const Entry& e) { return e.key == key; });
  return at == entries.end() ? nullptr : &at->value;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

std::string kind_name(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::kNull:
      return "nothing";
    case Node::Kind::kScalar:
      return "a single value";
    case Node::Kind::kSequence:
      return "a list";
    case Node::Kind::kMap:
      return "a map";
  }
  return "";
}

Node read_yaml(const std::filesystem::path& path) {
  return parse(std::make_shared<Source>(Source{path.string(), read_regular_file(path, kMaxFileBytes)}));
}

Node parse_yaml(std::string_view text, const std::string& name) {
  return parse(std::make_shared<Source>(Source{name, std::string(text)}));
}

void merge(Node& base, const Node& over) {
  const bool stated_value = over.find("value") != nullptr || base.find("value") != nullptr;
  if (base.kind != Node::Kind::kMap || over.kind != Node::Kind::kMap || stated_value) {
    base = over;
    return;
  }
  std::unordered_map<std::string, std::size_t> mine;
  for (std::size_t i = 0; i < base.entries.size(); ++i) mine.emplace(base.entries[i].key, i);
  for (const auto& entry : over.entries) {
    if (const auto at = mine.find(entry.key); at != mine.end()) {
      merge(base.entries[at->second].value, entry.value);
    } else {
      base.entries.push_back(entry);
    }
  }
}

}  // namespace slmsim
