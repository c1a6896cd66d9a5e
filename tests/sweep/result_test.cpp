// The parts of a sweep make its result.
#include "sim/sweep/result.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "sim/sweep/sweep.h"

namespace slmsim::result_test {
namespace {

namespace fs = std::filesystem;

std::string text(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

TEST(Parts, MustBeOfOneSweepCompleteAndOnce) {
  std::string pattern = testing::TempDir() + "slmsim-parts-XXXXXX";
  const fs::path folder = mkdtemp(pattern.data());
  JournalOf of{sweep_words(), "0123456789abcdef", 4, {}, "point,a"};
  std::vector<fs::path> files;
  for (std::uint64_t index = 1; index <= 2; ++index) {
    of.shard = {index, 2};
    files.push_back(folder / std::to_string(index));
    Journal part = Journal::open(files.back(), of, false);
    for (std::uint64_t point = index - 1; point < 4; point += 2)
      part.add(point, PointRows{std::to_string(point) + "\n", "{}\n"});
  }
  EXPECT_EQ(read_parts(files).size(), 2);
  write_result_files(read_parts({files[1], files[0]}), result_files(folder / "all.csv", {}));
  EXPECT_EQ(text(folder / "all.csv"), "point,a\n0\n1\n2\n3\n");
  EXPECT_EQ(text(folder / "all.jsonl"), "{}\n{}\n{}\n{}\n");

  EXPECT_THROW(read_parts({files[0]}), InputError);
  EXPECT_THROW(read_parts({files[0], files[1], files[1]}), InputError);
  of.identity = "fedcba9876543210";
  files.push_back(folder / "3");
  { Journal::open(files.back(), of, false).add(1, PointRows{"1\n", "{}\n"}); }
  EXPECT_THROW(read_parts(files), InputError);
  EXPECT_THROW(read_parts({folder / "none"}), InputError);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace slmsim::result_test
