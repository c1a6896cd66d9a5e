#include <cctype>
#include <utility>

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

}  // namespace slmsim
