#include "sim/base/csv_text.h"

namespace slmsim {

std::vector<CsvRecord> csv_records(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<CsvRecord> records;
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    CsvRecord record{line, {""}};
    bool quoted = false, empty = true;
    for (; at < text.size() && (quoted || text[at] != '\n'); ++at) {
      const char c = text[at];
      empty = empty && c == '\r';
      line += c == '\n';
      if (c == '"' && quoted && at + 1 < text.size() && text[at + 1] == '"') {
        record.cells.back() += text[++at];
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        record.cells.emplace_back();
      } else if (c != '\r' || quoted) {
        record.cells.back() += c;
      }
    }
    ++at;
    ++line;
    if (!empty) records.push_back(std::move(record));
  }
  return records;
}

int csv_column(std::string_view text, int line, std::size_t cell) {
  std::size_t at = 0;
  for (int i = 1; i < line; ++i) {
    at = text.find('\n', at);
    if (at == std::string_view::npos) return 1;
    ++at;
  }
  const std::size_t begin = at;
  bool quoted = false;
  for (; cell > 0 && at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '"') quoted = !quoted;
    if (text[at] == ',' && !quoted) --cell;
  }
  return cell == 0 ? static_cast<int>(at - begin) + 1 : 1;
}

}  // namespace slmsim
