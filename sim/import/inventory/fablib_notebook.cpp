// Tables as FABlib shows them in a Jupyter notebook: HTML of pandas' Styler, with a header (list_nodes(), list_networks()) or a
// key and its value in each row (show()); and the notebook itself, whose outputs hold them beside printed text.
#include <utility>

#include <fmt/format.h>

#include "sim/import/inventory/fablib.h"

namespace slmsim {
namespace {

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

void read_table(std::string_view table, const Place& place, SliceTables& tables) {
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

}  // namespace

void read_fablib_html(const Place& place, const std::string& text, SliceTables& tables) {
  std::size_t at = 0;
  while (const auto table = element(text, "table", at)) read_table(*table, place, tables);
}

void read_fablib_notebook(const std::string& file, const Node& notebook, SliceTables& tables) {
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

}  // namespace slmsim
