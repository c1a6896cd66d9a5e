#include "sim/base/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slmsim::describe_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = ValueType::Kind;

std::vector<std::string> keys_of(const Alternative& alternative) {
  std::vector<std::string> keys;
  for (const auto& record : alternative.keys) keys.push_back(record.key);
  return keys;
}

// The records of a map that has them all together.
std::vector<KeyRecord> records(const KeyTree& tree, const std::string& map = "") {
  const auto alternatives = tree.alternatives(map);
  EXPECT_EQ(alternatives.size(), 1);
  return alternatives.empty() ? std::vector<KeyRecord>{} : alternatives.front().keys;
}

TEST(Describe, TellsRangeDefaultAndMeaningOfAKey) {
  const auto keys = records(describe([](const Node& node, Reading& reading) {
    Fields f(node, "", reading);
    f.quantity<Seconds>({"rtt", "Round trip."}, {{1e-3}, {10.0}}, Seconds{0.1});
    f.quantity<Bytes>({"mtu", "Largest packet."}, {{576}, {65536}});
    f.integer({"batch", "Sequences."}, {1, 10});
    f.number({"half", "A part.", "rtt / 2"}, {0, 1}, 0.5);
    f.flag({"idle", "Whether."}, true);
    f.choice({"mode", "Which."}, {"1f1b", "gpipe"}, 1);
    f.done();
  }));
  ASSERT_EQ(keys.size(), 6);
  EXPECT_EQ(keys[0].key, "rtt");
  EXPECT_EQ(keys[0].about, "Round trip.");
  EXPECT_EQ(keys[0].types.front().kind, Kind::kQuantity);
  EXPECT_EQ(keys[0].types.front().dimension, Dimension::kTime);
  EXPECT_EQ(keys[0].types.front().low, 1e-3);
  EXPECT_EQ(keys[0].types.front().high, 10.0);
  EXPECT_EQ(keys[0].fallback, "0.1 s");
  EXPECT_FALSE(keys[0].required);
  EXPECT_TRUE(keys[1].required);
  EXPECT_TRUE(keys[2].required);
  // The meaning of absence depends on another key: no constant is recorded, and the key may be absent.
  EXPECT_EQ(keys[3].fallback, "");
  EXPECT_EQ(keys[3].otherwise, "rtt / 2");
  EXPECT_FALSE(keys[3].required);
  EXPECT_EQ(keys[4].fallback, "yes");
  EXPECT_THAT(keys[5].types.front().choices, ElementsAre("1f1b", "gpipe"));
  EXPECT_EQ(keys[5].fallback, "gpipe");
}

TEST(Describe, ReadsOncePerOptionOfAMapAndNotPerCombinationOfMaps) {
  int runs = 0;
  const KeyTree tree = describe([&](const Node& node, Reading& reading) {
    ++runs;
    Fields f(node, "", reading);
    for (const char* name : {"a", "b", "c"}) {
      f.each({name, "Maps."}, true, [](const Entry&, Fields& own) {
        own.flag(own.forking_choice({"mode", "Which."}, {"x", "y", "z"}) == 0 ? FileKey{"one", "One."}
                                                                              : FileKey{"other", "Other."},
                 true);
      });
    }
    f.done();
  });
  EXPECT_EQ(runs, 7);  // 1 + 3 maps x 2 further options, not 3 x 3 x 3
  for (const char* map : {"a.NAME", "b.NAME", "c.NAME"}) {
    const auto alternatives = tree.alternatives(map);
    ASSERT_EQ(alternatives.size(), 2) << map;
    EXPECT_THAT(keys_of(alternatives.front()), ElementsAre("mode", "one"));
    EXPECT_THAT(keys_of(alternatives.back()), ElementsAre("mode", "other"));
  }
}

TEST(Describe, EntersMapsNamesAndLists) {
  const KeyTree tree = describe([](const Node& node, Reading& reading) {
    Fields f(node, "", reading);
    f.each({"sites", "Places."}, true, [](const Entry&, Fields& site) {
      site.integer({"racks", "How many."}, {1, 9});
    });
    const auto items = f.list({"steps", "In turn."}, {ValueType::map()});
    Fields step(*items.front(), "steps.0", reading);
    step.name({"what", "To do."});
    if (f.has("depth")) f.integer({"depth", "How deep.", "none"}, {1, 2});
  });
  EXPECT_THAT(keys_of(tree.alternatives("").front()), ElementsAre("sites", "steps", "depth"));
  EXPECT_FALSE(tree.alternatives("").front().closed);  // nobody called done()
  EXPECT_EQ(records(tree, "sites").front().key, kAnyName);
  EXPECT_EQ(records(tree, "sites.NAME").front().key, "racks");
  EXPECT_TRUE(tree.alternatives("sites.NAME").front().closed);
  const auto root = records(tree);
  EXPECT_EQ(records(tree, inner_path(root[1], root[1].types.front())).front().key, "what");
}

// Two families, and a second form of the file: 1 + 2 ways, of which two have the same keys.
TEST(Describe, FollowsEveryWayThroughForks) {
  const KeyTree tree = describe([](const Node& node, Reading& reading) {
    Fields f(node, "", reading);
    if (f.forks_on("foreign")) {
      f.text({"foreign", "The other form."}, "");
    } else if (f.forking_choice({"kind", "Which."}, {"switch", "memory", "nic"}) == 1) {
      f.integer({"capacity", "How much."}, {1, 2});
    }
    f.done();
  });
  const auto ways = tree.alternatives("");
  ASSERT_EQ(ways.size(), 3);
  EXPECT_THAT(keys_of(ways[0]), ElementsAre("foreign"));
  EXPECT_EQ(ways[0].when, "with foreign");
  EXPECT_THAT(keys_of(ways[1]), ElementsAre("kind"));
  EXPECT_THAT(ways[1].keys[0].types[0].choices, ElementsAre("switch", "nic"));
  EXPECT_EQ(ways[1].when, "kind: switch, nic");
  EXPECT_THAT(keys_of(ways[2]), ElementsAre("kind", "capacity"));
  EXPECT_THAT(ways[2].keys[0].types[0].choices, ElementsAre("memory"));
}

TEST(Describe, JoinsWhatAKeyMayBeInTwoWays) {
  const auto keys = records(describe([](const Node& node, Reading& reading) {
    Fields f(node, "", reading);
    const FileKey stages{"stages", "How many, or auto."};
    f.child(stages, ValueType::choice({"auto"}));
    f.integer(stages, {2, 8});
  }));
  ASSERT_EQ(keys.size(), 1);
  ASSERT_EQ(keys[0].types.size(), 2);
  EXPECT_EQ(keys[0].types[0].kind, Kind::kChoice);
  EXPECT_EQ(keys[0].types[1].kind, Kind::kInteger);
}

TEST(Describe, NotesNoErrorsAndNoValues) {
  Description run;
  Reading reading;
  reading.description = &run;
  const Node& sample = *run.sample_of(ValueType::map());
  Fields f(sample, "", reading);
  f.integer({"batch", "Sequences."}, {1, 10});
  f.child({"tcp", "Settings."}, true);
  f.error("tcp", "wrong");
  f.done();
  EXPECT_THAT(reading.errors, IsEmpty());
  EXPECT_THAT(reading.parameters, IsEmpty());
}

TEST(Describe, WritesQuantitiesInTheUnitThatIsShortest) {
  EXPECT_EQ(exact_text(1500, Dimension::kData), "1500 B");
  EXPECT_EQ(exact_text(25 * kMebi, Dimension::kData), "25 MiB");
  EXPECT_EQ(exact_text(5e-6, Dimension::kTime), "5 us");
  EXPECT_EQ(exact_text(86400, Dimension::kTime), "1 d");
  EXPECT_EQ(exact_text(0, Dimension::kTime), "0 s");
  EXPECT_EQ(exact_text(125, Dimension::kDataRate), "1 kbps");
}

}  // namespace
}  // namespace slmsim::describe_test
