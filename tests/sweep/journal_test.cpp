#include "sim/sweep/journal.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "sim/sweep/result.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
 protected:
  JournalTest() {
    std::string pattern = testing::TempDir() + "slmsim-journal-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~JournalTest() override { fs::remove_all(folder_); }

  fs::path file() const { return folder_ / "x.journal"; }
  Journal open(bool restart = false) const { return Journal::open(file(), of_, restart); }
  static std::string text(const fs::path& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

  fs::path folder_;
  JournalOf of_{"0123456789abcdef", 4, {}, "point,a"};
};

TEST_F(JournalTest, KeepsRowsAndCanBeReadAgain) {
  {
    Journal journal = open();
    journal.add(2, {"2,b\n", "{}\n"});
    journal.add(0, {"0,a\n0,c\n", "{}\n{}\n"});
  }
  const Journal journal = open();
  EXPECT_EQ(journal.count(), 2);
  EXPECT_TRUE(journal.holds(0) && journal.holds(2));
  EXPECT_FALSE(journal.holds(1) || journal.holds(3));
  EXPECT_EQ(journal.rows(0).csv, "0,a\n0,c\n");
  EXPECT_EQ(journal.rows(2).json, "{}\n");
}

// Wherever the file ends, and whatever its last byte became: what was whole stays, and adding the rest gives the same.
TEST_F(JournalTest, SurvivesACutAtAnyByte) {
  {
    Journal journal = open();
    for (std::uint64_t point = 0; point < 4; ++point) journal.add(point, {std::to_string(point) + ",x\n", "{}\n"});
  }
  const std::string whole = text(file());
  std::uint64_t before = 0;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    std::string cut = whole.substr(0, length);
    write(file(), cut);
    Journal journal = open();
    EXPECT_GE(journal.count(), before) << length;
    before = journal.count();
    for (std::uint64_t point = 0; point < 4; ++point) {
      if (!journal.holds(point)) journal.add(point, {std::to_string(point) + ",x\n", "{}\n"});
    }
    EXPECT_EQ(text(file()), whole) << length;
  }
  EXPECT_EQ(before, 4);
}

TEST_F(JournalTest, CutsOffADamagedRecord) {
  {
    Journal journal = open();
    journal.add(0, {"0,x\n", "{}\n"});
    journal.add(1, {"1,x\n", "{}\n"});
  }
  std::string damaged = text(file());
  damaged[damaged.rfind('x')] = 'y';
  write(file(), damaged);
  const Journal journal = open();
  EXPECT_TRUE(journal.holds(0));
  EXPECT_FALSE(journal.holds(1));
}

TEST_F(JournalTest, RefusesWhatIsOfAnotherSweep) {
  { open().add(0, {"0,x\n", "{}\n"}); }
  const std::string before = text(file());
  of_.identity = "fedcba9876543210";
  EXPECT_THROW(open(), InputError);
  EXPECT_EQ(text(file()), before);
  EXPECT_EQ(open(true).count(), 0);
}

TEST_F(JournalTest, RefusesAFileThatIsNoJournal) {
  for (const std::string content : {"a", "precious\ntext\n",
                                    "a longer text than the first lines of a journal would be, "
                                    "which somebody may still need; do not touch it\n"}) {
    write(file(), content);
    EXPECT_THROW(open(), InputError);
    EXPECT_EQ(text(file()), content);
  }
}

TEST_F(JournalTest, IsOpenInOneProgramOnly) {
  const Journal first = open();
  EXPECT_THROW(open(), InputError);
}

TEST_F(JournalTest, PartsMustBeOfOneSweepCompleteAndOnce) {
  std::vector<fs::path> files;
  for (std::uint64_t index = 1; index <= 2; ++index) {
    of_.shard = {index, 2};
    files.push_back(folder_ / std::to_string(index));
    Journal part = Journal::open(files.back(), of_, false);
    for (std::uint64_t point = index - 1; point < 4; point += 2)
      part.add(point, {std::to_string(point) + "\n", "{}\n"});
  }
  EXPECT_EQ(read_parts(files).size(), 2);
  write_result_files(read_parts({files[1], files[0]}), result_files(folder_ / "all.csv", {}));
  EXPECT_EQ(text(folder_ / "all.csv"), "point,a\n0\n1\n2\n3\n");
  EXPECT_EQ(text(folder_ / "all.jsonl"), "{}\n{}\n{}\n{}\n");

  EXPECT_THROW(read_parts({files[0]}), InputError);
  EXPECT_THROW(read_parts({files[0], files[1], files[1]}), InputError);
  of_.identity = "fedcba9876543210";
  files.push_back(folder_ / "3");
  { Journal::open(files.back(), of_, false).add(1, {"1\n", "{}\n"}); }
  EXPECT_THROW(read_parts(files), InputError);
  EXPECT_THROW(read_parts({folder_ / "none"}), InputError);
}

}  // namespace
}  // namespace slmsim
