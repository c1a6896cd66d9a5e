#include "sim/base/yaml.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/errors_of.h"

namespace slmsim::yaml_test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using Kind = Node::Kind;

auto errors_in(const std::string& text) {
  return errors_of([&] { parse_yaml(text, "run.yaml"); });
}

TEST(Yaml, KeepsMapsListsAndValuesInTheOrderOfTheFile) {
  const Node root = parse_yaml("b: [1, two]\na:\n  x: y\n", "run.yaml");
  ASSERT_EQ(root.kind, Kind::kMap);
  ASSERT_EQ(root.entries.size(), 2);
  EXPECT_EQ(root.entries[0].key, "b");
  EXPECT_EQ(root.entries[1].key, "a");
  ASSERT_EQ(root.find("b")->kind, Kind::kSequence);
  EXPECT_EQ(root.find("b")->items[1].scalar, "two");
  EXPECT_EQ(root.find("a")->find("x")->scalar, "y");
  EXPECT_EQ(root.find("c"), nullptr);
}

TEST(Yaml, ReadsJson) {
  const Node root = parse_yaml("{\"n\": [1, {\"b\": \"x\"}], \"t\": true}", "config.json");
  EXPECT_EQ(root.find("n")->items[1].find("b")->scalar, "x");
  EXPECT_EQ(root.find("t")->scalar, "true");
}

TEST(Yaml, KnowsLineAndColumnOfKeysAndValues) {
  const Node root = parse_yaml("name: run\nlinks:\n  wan:\n    rtt: 103 ms\n    ends: [gat, amst]\n", "run.yaml");
  const Node& wan = *root.find("links")->find("wan");
  EXPECT_EQ(wan.entries[0].place.line, 4);
  EXPECT_EQ(wan.entries[0].place.column, 5);  // after 4 blanks
  EXPECT_EQ(wan.find("rtt")->place.line, 4);
  EXPECT_EQ(wan.find("rtt")->place.column, 10);  // after "    rtt: "
  const Node& amst = wan.find("ends")->items[1];
  EXPECT_EQ(amst.place.line, 5);
  EXPECT_EQ(amst.place.column, 17);  // after "    ends: [gat, "
  EXPECT_EQ(amst.place.source->name, "run.yaml");
}

TEST(Yaml, TellsNothingFromAQuotedOrEmptyText) {
  const Node root = parse_yaml("a:\nb: ~\nc: null\nd: 'null'\ne: \"~\"\nf: ''\ng: nullable\n", "run.yaml");
  for (const char* key : {"a", "b", "c"}) EXPECT_EQ(root.find(key)->kind, Kind::kNull) << key;
  for (const char* key : {"d", "e", "f", "g"}) EXPECT_EQ(root.find(key)->kind, Kind::kScalar) << key;
  EXPECT_EQ(root.find("d")->scalar, "null");
}

TEST(Yaml, NamesItsKinds) {
  EXPECT_EQ(kind_name(Kind::kMap), "a map");
  EXPECT_EQ(kind_name(Kind::kSequence), "a list");
  EXPECT_EQ(kind_name(Kind::kScalar), "a single value");
  EXPECT_EQ(kind_name(Kind::kNull), "nothing");
}

TEST(Yaml, RefusesADuplicateKeyAndSaysWhereTheFirstStands) {
  EXPECT_THAT(errors_in("batch: 8\nname: run\nbatch: 9\n"),
              ElementsAre("run.yaml:3:1: error: duplicate key \"batch\"; the first one is in line 1"));
}

TEST(Yaml, ReportsEveryDuplicateKeyAtOnce) {
  EXPECT_THAT(errors_in("a: {x: 1, x: 2}\nb: 1\nb: 2\n"),
              ElementsAre("run.yaml:1:11: error: duplicate key \"x\"; the first one is in line 1",
                          "run.yaml:3:1: error: duplicate key \"b\"; the first one is in line 2"));
}

TEST(Yaml, AllowsOneKeyInTwoMaps) { EXPECT_THAT(errors_in("a: {x: 1}\nb: {x: 1}\n"), ElementsAre()); }

TEST(Yaml, RefusesMergeKeysAndNamesTheAlternative) {
  EXPECT_THAT(
      errors_in("a: &a {x: 1}\nb:\n  <<: *a\n"),
      ElementsAre(
          "run.yaml:3:3: error: merge keys (<<) are not supported; use \"extends: FILE\" to build on another file"));
}

TEST(Yaml, RefusesKeysThatAreNoPlainNames) {
  EXPECT_THAT(errors_in("? [a, b]\n: 1\n"),
              ElementsAre("run.yaml:1:3: error: not valid YAML: a map or list used as a key; keys are plain names"));
  EXPECT_THAT(errors_in("~: 1\n"), ElementsAre("run.yaml:1:1: error: a key that is not a plain name"));
}

TEST(Yaml, RefusesAnEmptyFile) {
  for (const char* text : {"", "\n\n", "# only a comment\n"}) {
    EXPECT_THAT(errors_in(text), ElementsAre("run.yaml:1:1: error: the file is empty; a YAML map is expected")) << text;
  }
}

TEST(Yaml, RefusesASecondDocument) {
  EXPECT_THAT(errors_in("a: 1\n---\nb: 2\n"),
              ElementsAre("run.yaml:3:1: error: a second YAML document; one file holds one document"));
}

TEST(Yaml, RefusesWhatFollowsABracket) {
  const std::string what = "error: not valid YAML: nothing may follow a ]; a list repeats its items: [a, a]";
  EXPECT_THAT(errors_in("gpus: [rtx4090]x2\nsite: here\n"), ElementsAre("run.yaml:1:16: " + what));
  EXPECT_THAT(errors_in("[rtx4090]x2\n"), ElementsAre("run.yaml:1:10: " + what));
}

TEST(Yaml, SaysWhereABracketOrQuoteOfJsonLacksItsPartner) {
  const std::string end = " is not closed before here";
  for (const auto& [text, error] :
       {std::pair{"{\n \"a\": 1,\n \"b\": [2]\n", "3:10: error: not valid YAML: the { of line 1" + end},
        {"{\"a\": {\"b\": \"}\\\"\"}", "1:19: error: not valid YAML: the { of line 1" + end},
        {"{\n\"a\": [1, 2\n}", "3:1: error: not valid YAML: the [ of line 2" + end},
        {"[[1, 2}]", "1:7: error: not valid YAML: the [ of line 1" + end},
        {"{\"a\": \"b,\n \"c\": 1}", "1:7: error: not valid YAML: a quote that is never closed"}})
    EXPECT_THAT(errors_in(text), ElementsAre("run.yaml:" + std::string(error))) << text;
}

TEST(Yaml, AllowsTheMarksAroundOneDocument) { EXPECT_THAT(errors_in("---\na: 1\n...\n"), ElementsAre()); }

TEST(Yaml, SaysWhereTheSyntaxIsWrong) {
  EXPECT_THAT(errors_in("a: [1, 2\n"), ElementsAre(StartsWith("run.yaml:2:1: error: not valid YAML: ")));
  EXPECT_THAT(errors_in("a: 1\nb: *nobody\n"), ElementsAre(StartsWith("run.yaml:2:4: error: not valid YAML: ")));
}

TEST(Yaml, SaysWhatIsWrongInTheAuthorsWords) {
  EXPECT_THAT(errors_in("a:\n  b: 1\n   c: 2\n"),
              ElementsAre(HasSubstr("is this line indented as its neighbours are")));
  EXPECT_THAT(errors_in("a: 1  # one\nb:[2]  # two\nc: 3\n"), ElementsAre(HasSubstr("with a space after the colon?")));
  EXPECT_THAT(errors_in("a: [1, 2\nb: 3\n"), ElementsAre(HasSubstr("a [ here or in a line above is not closed")));
  EXPECT_THAT(errors_in("a: b: c\n"), ElementsAre(HasSubstr("? a text with \": \" needs quotes")));
}

TEST(Yaml, SaysThatATabIndents) {
  EXPECT_THAT(errors_in("a: 1\ntraining:\n\tbatch: 8\n"),
              ElementsAre("run.yaml:3:1: error: a tab in the indentation; YAML allows only spaces there"));
}

TEST(Yaml, RefusesBytesThatAreNoText) {
  const std::string says = ": error: not a text file; a YAML file in UTF-8 is expected";
  EXPECT_THAT(errors_in("a: 1\nb: \x01\n"), ElementsAre("run.yaml:2:4" + says));
  EXPECT_THAT(errors_in(std::string("a\0b", 3)), ElementsAre("run.yaml:1:2" + says));
  EXPECT_THAT(errors_in("a: \xff\n"), ElementsAre("run.yaml:1:4" + says));
  EXPECT_THAT(errors_in("a: \xc3"), ElementsAre("run.yaml:1:4" + says));  // half of a two-byte letter
}

TEST(Yaml, ReadsUtf8) { EXPECT_EQ(parse_yaml("a: Zürich\n", "run.yaml").find("a")->scalar, "Zürich"); }

TEST(Yaml, PointsAtTheRightLetterBehindOnesOfTwoBytes) {
  try {
    parse_yaml("{ü: 1, ü: 2}", "run.yaml");
    FAIL() << "a duplicate key was taken";
  } catch (const InputError& thrown) {
    const std::string text = to_string(thrown.errors().front());
    EXPECT_THAT(text, EndsWith("\n         ^"));  // 2 blanks of margin; the second ü is the 8th letter
  }
}

TEST(Yaml, ReadsAFileUnderItsPath) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + "_slmsim_read.yaml";
  std::ofstream(path) << "a: 1\na: 2\n";
  EXPECT_THAT(errors_of([&] { read_yaml(path); }),
              ElementsAre(path + ":2:1: error: duplicate key \"a\"; the first one is in line 1"));
  std::filesystem::remove(path);
}

TEST(Yaml, RefusesWhatIsNoFile) {
  EXPECT_THAT(errors_of([] { read_yaml("/nowhere/run.yaml"); }), ElementsAre("/nowhere/run.yaml: error: no such file"));
  EXPECT_THAT(errors_of([] { read_yaml(testing::TempDir()); }),
              ElementsAre(EndsWith("this is a folder; name a file in it")));
  EXPECT_THAT(errors_of([] { read_yaml("/dev/zero"); }), ElementsAre("/dev/zero: error: not a regular file"));
}

TEST(Yaml, NamesTheFileThatWasMeant) {
  const std::string folder = testing::TempDir() + "/meant";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/mine.yaml") << "a: 1\n";
  EXPECT_THAT(errors_of([&] { read_yaml(folder + "/mine.yml"); }),
              ElementsAre(EndsWith("no such file; did you mean \"" + folder + "/mine.yaml\"?")));
  EXPECT_THAT(errors_of([&] { read_yaml(folder + "/other.yaml"); }), ElementsAre(EndsWith("no such file")));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace slmsim::yaml_test
