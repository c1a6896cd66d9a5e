#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/import/inventory/fablib.h"

namespace slmsim {
namespace {

struct Line {
  std::string text;
  int number = 0;  // from 1
};

std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(begin, end - begin);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    lines.push_back({std::move(line), static_cast<int>(lines.size()) + 1});
    begin = end + 1;
  }
  return lines;
}

// First and last column of each group of dashes, where the line has only dashes and at least two groups.
using Spans = std::vector<std::pair<std::size_t, std::size_t>>;
Spans ruler(const std::string& line) {
  Spans spans;
  if (line.find_first_not_of("- ") != std::string::npos) return {};
  for (std::size_t at = line.find('-'); at != std::string::npos; at = line.find('-', at)) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    spans.emplace_back(at, end);
    at = end;
  }
  return spans.size() >= 2 ? spans : Spans{};
}

std::string cell(const std::string& line, const Spans& spans, std::size_t column) {
  const auto [begin, end] = spans[column];
  if (begin >= line.size()) return "";
  std::string text = line.substr(begin, column + 1 == spans.size() ? std::string::npos : end - begin);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

bool is_head(const std::string& line, const Spans& spans) {
  if (!ruler(line).empty()) return false;  // the end of another table
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (cell(line, spans, i).empty()) return false;
  }
  return true;
}

Place place_of(const std::shared_ptr<const Source>& source, const Line& line) { return {source, line.number, 1}; }

// "PCI Address" and "pci_address" both give the latter.
std::string plain_key(const std::string& text) {
  std::string out = lower_case(text);
  std::ranges::replace(out, ' ', '_');
  return out;
}

SliceRecord record_of(const Node& node) {
  SliceRecord record;
  record.place = node.place;
  for (const auto& entry : node.entries) {
    if (entry.value.kind == Node::Kind::kScalar) record.cells[plain_key(entry.key)] = entry.value.scalar;
    if (entry.value.kind == Node::Kind::kNull) record.cells[plain_key(entry.key)] = "";
  }
  return record;
}

bool is_record(const Node& node) { return node.kind == Node::Kind::kMap && node.find("name") != nullptr; }

// Gathers lists, and maps by name, of records, and the records inside them (a node's components).
void gather(const Node& node, const std::string& parent, SliceTables& tables) {
  if (node.kind == Node::Kind::kSequence) {
    for (const auto& item : node.items) gather(item, parent, tables);
    return;
  }
  if (node.kind != Node::Kind::kMap) return;
  SliceRecord record = record_of(node);
  const bool is_one = record.cells.contains("name");
  const std::string name = is_one ? record.cells["name"] : parent;
  if (is_one) {
    if (!parent.empty() && (record.cells.contains("model") || record.cells.contains("pci_address")))
      record.cells.try_emplace("node", parent);
    tables.add(std::move(record));
  }
  for (const auto& entry : node.entries) {
    if (entry.value.kind == Node::Kind::kScalar || entry.value.kind == Node::Kind::kNull) continue;
    // Lists of references by name add nothing.
    gather(entry.value, is_one ? name : "", tables);
  }
}

// Tables as FABlib shows them in a Jupyter notebook: HTML of pandas' Styler, with a header (list_nodes(), list_networks()) or a
// key and its value in each row (show()); and the notebook itself, whose outputs hold them beside printed text.

// Text of a cell, without tags and with entities decoded.
std::string plain_text(std::string_view html) {
  static const std::pair<std::string_view, const char*> kNames[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&#x27;", "'"}, {"&nbsp;", " "}, {"&amp;", "&"}};
  std::string out;
  for (std::size_t i = 0; i < html.size();) {
    if (html[i] == '<') {
      i = std::min(html.find('>', i), html.size() - 1) + 1;
      continue;
    }
    bool named = false;
    for (const auto& [name, character] : kNames) {
      if (html.substr(i, name.size()) != name) continue;
      out += character;
      i += name.size();
      named = true;
      break;
    }
    if (!named) out += html[i++];
  }
  const auto begin = out.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return out.substr(begin, out.find_last_not_of(" \t\r\n") - begin + 1);
}

// The next element of this name from `at` on, without its tags; `at` moves behind it. Nothing where there is none.
std::optional<std::string_view> element(std::string_view html, std::string_view name, std::size_t& at) {
  const std::string open = fmt::format("<{}", name), close = fmt::format("</{}>", name);
  for (;;) {
    const std::size_t begin = html.find(open, at);
    if (begin == std::string_view::npos) return std::nullopt;
    const std::size_t inside = html.find('>', begin), behind = begin + open.size();
    at = behind;
    if (inside == std::string_view::npos) return std::nullopt;
    if (html[behind] != '>' && html[behind] != ' ') continue;  // <thead> is not <th>
    const std::size_t end = html.find(close, inside);
    if (end == std::string_view::npos) return std::nullopt;
    at = end + close.size();
    return html.substr(inside + 1, end - inside - 1);
  }
}

std::vector<std::string> cells_of(std::string_view row, std::string_view name) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (const auto cell = element(row, name, at)) out.push_back(plain_text(*cell));
  return out;
}

void read_slice_table(std::string_view table, const Place& place, SliceTables& tables) {
  std::vector<std::string> head;
  SliceRecord pairs{{}, place};
  std::size_t at = 0;
  while (const auto row = element(table, "tr", at)) {
    const auto heads = cells_of(*row, "th"), cells = cells_of(*row, "td");
    if (cells.empty()) {
      if (head.empty()) head = heads;
    } else if (!head.empty()) {
      SliceRecord record{{}, place};
      // A row's own name, if any, is in the first column.
      const std::size_t first = head.size() > cells.size() ? head.size() - cells.size() : 0;
      for (std::size_t i = 0; i < cells.size() && first + i < head.size(); ++i)
        record.cells[plain_key(head[first + i])] = cells[i];
      tables.add(std::move(record));
    } else if (cells.size() == 2) {
      pairs.cells[plain_key(cells[0])] = cells[1];
    }
  }
  if (!pairs.cells.empty()) tables.add(std::move(pairs));
}

// Joins a text that may be a list of lines.
std::string text_of(const Node* node) {
  if (!node) return "";
  std::string out = node->scalar;
  for (const auto& line : node->items) out += line.scalar;
  return out;
}

// The outputs of a map with `cells`; the file's name is for messages.
void read_notebook(const std::string& file, const Node& notebook, SliceTables& tables) {
  for (const auto& cell : notebook.find("cells")->items) {
    const Node* outputs = cell.find("outputs");
    if (!outputs) continue;
    for (const auto& output : outputs->items) {
      const Node* data = output.find("data");
      read_fablib_html(output.place, text_of(data ? data->find("text/html") : nullptr), tables);
      read_fablib_text(file, text_of(output.find("text")), tables);
    }
  }
}

}  // namespace

void read_fablib_text(const std::string& file, const std::string& text, SliceTables& tables) {
  const auto source = std::make_shared<const Source>(Source{file, text});
  const std::vector<Line> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Spans spans = ruler(lines[i].text);
    if (spans.empty()) continue;
    if (i > 0 && is_head(lines[i - 1].text, spans)) {
      const Line& head = lines[i - 1];
      for (++i; i < lines.size() && !lines[i].text.empty() && ruler(lines[i].text).empty(); ++i) {
        SliceRecord record;
        record.place = place_of(source, lines[i]);
        for (std::size_t c = 0; c < spans.size(); ++c)
          record.cells[plain_key(cell(head.text, spans, c))] = cell(lines[i].text, spans, c);
        tables.add(std::move(record));
      }
      continue;
    }
    // A table of one item: a key and its value in each line, up to another ruler.
    SliceRecord record;
    record.place = place_of(source, lines[i]);
    for (++i; i < lines.size() && !lines[i].text.empty() && ruler(lines[i].text).empty(); ++i)
      record.cells[plain_key(cell(lines[i].text, spans, 0))] = cell(lines[i].text, spans, 1);
    tables.add(std::move(record));
  }
}

void read_fablib_html(const Place& place, const std::string& text, SliceTables& tables) {
  std::size_t at = 0;
  while (const auto table = element(text, "table", at)) read_slice_table(*table, place, tables);
}

void read_fablib_json(const std::string& file, SliceTables& tables) {
  const Node root = read_yaml(file);
  const SliceRecord record = root.kind == Node::Kind::kMap ? record_of(root) : SliceRecord{};
  if (is_record(root) && record.cells.contains("lease_end") && !record.cells.contains("site"))
    throw InputError(
        root.place,
        "these are a slice's own attributes (toJson), which hold no nodes; export it by "
        "slice.save(\"slice.graphml\"), or by list_nodes, list_components, list_networks and list_interfaces "
        "with output=\"json\"");
  const Node* cells = root.kind == Node::Kind::kMap ? root.find("cells") : nullptr;
  if (cells && cells->kind == Node::Kind::kSequence) return read_notebook(file, root, tables);
  gather(root, "", tables);
}

}  // namespace slmsim
