#include "sim/crew/journal.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "sim/base/error.h"

namespace slmsim::journal_test {
namespace {

namespace fs = std::filesystem;

// An answer of two texts.
struct Rows {
  std::string csv, json;
};
Texts to_texts(const Rows& rows) { return {rows.csv, rows.json}; }
void from_texts(const Texts& texts, Rows& rows) { rows = {texts.first, texts.second}; }

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
  JournalOf of_{{"sweep", "--output", "its file"}, "0123456789abcdef", 4, {}, "point,a"};
};

TEST_F(JournalTest, KeepsRowsAndCanBeReadAgain) {
  {
    Journal journal = open();
    journal.add(2, Rows{"2,b\n", "{}\n"});
    journal.add(0, Rows{"0,a\n0,c\n", "{}\n{}\n"});
  }
  const Journal journal = open();
  EXPECT_EQ(journal.count(), 2);
  EXPECT_TRUE(journal.holds(0) && journal.holds(2));
  EXPECT_FALSE(journal.holds(1) || journal.holds(3));
  EXPECT_EQ(journal.answer<Rows>(0).csv, "0,a\n0,c\n");
  EXPECT_EQ(journal.answer<Rows>(2).json, "{}\n");
}

// Wherever the file ends, and whatever its last byte became: what was whole stays, and adding the rest gives the same.
TEST_F(JournalTest, SurvivesACutAtAnyByte) {
  {
    Journal journal = open();
    for (std::uint64_t point = 0; point < 4; ++point) journal.add(point, Rows{std::to_string(point) + ",x\n", "{}\n"});
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
      if (!journal.holds(point)) journal.add(point, Rows{std::to_string(point) + ",x\n", "{}\n"});
    }
    EXPECT_EQ(text(file()), whole) << length;
  }
  EXPECT_EQ(before, 4);
}

TEST_F(JournalTest, CutsOffADamagedRecord) {
  {
    Journal journal = open();
    journal.add(0, Rows{"0,x\n", "{}\n"});
    journal.add(1, Rows{"1,x\n", "{}\n"});
  }
  std::string damaged = text(file());
  damaged[damaged.rfind('x')] = 'y';
  write(file(), damaged);
  const Journal journal = open();
  EXPECT_TRUE(journal.holds(0));
  EXPECT_FALSE(journal.holds(1));
}

TEST_F(JournalTest, CutsOffARecordWhoseNumberIsAnother) {
  {
    Journal journal = open();
    journal.add(0, Rows{"0,x\n", "{}\n"});
    journal.add(1, Rows{"1,x\n", "{}\n"});
  }
  std::string damaged = text(file());
  const std::size_t head = damaged.rfind("\n1 ") + 1;  // one bit: 1 becomes 3
  damaged[head] = '3';
  write(file(), damaged);
  const Journal journal = open();
  EXPECT_EQ(journal.count(), 1);
  EXPECT_FALSE(journal.holds(3));
}

TEST_F(JournalTest, BeginsAnewOverNoOtherFile) {
  for (const std::string content :
       {"my diary\n", "slmsim-sweep-diary-1 of a long life, line after line after line\n"}) {
    write(file(), content);
    EXPECT_THROW(open(true), InputError);
    EXPECT_EQ(text(file()), content);
  }
}

TEST_F(JournalTest, RefusesWhatIsOfAnotherSweep) {
  { open().add(0, Rows{"0,x\n", "{}\n"}); }
  const std::string before = text(file());
  of_.identity = "fedcba9876543210";
  try {
    open();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.errors().front().text,
                testing::StartsWith("this is the journal of another sweep: its file or the version of slmsim"));
  }
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

}  // namespace
}  // namespace slmsim::journal_test
