// The house keeps its order: each room includes only rooms above it, files stay readable, and yaml-cpp,
// SimGrid, CBC, MPI and the HTTP library are known in one place each.
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace slmsim::rooms_test {
namespace {

using testing::Contains;
using testing::Not;
using testing::StartsWith;
namespace fs = std::filesystem;

constexpr std::size_t kLongestFile = 400;

const fs::path kRoot = SLMSIM_SOURCE_DIR;

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

// The rooms and what each may include, as sim/CMakeLists.txt links them: slmsim_room(ROOM slmsim_OTHER...) names the
// rooms right above it, and theirs come with them. The command line sees them all.
std::map<std::string, std::set<std::string>> rooms() {
  static const std::regex kRoom(R"(^slmsim_room\((\w+)([^)]*)\))"), kOther(R"(slmsim_(\w+))");
  std::map<std::string, std::set<std::string>> above;
  std::ifstream stream(kRoot / "sim/CMakeLists.txt");
  for (std::string line; std::getline(stream, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, kRoom)) continue;
    const std::string room = match[1], others = match[2];
    auto& own = above[room];
    for (std::sregex_iterator at(others.begin(), others.end(), kOther), end; at != end; ++at) {
      const std::string other = (*at)[1];
      EXPECT_TRUE(above.contains(other)) << room << " stands above " << other;
      own.insert(other);
      own.insert(above[other].begin(), above[other].end());
    }
    above["cli"].insert(room);
  }
  return above;
}

TEST(Rooms, IncludeOnlyRoomsAboveThem) {
  const auto may_include = rooms();
  ASSERT_GT(may_include.size(), 10u);
  for (const auto& file : sources("sim")) {
    const std::string room = room_of(file.path.generic_string());
    ASSERT_TRUE(may_include.contains(room)) << file.path << " is in no room";
    for (const auto& include : file.includes) {
      const std::string other = room_of(include);
      EXPECT_TRUE(other.empty() || other == room || may_include.at(room).contains(other))
          << file.path << " includes " << include;
    }
  }
}

TEST(Rooms, KnowYamlCppSimgridCbcMpiAndHttplibInOnePlaceEach) {
  for (const auto& file : sources("sim")) {
    for (const auto& include : file.includes) {
      if (include.starts_with("yaml-cpp/")) {
        EXPECT_EQ(file.path.generic_string(), "sim/base/yaml.cpp");
      }
      if (include.starts_with("simgrid/")) {
        EXPECT_EQ(file.path.generic_string(), "sim/engine/simgrid_library.cpp");
      }
      for (const char* coin : {"Cbc", "Coin", "Clp", "Osi"}) {
        if (include.starts_with(coin)) {
          EXPECT_EQ(file.path.generic_string(), "sim/technique/alpa/planner/solver/cbc_library.cpp");
        }
      }
      if (include == "mpi.h") {
        EXPECT_EQ(file.path.generic_string(), "sim/crew/mpi_library.cpp");
      }
      if (include == "httplib.h") {
        EXPECT_EQ(file.path.generic_string(), "sim/serve/http_library.cpp");
      }
    }
  }
}

// A header that includes another one that includes it, over however many others.
TEST(Files, IncludeEachOtherInNoCircle) {
  std::map<std::string, std::vector<std::string>> includes;
  for (const auto& file : sources("sim")) includes[file.path.generic_string()] = file.includes;
  std::map<std::string, int> state;  // 1: being looked at, 2: free of circles
  const std::function<void(const std::string&)> visit = [&](const std::string& file) {
    state[file] = 1;
    for (const auto& include : includes[file]) {
      EXPECT_NE(state[include], 1) << file << " and " << include << " are in a circle";
      if (state[include] == 0 && includes.contains(include)) visit(include);
    }
    state[file] = 2;
  };
  for (const auto& file : sources("sim")) {
    if (state[file.path.generic_string()] == 0) visit(file.path.generic_string());
  }
}

TEST(Rooms, HoldAtMostTwelvePercentOfTheHouse) {
  constexpr double kMost = 0.12;
  std::map<std::string, double> lines;
  double all = 0;
  for (const auto& file : sources("sim")) {
    lines[room_of(file.path.generic_string())] += static_cast<double>(file.lines.size());
    all += static_cast<double>(file.lines.size());
  }
  for (const auto& [room, count] : lines) EXPECT_LE(count, kMost * all) << room;
}

// A technique is known to its file and to the table; other code asks its descriptor. The rooms that lower a plan and
// count its memory may ask for its variant.
TEST(Rooms, NameNoTechnique) {
  static const std::regex kNamed(
      R"(Technique::k[A-Z]|extern const Technique|&k(Data|Zero2|Shard|Pipeshard|Ddp|Megatron)\b)");
  static const std::regex kVariant(R"(\b(replicas|megatron)\(\))");
  static const std::set<std::string> kMayAskTheVariant = {"plan", "lower", "memory", "technique"};
  for (const auto& file : sources("sim")) {
    const std::string room = room_of(file.path.generic_string());
    for (const auto& line : file.lines) {
      EXPECT_TRUE(room == "technique" || !std::regex_search(line, kNamed)) << file.path << ": " << line;
      EXPECT_TRUE(kMayAskTheVariant.contains(room) || !std::regex_search(line, kVariant)) << file.path << ": " << line;
    }
  }
}

TEST(Rooms, AreNotKnownToCalibrateBeyondBase) {
  for (const auto& file : sources("calibrate")) {
    for (const auto& include : file.includes) EXPECT_THAT(room_of(include), testing::AnyOf("", "base")) << file.path;
  }
}

TEST(Rooms, ArePutToPythonWithoutTheCommandLine) {
  for (const char* folder : {"sim", "calibrate"}) {
    for (const auto& file : sources(folder))
      EXPECT_THAT(file.includes, Not(Contains(StartsWith("python/")))) << file.path;
  }
  for (const auto& file : sources("python")) {
    for (const auto& include : file.includes) EXPECT_NE(room_of(include), "cli") << file.path;
  }
}

TEST(Files, StayShortEnoughToRead) {
  for (const char* folder : {"sim", "calibrate", "python", "tests"}) {
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
}  // namespace slmsim::rooms_test
