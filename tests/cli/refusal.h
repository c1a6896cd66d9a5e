// Behaviour on any bad input: status 2, every error reported with its place,
// a bounded amount of text, and no trace of a result.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.h"

namespace slmsim {

inline constexpr std::size_t kMostErrorBytes = 64'000;
inline constexpr long kMostMemoryKib = 500 * 1024;

// `where` reads "LINE:COLUMN", or "LINE" where the column is a matter of taste, "" for the whole file and "*"
// for any place in it.
struct ExpectedError {
  std::string where, text;
};

inline std::string beginning_of(const std::string& file, const std::string& where) {
  if (where == "*") return file + ":";
  const bool exact = where.empty() || where.find(':') != std::string::npos;
  return file + (where.empty() ? "" : ":" + where) + (exact ? ": error: " : ":");
}

// Without the source lines and carets below them, which are indented.
inline std::vector<std::string> error_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("  ")) lines.push_back(line);
  }
  return lines;
}

// `expected` are all errors, in any order; empty means that only their form is checked.
inline void expect_refused(const std::vector<std::string>& arguments, const std::string& file,
                           const std::vector<ExpectedError>& expected) {
  const RunOutcome run = slmsim_run(arguments);
  EXPECT_EQ(run.status, 2) << run.err.substr(0, 2000);
  EXPECT_EQ(run.out.substr(0, 500), "");
  EXPECT_FALSE(run.err.empty());
  EXPECT_LT(run.err.size(), kMostErrorBytes) << run.err.substr(0, 500);
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(run.memory_kib, kMostMemoryKib);
#endif
  std::vector<testing::Matcher<std::string>> matchers;
  for (const auto& error : expected) {
    matchers.push_back(testing::AllOf(testing::StartsWith(beginning_of(file, error.where)),
                                      testing::HasSubstr("error: "), testing::HasSubstr(error.text)));
  }
  auto lines = error_lines(run.err.substr(0, kMostErrorBytes));
  // Progress, of which a slow machine prints a line every ten seconds, is no error.
  std::erase_if(lines, [](const std::string& line) {
    return line.starts_with("slmsim: ") && line.find("error: ") == std::string::npos;
  });
  if (expected.empty()) {
    EXPECT_THAT(lines, testing::Each(testing::HasSubstr("error: ")));
  } else {
    EXPECT_THAT(lines, testing::UnorderedElementsAreArray(matchers));
  }
}

// The same with every option that writes a file.
inline void expect_no_file_written(std::vector<std::string> arguments) {
  const TemporaryFolder folder;
  const std::string verb = arguments.front();
  if (verb != "run" && verb != "select" && verb != "sweep") return;
  arguments.insert(arguments.end(), {"--output", folder.file("result")});
  if (verb == "run") arguments.insert(arguments.end(), {"--trace", folder.file("trace.json")});
  EXPECT_EQ(slmsim_run(arguments).status, 2);
  EXPECT_EQ(folder.count(), 0);
}

}  // namespace slmsim
