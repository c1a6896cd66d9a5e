// The documentation hangs together: the README is short, every link leads to a file and a heading, every page is linked.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace slmsim::docs_test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestReadme = 150;

const fs::path kRoot = SLMSIM_SOURCE_DIR;

struct Page {
  std::set<std::string> anchors;
  std::vector<std::string> targets;
};

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// As GitHub makes them: small letters, digits, - and _; a space is a -; other characters are left out.
std::string anchor_of(const std::string& heading) {
  std::string out;
  for (const char c : heading) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) || c == '-' || c == '_')
      out += static_cast<char>(std::tolower(letter));
    else if (c == ' ')
      out += '-';
  }
  return out;
}

Page page_of(const fs::path& file) {
  static const std::regex kHeading(R"(^#{1,6} +(.*\S) *$)"), kLink(R"(\]\(([^)\s]+)\))");
  Page page;
  std::map<std::string, int> times;
  bool code = false;
  for (const auto& line : lines_of(file)) {
    if (line.starts_with("```")) code = !code;
    if (code || line.starts_with("    ")) continue;
    std::smatch match;
    if (std::regex_match(line, match, kHeading)) {
      const std::string anchor = anchor_of(match[1]);
      const int before = times[anchor]++;
      page.anchors.insert(before == 0 ? anchor : anchor + "-" + std::to_string(before));
    }
    for (std::sregex_iterator link(line.begin(), line.end(), kLink), end; link != end; ++link)
      page.targets.push_back((*link)[1]);
  }
  return page;
}

std::map<fs::path, Page> pages() {
  std::map<fs::path, Page> out;
  for (const char* file : {"README.md", "CONTRIBUTING.md", "calibrate/README.md"}) out[file] = page_of(kRoot / file);
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") out[fs::relative(entry.path(), kRoot)] = page_of(entry.path());
  }
  return out;
}

// The file that a link on a page means, from the root; a link without a file means its own page.
fs::path file_of(const fs::path& page, const std::string& target) {
  const std::string file = target.substr(0, target.find('#'));
  return file.empty() ? page : (page.parent_path() / file).lexically_normal();
}

TEST(Docs, LinksLeadToFilesAndHeadings) {
  const auto all = pages();
  ASSERT_GT(all.size(), 15u);
  for (const auto& [path, page] : all) {
    for (const auto& target : page.targets) {
      if (target.find("://") != std::string::npos) continue;
      const fs::path file = file_of(path, target);
      EXPECT_TRUE(fs::exists(kRoot / file)) << path << " links " << target << ", which is not there";
      const auto hash = target.find('#');
      if (hash == std::string::npos || !all.contains(file)) continue;
      EXPECT_TRUE(all.at(file).anchors.contains(target.substr(hash + 1)))
          << path << " links " << target << ", and " << file << " has no such heading";
    }
  }
}

TEST(Docs, PagesAreFoundFromTheReadme) {
  const auto all = pages();
  std::set<fs::path> seen = {"README.md"};
  std::vector<fs::path> open = {"README.md"};
  while (!open.empty()) {
    const fs::path page = open.back();
    open.pop_back();
    for (const auto& target : all.at(page).targets) {
      const fs::path file = file_of(page, target);
      if (all.contains(file) && seen.insert(file).second) open.push_back(file);
    }
  }
  for (const auto& [path, page] : all) EXPECT_TRUE(seen.contains(path)) << path << " is linked nowhere";
}

TEST(Docs, TheReadmeIsReadInOneGo) { EXPECT_LE(lines_of(kRoot / "README.md").size(), kLongestReadme); }

}  // namespace
}  // namespace slmsim::docs_test
