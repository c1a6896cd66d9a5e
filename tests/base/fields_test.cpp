#include "sim/base/fields.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/errors_of.h"

namespace slmsim::fields_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Range<Seconds> kRttRange{{1e-3}, {10.0}};  // 1 ms to 10 s

// The meaning of a key does not matter here.
constexpr const char* kAbout = "Something.";
FileKey key(const char* name) { return {name, kAbout}; }

// A text with its fields at hand.
struct Example {
  explicit Example(const std::string& text, const std::string& path = "")
      : node(parse_yaml(text, "run.yaml")), fields(node, path, reading) {}
  Node node;
  Reading reading;
  Fields fields;
};

TEST(Fields, ReadEveryKindOfValue) {
  Example e("rtt: 50 ms\nloss: 0.25\nbatch: 8\nidle: no\nname: gat-amst\ntext: 'a b'\nmode: gpipe\n");
  EXPECT_DOUBLE_EQ(e.fields.quantity<Seconds>(key("rtt"), kRttRange).value, 0.05);
  EXPECT_EQ(e.fields.number(key("loss"), {0, 1}), 0.25);
  EXPECT_EQ(e.fields.integer(key("batch"), {1, 10}), 8);
  EXPECT_FALSE(e.fields.flag(key("idle"), true));
  EXPECT_EQ(e.fields.name(key("name")), "gat-amst");
  EXPECT_EQ(e.fields.text(key("text"), ""), "a b");
  EXPECT_EQ(e.fields.choice(key("mode"), {"1f1b", "gpipe"}), 1);
  e.fields.done();
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  EXPECT_NO_THROW(e.reading.check());
}

TEST(Fields, FallBackWhereAKeyIsAbsent) {
  Example e("{}");
  EXPECT_EQ(e.fields.quantity<Seconds>(key("rtt"), kRttRange, Seconds{2}).value, 2.0);
  EXPECT_EQ(e.fields.number(key("loss"), {0, 1}, 0.5), 0.5);
  EXPECT_EQ(e.fields.integer(key("batch"), {1, 10}, 3), 3);
  EXPECT_TRUE(e.fields.flag(key("idle"), true));
  EXPECT_EQ(e.fields.name(key("name"), "run"), "run");
  EXPECT_EQ(e.fields.choice(key("mode"), {"1f1b", "gpipe"}, 1), 1);
  EXPECT_THAT(e.fields.list(key("groups"), {ValueType::name()}), IsEmpty());
  EXPECT_EQ(e.fields.child(key("tcp")), nullptr);
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
}

TEST(Fields, MissARequiredKeyAndGoOnWithTheLowEnd) {
  Example e("a: 1\n", "platform.links.wan");
  EXPECT_EQ(e.fields.quantity<Seconds>(key("rtt"), kRttRange).value, 1e-3);
  EXPECT_THAT(errors_of(e.reading),
              ElementsAre("run.yaml:1:1: error: platform.links.wan has no \"rtt\"; it is required"));
}

TEST(Fields, AskForAMap) {
  Example e("[1, 2]", "training");
  EXPECT_THAT(errors_of(e.reading),
              ElementsAre("run.yaml:1:1: error: training is a list; a map of keys and values is expected"));
}

TEST(Fields, RefuseUnknownKeysAndAskWhatWasMeant) {
  Example e("batch: 8\nepoch: 20\nzzz: 1\n", "training");
  e.fields.integer(key("batch"), {1, 10});
  e.fields.integer(key("epochs"), {1, 100}, 1);
  e.fields.done();
  EXPECT_THAT(errors_of(e.reading),
              ElementsAre("run.yaml:2:1: error: unknown key \"epoch\" in training; did you mean \"epochs\"?",
                          "run.yaml:3:1: error: unknown key \"zzz\" in training; known are: batch, epochs"));
}

TEST(Fields, DoNotMindAnIgnoredKey) {
  Example e("n_inner: ~\n");
  e.fields.ignore(key("n_inner"));
  e.fields.done();
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
}

TEST(Fields, CheckRangesAtBothEnds) {
  Example e("least: 1 ms\nmost: 10 s\nless: 0.5 ms\nmore: 20 s\n", "wan");
  for (const char* name : {"least", "most", "less", "more"}) e.fields.quantity<Seconds>(key(name), kRttRange);
  EXPECT_THAT(errors_of(e.reading),
              ElementsAre("run.yaml:3:7: error: wan.less: \"0.5 ms\" is out of range; expected 1 ms to 10 s",
                          "run.yaml:4:7: error: wan.more: \"20 s\" is out of range; expected 1 ms to 10 s"));
}

TEST(Fields, SayWhatIsWrongWithANumber) {
  Example e("a: 2\nb: many\nc: 2.5\nd: 11\n");
  e.fields.number(key("a"), {0, 1});
  e.fields.number(key("b"), {0, 1});
  e.fields.integer(key("c"), {1, 10});
  e.fields.integer(key("d"), {1, 10});
  EXPECT_THAT(errors_of(e.reading),
              ElementsAre("run.yaml:1:4: error: a: \"2\" is out of range; expected a number from 0 to 1",
                          "run.yaml:2:4: error: b: \"many\" is not a number; expected a number from 0 to 1",
                          "run.yaml:3:4: error: c: \"2.5\" is not a whole number; expected a whole number from 1 to 10",
                          "run.yaml:4:4: error: d: \"11\" is out of range; expected a whole number from 1 to 10"));
}

TEST(Fields, NameThePathInAQuantitysError) {
  Example e("rtt: 103\n", "platform.links.wan");
  e.fields.quantity<Seconds>(key("rtt"), kRttRange);
  EXPECT_THAT(errors_of(e.reading),
              ElementsAre("run.yaml:1:6: error: platform.links.wan.rtt: \"103\" has no unit; expected a time such "
                          "as \"103 ms\" (ns, us, ms, s, min, h, d)"));
}

TEST(Fields, RefuseAKeyWithoutAValue) {
  Example e("batch:\nrtt: [1 s]\n");
  e.fields.integer(key("batch"), {1, 10}, 5);
  e.fields.quantity<Seconds>(key("rtt"), kRttRange, Seconds{1});
  const auto errors = errors_of(e.reading);
  ASSERT_EQ(errors.size(), 2);
  EXPECT_THAT(errors[0], testing::EndsWith("batch is nothing; a single value is expected"));
  EXPECT_EQ(errors[1], "run.yaml:2:6: error: rtt is a list; a single value is expected");
}

TEST(Fields, OfferTheNearestChoice) {
  Example e("mode: gpip\n", "techniques.Pipeshard");
  e.fields.choice(key("mode"), {"1f1b", "gpipe"});
  EXPECT_THAT(errors_of(e.reading), ElementsAre("run.yaml:1:7: error: techniques.Pipeshard.mode: unknown value "
                                                "\"gpip\"; did you mean \"gpipe\"?"));
}

TEST(Fields, TakeOneValueForAListOfOne) {
  Example e("one: gat\ntwo: [gat, amst]\nnone: []\nmap: {a: 1}\n");
  EXPECT_EQ(e.fields.list(key("one"), {ValueType::name()}).size(), 1);
  EXPECT_EQ(e.fields.list(key("two"), {ValueType::name()})[1]->scalar, "amst");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  e.fields.list(key("none"), {ValueType::name()});
  e.fields.list(key("map"), {ValueType::name()});
  EXPECT_THAT(errors_of(e.reading), ElementsAre("run.yaml:3:7: error: none is empty; list at least one",
                                                "run.yaml:4:6: error: map is a map; a list is expected"));
}

TEST(Fields, RefuseNamesThatCouldBePathsOrEscapes) {
  EXPECT_TRUE(is_name("gat-amst_2.v1"));
  EXPECT_TRUE(is_name(std::string(64, 'a')));
  for (const char* text : {"", ".", "..", ".hidden", "a/b", "a b", "ä", "a\n"}) EXPECT_FALSE(is_name(text)) << text;
  EXPECT_FALSE(is_name(std::string(65, 'a')));
  Example e("name: ../x\n");
  e.fields.name(key("name"));
  EXPECT_THAT(
      errors_of(e.reading),
      ElementsAre(
          "run.yaml:1:7: error: name: \"../x\" is not a name; use letters, digits, '-', '_' and '.', at most 64"));
}

TEST(Provenance, MayStandBesideAValue) {
  Example e("rtt: {value: 103 ms, provenance: measured, source: 'ping, Table I'}\n", "platform.links.wan");
  EXPECT_DOUBLE_EQ(e.fields.quantity<Seconds>(key("rtt"), kRttRange).value, 0.103);
  e.fields.done();
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  ASSERT_EQ(e.reading.parameters.size(), 1);
  const Parameter& rtt = e.reading.parameters[0];
  EXPECT_EQ(rtt.path, "platform.links.wan.rtt");
  EXPECT_EQ(rtt.value, "103 ms");
  EXPECT_EQ(rtt.provenance, Provenance::kMeasured);
  EXPECT_EQ(rtt.source, "ping, Table I");
}

TEST(Provenance, IsKnownInFourKinds) {
  Example e(
      "a: {value: 1, provenance: datasheet, source: x}\nb: {value: 1, provenance: measured, source: x}\n"
      "c: {value: 1, provenance: inferred, source: x}\nd: {value: 1, provenance: typical, source: x}\n");
  for (const char* name : {"a", "b", "c", "d"}) e.fields.integer(key(name), {1, 1});
  std::vector<Provenance> kinds;
  for (const auto& parameter : e.reading.parameters) kinds.push_back(parameter.provenance);
  EXPECT_THAT(kinds,
              ElementsAre(Provenance::kDatasheet, Provenance::kMeasured, Provenance::kInferred, Provenance::kTypical));
}

TEST(Provenance, IsNotNotedForPlainValues) {
  Example e("rtt: 103 ms\n");
  e.fields.quantity<Seconds>(key("rtt"), kRttRange);
  EXPECT_THAT(e.reading.parameters, IsEmpty());
}

TEST(Provenance, NeedsAValueAKindAndASource) {
  Example e("rtt: {provenence: measured}\n");
  e.fields.quantity<Seconds>(key("rtt"), kRttRange);
  EXPECT_THAT(errors_of(e.reading),
              ElementsAre("run.yaml:1:6: error: rtt has no \"value\"; it is required",
                          "run.yaml:1:6: error: rtt has no \"provenance\"; it is required",
                          "run.yaml:1:6: error: rtt states no source; add source: \"...\"",
                          "run.yaml:1:7: error: unknown key \"provenence\" in rtt; did you mean \"provenance\"?"));
}

TEST(Reading, ThrowsAllItsErrorsAtOnce) {
  Example e("rtt: fast\nbatch: 0\nbath: 1\n");
  e.fields.quantity<Seconds>(key("rtt"), kRttRange);
  e.fields.integer(key("batch"), {1, 10});
  e.fields.number(key("delta"), {0, 1});
  e.fields.done();
  EXPECT_EQ(errors_of([&] { e.reading.check(); }).size(), 4);  // rtt, batch, delta missing, bath unknown
}

// Another program's config, which calls the width n_embd.
struct Config {
  explicit Config(const std::string& text)
      : node(parse_yaml(text, "config.json")),
        fields(node, "models.0", reading, {{"hidden", "n_embd"}, {"inner", "n_inner"}}) {}
  Reading reading;
  Node node;
  Fields fields;
};

TEST(SecondNames, AreReadWhereTheKeyIsNotThere) {
  Config theirs("{n_embd: 64}");
  EXPECT_EQ(theirs.fields.integer(key("hidden"), {1, 1000}), 64);
  EXPECT_EQ(theirs.fields.stated_name("hidden"), "n_embd");
  Config both("{n_embd: 64, hidden: 32}");
  EXPECT_EQ(both.fields.integer(key("hidden"), {1, 1000}), 32);
  EXPECT_EQ(both.fields.stated_name("hidden"), "hidden");
}

TEST(SecondNames, StandInMessages) {
  Config e("{n_embd: 0, n_inner: wide}");
  e.fields.integer(key("hidden"), {1, 1000});
  e.fields.integer(key("inner"), {1, 1000}, 4);
  EXPECT_THAT(errors_of(e.reading),
              ElementsAre("config.json:1:10: error: models.0.n_embd: \"0\" is out of range; expected a whole number "
                          "from 1 to 1000",
                          "config.json:1:22: error: models.0.n_inner: \"wide\" is not a whole number; expected a whole "
                          "number from 1 to 1000"));
}

TEST(SecondNames, MakeANullAsGoodAsNoKey) {
  Config e("{n_embd: 64, n_inner: null}");
  EXPECT_EQ(e.fields.integer(key("inner"), {1, 1000}, 256), 256);
  EXPECT_FALSE(e.fields.has("inner"));
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
}

TEST(SecondNames, LetAFileHaveKeysThatNobodyNeedsButNoOneElse) {
  Config e("{n_embd: 64, torch_dtype: bfloat16}");
  e.fields.integer(key("hidden"), {1, 1000});
  e.fields.done_but_for_its_own();
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  Node node = parse_yaml("{n_embd: 64, torch_dtype: bfloat16}", "config.json");
  merge(node, parse_yaml("{banana: 4}", "--set"));
  Reading reading;
  Fields fields(node, "models.0", reading, {{"hidden", "n_embd"}});
  fields.integer(key("hidden"), {1, 1000});
  fields.done_but_for_its_own();
  EXPECT_THAT(errors_of(reading),
              ElementsAre("--set:1:2: error: unknown key \"banana\" in models.0; known are: hidden, n_embd"));
}

}  // namespace
}  // namespace slmsim::fields_test
