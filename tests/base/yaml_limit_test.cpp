// Aliases, the limits that keep hostile files small, and merging.
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/yaml.h"
#include "tests/errors_of.h"

namespace slmsim::yaml_limit_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

auto errors_in(const std::string& text) {
  return errors_of([&] { parse_yaml(text, "run.yaml"); });
}

std::string lists(std::size_t depth) {
  std::string text(depth, '[');
  return text.append(depth, ']');
}

TEST(Yaml, PutsACopyWhereAnAliasStands) {
  const Node root = parse_yaml("a: &one {x: [1, 2]}\nb: *one\nc: [*one, 3]\n", "run.yaml");
  EXPECT_EQ(root.find("b")->find("x")->items[1].scalar, "2");
  EXPECT_EQ(root.find("c")->items[0].find("x")->items[0].scalar, "1");
}

TEST(Yaml, RefusesAValueThatContainsItself) {
  EXPECT_THAT(errors_in("a: &a [1, *a]\n"),
              ElementsAre("run.yaml:1:11: error: an alias inside its own anchor; a value cannot contain itself"));
}

TEST(Yaml, StopsWhenAliasesMultiply) {
  // Every line has ten times the values of the line before: line 5 would have more than 10^5.
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    text +=
        fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  }
  const auto errors = errors_in(text);
  ASSERT_EQ(errors.size(), 1);
  EXPECT_THAT(errors[0], StartsWith("run.yaml:5:"));
  EXPECT_THAT(errors[0], HasSubstr("more than 100000 values, aliases included"));
}

TEST(Yaml, StopsAtTooManyValues) {
  std::string text = "[";
  for (std::size_t i = 0; i < kMaxNodes; ++i) text += "1,";  // and the list itself is one more
  EXPECT_THAT(errors_in(text + "]"), ElementsAre(HasSubstr("more than 100000 values")));
}

TEST(Yaml, ReadsNestingUpToTheLimitOnly) {
  EXPECT_THAT(errors_in(lists(kMaxDepth)), ElementsAre());
  EXPECT_THAT(errors_in(lists(kMaxDepth + 1)),
              ElementsAre("run.yaml:1:49: error: nested deeper than 48 levels; such a file is not a scenario"));
}

TEST(Yaml, StopsAtAThousandfoldNesting) {
  EXPECT_THAT(errors_in(lists(100'000)), ElementsAre(HasSubstr("nested deeper than 48 levels")));
}

TEST(Yaml, CountsTheNestingOfAliasesToo) {
  // 40 levels around a copy of 40 levels are 80.
  std::string text = "a: &a " + lists(40) + "\nb: " + lists(40) + "\n";
  text.insert(text.rfind("[]") + 1, "*a");
  EXPECT_THAT(errors_in(text), ElementsAre(HasSubstr("nested deeper than 48 levels")));
}

TEST(Yaml, DoesNotReadAHugeFile) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + "_slmsim_huge.yaml";
  std::ofstream(path) << std::string(kMaxFileBytes + 1, '#');
  EXPECT_THAT(errors_of([&] { read_yaml(path); }),
              ElementsAre(path + ": error: the file has 1048577 bytes; at most 1048576 are read"));
  std::filesystem::remove(path);
}

TEST(Merge, LaysMapsUponEachOtherKeyByKey) {
  Node base = parse_yaml("link: {rtt: 10 ms, loss: 0}\nname: base\n", "base.yaml");
  merge(base, parse_yaml("link: {rtt: 20 ms, mtu: 9 kB}\nbatch: 8\n", "over.yaml"));
  EXPECT_EQ(base.find("link")->find("rtt")->scalar, "20 ms");
  EXPECT_EQ(base.find("link")->find("loss")->scalar, "0");
  EXPECT_EQ(base.find("link")->find("mtu")->scalar, "9 kB");
  EXPECT_EQ(base.find("name")->scalar, "base");
  EXPECT_EQ(base.find("batch")->scalar, "8");
}

TEST(Merge, ReplacesListsAndValuesWhole) {
  Node base = parse_yaml("list: [1, 2, 3]\nvalue: 1\nmap: {x: 1}\n", "base.yaml");
  merge(base, parse_yaml("list: [9]\nvalue: {y: 2}\nmap: none\n", "over.yaml"));
  ASSERT_EQ(base.find("list")->items.size(), 1);
  EXPECT_EQ(base.find("list")->items[0].scalar, "9");
  EXPECT_EQ(base.find("value")->find("y")->scalar, "2");
  EXPECT_EQ(base.find("map")->scalar, "none");
}

TEST(Merge, KeepsThePlacesOfTheWinners) {
  Node base = parse_yaml("a: 1\nb: 2\n", "base.yaml");
  merge(base, parse_yaml("\n\nb: 3\n", "over.yaml"));
  EXPECT_EQ(base.find("a")->place.source->name, "base.yaml");
  EXPECT_EQ(base.find("b")->place.source->name, "over.yaml");
  EXPECT_EQ(base.find("b")->place.line, 3);
}

}  // namespace
}  // namespace slmsim::yaml_limit_test
