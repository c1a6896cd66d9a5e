// The comparison with measured paths and rounds, by a small made-up table.
#include "tests/validation/wan_facts.h"

#include <fstream>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/errors_of.h"

namespace slmsim::wan_facts_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kMadeUp = std::filesystem::path(SLMSIM_SOURCE_DIR) / "tests/data/wan";

TEST(WanFacts, PathsCarryWhatWindowsAndTheWayOutAllow) {
  const WanValidation v = validate_wan(kMadeUp);
  ASSERT_EQ(v.paths.size(), 2u);
  // Half of 6 MiB per 40 ms is 629 Mbit/s once the window is open; of 10 s the first half second opens it.
  const double window = 3 * kMebi / 0.04;
  EXPECT_LT(v.paths[0].predicted.value, window);
  EXPECT_GT(v.paths[0].predicted.value, 0.93 * window);
  // 64 of these are more than 7 Gbit/s.
  EXPECT_LT(v.paths[1].predicted.value, kCloudEgress.value);
  EXPECT_GT(v.paths[1].predicted.value, 0.9 * kCloudEgress.value);
  EXPECT_EQ(v.path_errors.cells, 2);
}

TEST(WanFacts, RoundsTakeTheirStepsAndOneExchange) {
  const WanValidation v = validate_wan(kMadeUp);
  ASSERT_EQ(v.rounds.size(), 2u);
  EXPECT_EQ(v.rounds[0].technique, "LocalSGD");
  EXPECT_EQ(v.rounds[1].technique, "DiLoCo");
  // 30.34 M parameters of 4 B, 2 x 3/4 of them at 125 MB/s: 1.456 s, shared out over the steps. Rings, windows and kernels
  // take some more.
  const double exchange = 1.5 * 4 * 30.34e6 / 125e6;
  EXPECT_NEAR(v.rounds[0].predicted.value, kInnerStep.value + exchange / 4, 0.02 * exchange / 4);
  EXPECT_NEAR(v.rounds[1].predicted.value, kInnerStep.value + exchange / 16, 0.02 * exchange / 16);
  EXPECT_GT(v.rounds[0].predicted.value, kInnerStep.value + exchange / 4);
}

TEST(WanFacts, SayWhereATableIsWrong) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("slmsim-wan-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto errors = [&](const std::string& paths, const std::string& rounds) {
    std::ofstream(folder / "iperf.csv") << "path,rtt_ms,connections,mbit_s\n" << paths;
    std::ofstream(folder / "localsgd.csv") << "technique,rate,inner_steps,seconds_per_inner_step\n" << rounds;
    return errors_of([&] { validate_wan(folder); });
  };
  EXPECT_THAT(errors("x,near,1,100\n", ""), ElementsAre(HasSubstr(":2:1: error: rtt_ms: \"near\" is not a number")));
  EXPECT_THAT(errors("x,10,1.5,100\n", ""), ElementsAre(HasSubstr("connections: 1.5 is not a whole number")));
  EXPECT_THAT(errors("", "dilocco,1 Gbit/s,1,1\n"), ElementsAre(HasSubstr("did you mean \"DiLoCo\"?")));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace slmsim::wan_facts_test
