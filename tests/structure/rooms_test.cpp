// The house keeps its order: each room includes only rooms above it, files stay readable, and yaml-cpp,
// SimGrid, CBC and MPI are known in one place each.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestFile = 400;

const fs::path kRoot = SLMSIM_SOURCE_DIR;

const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"base", {}},
    {"model", {"base"}},
    {"platform", {"base"}},
    {"cost", {"base", "model", "platform"}},
    {"scenario", {"base", "model", "platform", "cost"}},
    {"graph", {"base", "platform"}},
    {"engine", {"base", "platform", "graph"}},
    {"plan", {"base", "model", "platform", "cost", "scenario", "graph"}},
    {"select", {"base", "model", "platform", "cost", "scenario", "graph", "plan", "engine"}},
    {"search", {"base", "model", "platform", "cost", "scenario", "graph", "plan", "engine", "select"}},
    {"report", {"base", "model", "platform", "cost", "scenario", "graph", "plan", "engine", "select", "search"}},
    {"sweep",
     {"base", "model", "platform", "cost", "scenario", "graph", "plan", "engine", "select", "search", "report"}},
    {"cli",
     {"base", "model", "platform", "cost", "scenario", "graph", "plan", "engine", "select", "search", "report",
      "sweep"}},
};

struct File {
  fs::path path;
  std::vector<std::string> lines, includes;
};

std::vector<File> sources(const std::string& folder) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
  std::vector<File> files;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
    File file{fs::relative(entry.path(), kRoot), {}, {}};
    std::ifstream stream(entry.path());
    for (std::string line; std::getline(stream, line);) {
      std::smatch match;
      if (std::regex_search(line, match, kInclude)) file.includes.push_back(match[1]);
      file.lines.push_back(line);
    }
    files.push_back(std::move(file));
  }
  return files;
}

std::string room_of(const std::string& include) {
  if (!include.starts_with("sim/")) return "";
  return include.substr(4, include.find('/', 4) - 4);
}

TEST(Rooms, IncludeOnlyRoomsAboveThem) {
  for (const auto& file : sources("sim")) {
    const std::string room = room_of(file.path.generic_string());
    ASSERT_TRUE(kMayInclude.contains(room)) << file.path << " is in no room";
    for (const auto& include : file.includes) {
      const std::string other = room_of(include);
      EXPECT_TRUE(other.empty() || other == room || kMayInclude.at(room).contains(other))
          << file.path << " includes " << include;
    }
  }
}

TEST(Rooms, KnowYamlCppSimgridCbcAndMpiInOnePlaceEach) {
  for (const auto& file : sources("sim")) {
    for (const auto& include : file.includes) {
      if (include.starts_with("yaml-cpp/")) {
        EXPECT_EQ(file.path.generic_string(), "sim/base/yaml.cpp");
      }
      if (include.starts_with("simgrid/")) {
        EXPECT_EQ(file.path.generic_string(), "sim/engine/simgrid_engine.cpp");
      }
      for (const char* coin : {"Cbc", "Coin", "Clp", "Osi"}) {
        if (include.starts_with(coin)) {
          EXPECT_EQ(file.path.generic_string(), "sim/plan/solver/cbc.cpp");
        }
      }
      if (include == "mpi.h") {
        EXPECT_EQ(file.path.generic_string(), "sim/sweep/mpi/ranks.cpp");
      }
    }
  }
}

TEST(Rooms, AreNotKnownToCalibrateBeyondBase) {
  for (const auto& file : sources("calibrate")) {
    for (const auto& include : file.includes) EXPECT_THAT(room_of(include), testing::AnyOf("", "base")) << file.path;
  }
}

TEST(Files, StayShortEnoughToRead) {
  for (const char* folder : {"sim", "calibrate", "tests"}) {
    for (const auto& file : sources(folder)) EXPECT_LE(file.lines.size(), kLongestFile) << file.path;
  }
}

TEST(Headers, OpenWithACommentAndAreIncludedOnce) {
  for (const auto& file : sources("sim")) {
    if (file.path.extension() != ".h") continue;
    ASSERT_FALSE(file.lines.empty()) << file.path;
    EXPECT_TRUE(file.lines.front().starts_with("// ")) << file.path << " does not say what it holds";
    EXPECT_THAT(file.lines, testing::Contains("#pragma once")) << file.path;
  }
}

}  // namespace
