#include "sim/sweep/axis.h"

#include <gmock/gmock.h>

namespace slmsim::axis_test {
namespace {

using testing::ElementsAre;

std::vector<Axis> axes_of(const std::string& text) {
  Reading reading;
  auto axes = read_axes(parse_yaml(text, "axes.yaml"), "axes", reading);
  reading.check();
  return axes;
}

std::vector<std::string> values_of(const std::string& text) {
  std::vector<std::string> out;
  const auto axes = axes_of("[" + text + "]");
  for (const auto& value : axes.at(0).keys.at(0).values) out.push_back(one_line(value));
  return out;
}

TEST(Axis, KeepsListedValuesAsWritten) {
  EXPECT_THAT(values_of("{key: a, values: [103 ms, 1e-5, [gat, amst/0], {b: [c], d: 1}]}"),
              ElementsAre("103 ms", "1e-5", "[gat, amst/0]", "{b: [c], d: 1}"));
  EXPECT_THAT(values_of("{key: a, values: gpt2m}"), ElementsAre("gpt2m"));
}

TEST(Axis, ReadsNoMoreValuesThanPointsMayHave) {
  // 40 axes of a million values each: the first two are too many points.
  std::string axes, keys;
  for (int i = 0; i < 40; ++i) {
    const std::string key = "{key: k" + std::to_string(i) + ", from: 1, to: 2, points: 1000000}";
    axes += (i ? ", " : "[") + key;
    keys += (i ? ", " : "[{zip: [") + key;
  }
  const auto error_of = [](const std::string& text) {
    Reading reading;
    read_axes(parse_yaml(text, "axes.yaml"), "axes", reading);
    return reading.errors.size() == 1 ? reading.errors.front().text : "";
  };
  EXPECT_EQ(error_of(axes + "]"), "more than 10000000 points; that is beyond this simulator");
  EXPECT_EQ(error_of(keys + "]}]"), "more than 2000000 values on all axes; that is beyond this simulator");
}

TEST(Axis, CountsEqualStepsWithBothEnds) {
  EXPECT_THAT(values_of("{key: a, from: 0 ms, to: 10 ms, points: 5}"),
              ElementsAre("0 ms", "2.5 ms", "5 ms", "7.5 ms", "10 ms"));
  EXPECT_THAT(values_of("{key: a, from: 10, to: -10, points: 3}"), ElementsAre("10", "0", "-10"));
}

TEST(Axis, CountsEqualRatios) {
  EXPECT_THAT(values_of("{key: a, from: 0.1ms, to: 100ms, points: 4, scale: log}"),
              ElementsAre("0.1 ms", "1 ms", "10 ms", "100 ms"));
  // 2^(1/2) = 1.41421356237...
  EXPECT_THAT(values_of("{key: a, from: 1, to: 2, points: 3, scale: log}"), ElementsAre("1", "1.41421356", "2"));
}

TEST(Axis, GoesBySteps) {
  EXPECT_THAT(values_of("{key: a, from: 8, to: 30, step: 8}"), ElementsAre("8", "16", "24"));
  EXPECT_THAT(values_of("{key: a, from: 3, to: 1, step: -1}"), ElementsAre("3", "2", "1"));
  // 0.1 is no binary number: three steps of it must still reach 0.3.
  EXPECT_THAT(values_of("{key: a, from: 0, to: 0.3, step: 0.1}"), ElementsAre("0", "0.1", "0.2", "0.3"));
}

TEST(Axis, RoundsToWholeNumbersOnce) {
  // 1, 1.68, 2.83, 4.76, 8
  EXPECT_THAT(values_of("{key: a, from: 1, to: 8, points: 5, scale: log, whole: yes}"),
              ElementsAre("1", "2", "3", "5", "8"));
  EXPECT_THAT(values_of("{key: a, from: 1, to: 2, points: 5, whole: yes}"), ElementsAre("1", "2"));
}

TEST(Axis, TakesAnExponentForNumberAndALetterForUnit) {
  EXPECT_THAT(values_of("{key: a, from: 1e-5, to: 3e-5, points: 3}"), ElementsAre("1e-05", "2e-05", "3e-05"));
  EXPECT_THAT(values_of("{key: a, from: 1 MiB, to: 4 MiB, points: 3, scale: log}"),
              ElementsAre("1 MiB", "2 MiB", "4 MiB"));
}

TEST(Axes, MultiplyAndTheLastMovesFastest) {
  const auto axes =
      axes_of("[{key: a, values: [1, 2]}, {zip: [{key: b, values: [x, y, z]}, {key: c, values: [u, v, w]}]}]");
  ASSERT_EQ(axes.size(), 2);
  EXPECT_EQ(axes[1].keys.size(), 2);
  EXPECT_EQ(point_count(axes), 6);
  EXPECT_THAT(indices_of(axes, 0), ElementsAre(0, 0));
  EXPECT_THAT(indices_of(axes, 2), ElementsAre(0, 2));
  EXPECT_THAT(indices_of(axes, 3), ElementsAre(1, 0));
  EXPECT_THAT(indices_of(axes, 5), ElementsAre(1, 2));
}

}  // namespace
}  // namespace slmsim::axis_test
