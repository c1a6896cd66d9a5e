#include <cmath>

#include <gmock/gmock.h>

#include "sim/platform/gpu.h"
#include "tests/platform/example.h"

namespace slmsim::power_limit_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kVm = "  e: {site: east, type: *box, gpus: [*g], power_limit: ";

std::string limited(const std::string& limit, const std::string& board = ", board_power: 300 W") {
  std::string text = kPair + kVm + limit + "}\nlinks:\n  wan: {between: [west, east], rtt: 20 ms, bandwidth: 8 Gbps}\n";
  const std::string slot = "pcie: 8 GB/s";
  return text.replace(text.find(slot), slot.size(), slot + board);
}

// The switching power is 0.8; 0.7 / 0.8 of it is left at 0.9, whose third root is the clock; at 0.6 half, whose third root is
// less than 0.8: the voltage is at its least, 0.64 of the power at full clock goes with the clock itself.
TEST(PowerLimit, LeavesAClockByTheThirdRootAndThenInProportion) {
  EXPECT_EQ(cores_within(1), 1);
  EXPECT_DOUBLE_EQ(cores_within(0.9), std::cbrt(0.875));
  EXPECT_DOUBLE_EQ(cores_within(0.6), 0.5 / 0.64);
  EXPECT_DOUBLE_EQ(cores_within(0.36), 0.2 / 0.64);
}

TEST(PowerLimit, LeavesMoreTheMoreItIsWithoutAStep) {
  for (double share = 0.21; share < 1; share += 0.001) {
    EXPECT_GT(cores_within(share), cores_within(share - 0.001)) << share;
    EXPECT_LT(cores_within(share), cores_within(share - 0.001) + 0.01) << share;
  }
}

// Memory needs nine tenths of the clock.
TEST(PowerLimit, LeavesMemoryItsRateUntilTheClockIsLow) {
  Gpu gpu;
  gpu.board_power = Watts{300};
  limit_power(gpu, Watts{270});
  EXPECT_EQ(gpu.left.memory, 1);
  limit_power(gpu, Watts{180});
  EXPECT_DOUBLE_EQ(gpu.left.memory, 0.5 / 0.64 / 0.9);
}

TEST(PowerLimit, IsEveryGpusOfAVm) {
  const Platform platform = platform_of(limited("180 W"));
  EXPECT_EQ(platform.devices[0].gpu.power_limit.value, 0);
  EXPECT_EQ(platform.devices[0].gpu.left.cores, 1);
  EXPECT_EQ(platform.devices[2].gpu.power_limit.value, 180);
  EXPECT_DOUBLE_EQ(platform.devices[2].gpu.left.cores, 0.5 / 0.64);
}

TEST(PowerLimit, OfWhatTheBoardMayDrawLimitsNothing) {
  EXPECT_EQ(platform_of(limited("300 W")).devices[2].gpu.left.cores, 1);
}

TEST(PowerLimit, SetsWhatWasMeasuredUnderAnotherOneAgainstThat) {
  Gpu gpu;
  gpu.board_power = Watts{300};
  gpu.measured_limit = Watts{270};
  limit_power(gpu, Watts{180});
  EXPECT_DOUBLE_EQ(gpu.left_of_measured.cores, 0.5 / 0.64 / std::cbrt(0.875));
  gpu.measured_limit = Watts{320};  // another variant's board
  limit_power(gpu, Watts{180});
  EXPECT_DOUBLE_EQ(gpu.left_of_measured.cores, 0.5 / 0.64);
}

TEST(PowerLimit, ThatCannotBeIsAnError) {
  const auto errors = [](const std::string& text) {
    Reading reading;
    read_platform(parse_yaml(text, "p.yaml"), "", reading);
    return errors_of(reading);
  };
  EXPECT_THAT(errors(limited("301 W")), ElementsAre(HasSubstr("vms.e.power_limit is 301 W, but the board of g may draw "
                                                              "300 W; a limit between 100 W and that is expected")));
  EXPECT_THAT(errors(limited("99 W")), ElementsAre(HasSubstr("a limit between 100 W and that is expected")));
  EXPECT_THAT(errors(limited("180 W", "")),
              ElementsAre(HasSubstr("vms.e.power_limit is 180 W, but g states no board_power to compare it with")));
  EXPECT_THAT(errors(limited("180")), ElementsAre(HasSubstr("no unit")));
}

}  // namespace
}  // namespace slmsim::power_limit_test
