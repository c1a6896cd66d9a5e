// Bytes of exchanged numbers on the wire, and the times of their kernels on a GPU.
#include "sim/compute/compression.h"

#include <gtest/gtest.h>

namespace slmsim::exchange_format_test {
namespace {

// 200 B/s of memory, all of it reached, and no launch.
struct RoundGpu {
  Gpu gpu;
  Software software;
  RoundGpu() {
    gpu.memory_bandwidth = BytesPerSecond{200};
    software.memory = 1;
  }
};

TEST(ExchangeFormat, HasItsBitsAndAScaleForEachBlock) {
  EXPECT_EQ(wire_bytes(ExchangeFormat::kFp32, 2048).value, 4 * 2048);
  EXPECT_EQ(wire_bytes(ExchangeFormat::kBf16, 2048).value, 2 * 2048);
  EXPECT_EQ(wire_bytes(ExchangeFormat::kFp16, 2048).value, 2 * 2048);
  EXPECT_EQ(wire_bytes(ExchangeFormat::kFp8, 2048).value, 2048 + 4);
  EXPECT_EQ(wire_bytes(ExchangeFormat::kInt8, 2048).value, 2048 + 4);
  EXPECT_EQ(wire_bytes(ExchangeFormat::kInt4, 2048).value, 1024 + 4);
  EXPECT_EQ(exchange_format_names().size(), static_cast<std::size_t>(ExchangeFormat::kInt4) + 1);
}

TEST(ExchangeFormat, AddsUpWhereNumbersHaveNoScale) {
  EXPECT_TRUE(adds_up(ExchangeFormat::kFp32) && adds_up(ExchangeFormat::kBf16) && adds_up(ExchangeFormat::kFp16));
  EXPECT_FALSE(adds_up(ExchangeFormat::kFp8) || adds_up(ExchangeFormat::kInt8) || adds_up(ExchangeFormat::kInt4));
}

TEST(ExchangeFormat, IsReadAndWrittenAtTheRateOfMemory) {
  const RoundGpu g;
  // 2048 numbers: 8192 B are read and 1028 B written, 9220 B at 200 B/s.
  EXPECT_DOUBLE_EQ(encode_time(ExchangeFormat::kInt4, 2048, g.gpu, g.software).value, 46.1);
  EXPECT_DOUBLE_EQ(decode_time(ExchangeFormat::kInt4, 2048, g.gpu, g.software).value, 46.1);
  EXPECT_EQ(encode_time(ExchangeFormat::kFp32, 2048, g.gpu, g.software).value, 0);
  // Four ranks: a share of 512 fp32 numbers, 2048 B, is read four times and written once.
  EXPECT_DOUBLE_EQ(sum_time(ExchangeFormat::kFp32, 2048, 4, g.gpu, g.software).value, 5 * 2048 / 200.0);
}

TEST(ExchangeFormat, CostsALaunchForEachKernel) {
  RoundGpu g;
  g.software.launch = Seconds{3};
  EXPECT_DOUBLE_EQ(encode_time(ExchangeFormat::kBf16, 100, g.gpu, g.software).value, 3 + 3.0);  // 600 B at 200 B/s
}

}  // namespace
}  // namespace slmsim::exchange_format_test
