#include "sim/import/measurement/text_lines.h"

#include <sstream>

namespace slmsim {

std::vector<TextLine> text_lines(const InputFile& file) {
  std::vector<TextLine> lines;
  std::string_view content = file.text();
  if (content.starts_with("\xef\xbb\xbf")) content.remove_prefix(3);
  std::istringstream stream{std::string(content)};
  std::string text;
  for (int number = 1; std::getline(stream, text); ++number) {
    if (text.ends_with('\r')) text.pop_back();
    std::istringstream words(text);
    TextLine line{number, text, {}};
    for (std::string word; words >> word;) line.words.push_back(word);
    if (!line.words.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace slmsim
