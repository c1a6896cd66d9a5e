#include "sim/import/measurement/input_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

namespace slmsim {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;  // the largest public table has 15 MB

}  // namespace

std::vector<std::string> InputFile::parts() const {
  std::vector<std::string> parts;
  for (const auto& part : fs::path(path())) parts.push_back(part.string());
  return parts;
}

InputFile read_input_file(const std::string& path) {
  const auto refuse = [&](const std::string& text) {
    throw InputError({std::make_shared<Source>(Source{path, ""}), 0, 0}, text);
  };
  std::error_code failed;
  const fs::file_type type = fs::status(path, failed).type();
  if (type == fs::file_type::directory) refuse("this is a folder; name the tables in it");
  if (type == fs::file_type::not_found) refuse("there is no such file; check the path");
  if (type != fs::file_type::regular) refuse("this is a device, a pipe or unreadable; a table is expected in a file");
  if (const auto size = fs::file_size(path, failed); failed || size > kMostBytes)
    refuse(fmt::format("the file has more than {} MiB; import a part of it", kMostBytes >> 20));
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream read;
  read << stream.rdbuf();
  std::string text = read.str();
  if (!stream || text.empty()) refuse("the file is empty or cannot be read; a table is expected");
  if (text.starts_with("version https://git-lfs."))
    refuse("this is a pointer of Git LFS, not the table; run git lfs pull where it comes from");
  if (text.starts_with("PK\x03\x04")) refuse("this is a spreadsheet or another archive; save its sheet as csv");
  if (text.find('\0') != std::string::npos) refuse("the file is not text; a table is expected");
  return {std::make_shared<Source>(Source{path, std::move(text)})};
}

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
