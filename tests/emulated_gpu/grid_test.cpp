// The emulation itself: what it must find, and that its numbers round as a GPU's.
#include "tests/emulated_gpu/grid.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>

#include "tests/emulated_gpu/memory.h"

namespace emulated::grid_test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(EmulatedGrid, RunsEveryThreadOfEveryBlockOnce) {
  std::vector<int> ran(3 * 2 * 2 * 33 * 2, 0);
  run_grid({3, 2, 2}, {33, 2}, [&] {
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    ++ran[(block * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x];
  });
  EXPECT_THAT(take_error(), IsEmpty());
  EXPECT_THAT(ran, Each(1));
}

TEST(EmulatedGrid, ThreadsMeetAtBarriersInEveryOrder) {
  for (const Order order : {Order::kUpwards, Order::kDownwards, Order::kMixed}) {
    set_order(order);
    std::vector<int> word(256, 0), got(256, 0);
    run_grid(1, 256, [&] {
      for (int round = 0; round < 3; ++round) {
        word[threadIdx.x] = static_cast<int>(threadIdx.x) + 1000 * round;
        __syncthreads();
        got[threadIdx.x] += word[(threadIdx.x + 77) % 256];
        __syncthreads();
      }
    });
    EXPECT_THAT(take_error(), IsEmpty());
    for (int i = 0; i < 256; ++i) EXPECT_EQ(got[i], 3 * ((i + 77) % 256) + 3000);
  }
  set_order(Order::kUpwards);
}

TEST(EmulatedGrid, AMissingBarrierShowsInSomeOrder) {
  int wrong = 0;
  for (const Order order : {Order::kUpwards, Order::kDownwards, Order::kMixed}) {
    set_order(order);
    std::vector<int> word(64, -1), got(64, -1);
    run_grid(1, 64, [&] {
      word[threadIdx.x] = static_cast<int>(threadIdx.x);
      got[threadIdx.x] = word[63 - threadIdx.x];
    });
    for (int i = 0; i < 64; ++i) wrong += got[i] == 63 - i ? 0 : 1;
  }
  set_order(Order::kUpwards);
  EXPECT_GT(wrong, 0);
}

TEST(EmulatedGrid, ShufflesGiveTheOthersWord) {
  std::vector<float> got(96, 0);
  run_grid(1, 96, [&] { got[threadIdx.x] = __shfl_xor_sync(0xffffffffU, static_cast<float>(threadIdx.x), 16); });
  EXPECT_THAT(take_error(), IsEmpty());
  for (int i = 0; i < 96; ++i) EXPECT_EQ(got[i], i ^ 16);
}

TEST(EmulatedGrid, FindsWhatAGpuLeavesUndefined) {
  run_grid(1, 64, [] {
    if (threadIdx.x < 32) __syncthreads();
  });
  EXPECT_THAT(take_error(), HasSubstr("that others have passed or left"));
  run_grid(1, 64, [] {
    if (threadIdx.x != 5) __shfl_xor_sync(0xffffffffU, 1, 1);
  });
  EXPECT_THAT(take_error(), HasSubstr("that others have passed or left"));
  // The last warp is not whole.
  run_grid(1, 40, [] { __shfl_xor_sync(0xffffffffU, 1, 1); });
  EXPECT_THAT(take_error(), HasSubstr("that others have passed or left"));
  run_grid(0, 64, [] {});
  EXPECT_THAT(take_error(), HasSubstr("a grid has at least 1"));
  run_grid({1, 70000}, 64, [] {});
  EXPECT_THAT(take_error(), HasSubstr("a grid has at least 1"));
  run_grid(1, {64, 32}, [] {});
  EXPECT_THAT(take_error(), HasSubstr("at most 1024 threads"));
  // And goes on afterwards.
  int ran = 0;
  run_grid(2, 64, [&] {
    __syncthreads();
    ++ran;
  });
  EXPECT_THAT(take_error(), IsEmpty());
  EXPECT_EQ(ran, 128);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(EmulatedMemory, NoticesWhatIsWrittenBehindAnArray) {
  const int before = overwritten();
  auto* const memory = static_cast<char*>(allocate(1001));
  memory[1001] = 0;
  release(memory);
  EXPECT_EQ(overwritten(), before + 1);
}
#else
TEST(EmulatedMemoryDeathTest, StopsAtWhatLiesBehindAnArray) {
  auto* const memory = static_cast<volatile char*>(allocate(1001));
  memory[1000] = 0;
  EXPECT_DEATH(memory[1001] = 0, "use-after-poison");
  release(const_cast<char*>(memory));
}
#endif

TEST(EmulatedMemory, IsNoNumberAtFirst) {
  auto* const memory = static_cast<float*>(allocate(sizeof(float)));
  EXPECT_TRUE(std::isnan(*memory));
  EXPECT_TRUE(std::isnan(__half2float(*reinterpret_cast<const __half*>(memory))));
  EXPECT_TRUE(std::isnan(__bfloat162float(*reinterpret_cast<const __nv_bfloat16*>(memory))));
  release(memory);
}

TEST(EmulatedNumbers, AreThoseOfIeee754) {
  // binary16: 1, the greatest, the least normal and subnormal numbers, ties to even, overflow.
  EXPECT_EQ(__float2half(1).bits, 0x3c00);
  EXPECT_EQ(__float2half(-2).bits, 0xc000);
  EXPECT_EQ(__float2half(65504).bits, 0x7bff);
  EXPECT_EQ(__float2half(65520).bits, 0x7c00);
  EXPECT_EQ(__float2half(65519).bits, 0x7bff);
  EXPECT_EQ(__float2half(0x1p-14f).bits, 0x0400);
  EXPECT_EQ(__float2half(0x1p-24f).bits, 0x0001);
  EXPECT_EQ(__float2half(0x1p-25f).bits, 0x0000);
  EXPECT_EQ(__float2half(0x1.8p-24f).bits, 0x0002);
  EXPECT_EQ(__float2half(1 + 0x1p-11f).bits, 0x3c00);
  EXPECT_EQ(__float2half(1 + 0x1.8p-10f).bits, 0x3c02);
  EXPECT_TRUE(std::isnan(__half2float(__float2half(std::nanf("")))));
  // bfloat16 is the upper half of a float.
  EXPECT_EQ(__float2bfloat16(1).bits, 0x3f80);
  EXPECT_EQ(__float2bfloat16(1 + 0x1p-8f).bits, 0x3f80);
  EXPECT_EQ(__float2bfloat16(1 + 0x1.8p-7f).bits, 0x3f82);
  EXPECT_TRUE(std::isnan(__bfloat162float(__float2bfloat16(std::nanf("")))));
  // Every 16-bit number that is one comes back.
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto word = static_cast<std::uint16_t>(bits);
    if (const float half = __half2float({word}); !std::isnan(half)) {
      EXPECT_EQ(__float2half(half).bits, word);
    }
    if (const float wide = __bfloat162float({word}); !std::isnan(wide)) {
      EXPECT_EQ(__float2bfloat16(wide).bits, word);
    }
  }
}

}  // namespace
}  // namespace emulated::grid_test
