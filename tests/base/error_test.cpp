#include "sim/base/error.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace slmsim::error_test {
namespace {

Place place_in(const std::string& text, int line, int column) {
  return {std::make_shared<const Source>(Source{"run.yaml", text}), line, column};
}

TEST(Error, ShowsFileLineColumnAndACaretUnderThePlace) {
  const Error error{place_in("name: run\nbatch: lots\n", 2, 8), "not a number; expected one"};
  EXPECT_EQ(to_string(error),
            "run.yaml:2:8: error: not a number; expected one\n"
            "  batch: lots\n"
            "         ^");  // 2 blanks of margin, then column 8
}

TEST(Error, PutsTheCaretUnderTheFirstColumn) {
  EXPECT_EQ(to_string({place_in("batch: 1", 1, 1), "wrong"}),
            "run.yaml:1:1: error: wrong\n"
            "  batch: 1\n"
            "  ^");
}

TEST(Error, MayPointJustBehindTheLine) {
  EXPECT_EQ(to_string({place_in("batch:\n", 1, 7), "missing"}),
            "run.yaml:1:7: error: missing\n"
            "  batch:\n"
            "        ^");
}

TEST(Error, WithoutALineSpeaksOfTheWholeFile) {
  EXPECT_EQ(to_string({place_in("a: 1", 0, 0), "no such file"}), "run.yaml: error: no such file");
}

TEST(Error, WithoutASourceSpeaksForTheProgram) { EXPECT_EQ(to_string({{}, "too few"}), "slmsim: error: too few"); }

TEST(Error, LeavesOutALineItDoesNotHave) {
  EXPECT_EQ(to_string({place_in("a: 1\n", 7, 1), "gone"}), "run.yaml:7:1: error: gone");
  EXPECT_EQ(to_string({place_in("a: 1\n", 1, 99), "gone"}), "run.yaml:1:99: error: gone");
}

TEST(Error, LeavesOutALineThatIsTooLongToRead) {
  EXPECT_EQ(to_string({place_in(std::string(200, 'a'), 1, 1), "long"}), "run.yaml:1:1: error: long");
}

TEST(Error, KeepsControlCharactersFromTheTerminal) {
  // Escape begins a terminal sequence; a tab would move the caret away from its column.
  EXPECT_EQ(to_string({place_in("a:\tb\r\n", 1, 4), "bad \x1b[31m\nvalue"}),
            "run.yaml:1:4: error: bad  [31m value\n"
            "  a: b \n"
            "     ^");
}

// An anchor of YAML stands once and has several keys.
TEST(InputError, TellsOnceWhatIsWrongAtAPlaceUnderSeveralKeys) {
  const auto source = std::make_shared<Source>(Source{"a.yaml", "nic: 3\n"});
  const Place place{source, 1, 6}, other{source, 1, 1};
  const InputError error({{place, "vms.a.nic: no unit"},
                          {place, "vms.b.nic: no unit"},
                          {place, "vms.a.nic: too few"},
                          {other, "vms.b.nic: no unit"},
                          {{}, "vms.b.nic: no unit"}});
  ASSERT_EQ(error.errors().size(), 4u);
  EXPECT_EQ(error.errors()[1].text, "vms.a.nic: too few");
  // The text before the colon is not a path.
  EXPECT_EQ(InputError({{place, "DDP on a: no GPU"}, {place, "FSDP on a: no GPU"}}).errors().size(), 2u);
}

TEST(InputError, KeepsTheWholeListAndSaysTheFirst) {
  const InputError error({{{}, "first"}, {{}, "second"}});
  EXPECT_STREQ(error.what(), "first");
  ASSERT_EQ(error.errors().size(), 2);
  EXPECT_EQ(error.errors()[1].text, "second");
}

}  // namespace
}  // namespace slmsim::error_test
