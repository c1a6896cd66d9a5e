// Every kernel that slmsim-calibrate times, each line of it executed on the host: in all precisions, with sizes that are
// multiples of nothing, the threads in several orders, against the workloads' references in double precision.
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "calibrate/cuda/check.h"
#include "calibrate/cuda/collective_data.h"
#include "calibrate/cuda/workload.h"
#include "tests/emulated_gpu/arrays.h"
#include "tests/emulated_gpu/grid.h"
#include "tests/emulated_gpu/memory.h"

namespace slmsim::calibrate {

// cuBLASLt is not emulated.
std::unique_ptr<Workload> make_gemm_lt(const Device& /*device*/, const Kernel& /*kernel*/, int /*choice*/) {
  throw MeasurementSkip("cuBLASLt is not emulated");
}

namespace {

using emulated::Order;
using testing::HasSubstr;

struct Sizes {
  std::int64_t m, n, k;
};

// Sizes of rows: single elements and rows, less and more than a warp, a block and a pack; many rows of one element.
const std::vector<Sizes> kRows = {{1, 1, 1},    {1, 31, 7},   {3, 33, 1},   {31, 8, 31},
                                  {33, 64, 33}, {5, 1025, 3}, {2, 1032, 50}};
// More rows than there are positions, and than a block adds up of a column.
const std::vector<Sizes> kManyRows = {{257, 4, 2}, {1025, 1, 1025}, {1026, 6, 31}};
// Kernels with a block per row that all its threads meet in take long here.
const std::vector<Sizes> kSomeRows = {{259, 2, 1}};
const std::vector<Sizes> kProducts = {{1, 1, 1}, {31, 33, 1}, {33, 1, 31}, {17, 40, 65}};
// Every position and a whole head: angles of up to 1023, which fp32 holds to 3e-5.
const std::vector<Sizes> kEveryPosition = {{1024, 128, 1}};
const std::vector<Sizes> kParameters = {{1, 1, 1}, {31, 1, 1}, {1028, 1, 1}, {70'001, 1, 1}};

std::vector<Sizes> sizes_for(const std::string& name, const std::string& precision) {
  if (name.starts_with("gemm")) return kProducts;
  if (name.starts_with("adam")) return kParameters;
  std::vector<Sizes> sizes = kRows;
  const bool meets = name.find("softmax") != std::string::npos || name.find("norm") != std::string::npos ||
                     name.starts_with("loss");
  const auto& more = !meets ? kManyRows : precision == "fp32" ? kSomeRows : std::vector<Sizes>{};
  sizes.insert(sizes.end(), more.begin(), more.end());
  if (name.starts_with("rotary")) sizes.insert(sizes.end(), kEveryPosition.begin(), kEveryPosition.end());
  return sizes;
}

std::vector<std::byte> content(const EmulatedArray& array) { return {array.data, array.data + array.bytes}; }

class EveryKernel : public testing::TestWithParam<std::string> {
 protected:
  const Device device_{0};
};

TEST_P(EveryKernel, IsRightAtOddSizes) {
  const int before = emulated::overwritten();
  for (const std::string& precision : precision_names()) {
    if (precision == "tf32" && !GetParam().starts_with("gemm")) continue;
    for (const auto& [m, n, k] : sizes_for(GetParam(), precision)) {
      const Kernel kernel{GetParam(), precision, GetParam().starts_with("gemm") ? 3 : 1, m, n, k};
      SCOPED_TRACE(to_text(kernel));
      const auto workload = make_workload(device_, kernel, false);
      ASSERT_NO_THROW(workload->launch(1));
      for (const Order order : {Order::kUpwards, Order::kDownwards, Order::kMixed}) {
        emulated::set_order(order);
        ASSERT_NO_THROW(workload->launch(0));
        EXPECT_LE(workload->error(), 1);
      }
      emulated::set_order(Order::kUpwards);
    }
  }
  EXPECT_EQ(emulated::overwritten(), before);
}

// A check that would pass anything is none: one wrong element of what a launch writes makes a difference.
TEST_P(EveryKernel, IsNotRightWithAWrongElement) {
  if (GetParam().starts_with("adam")) GTEST_SKIP() << "the check of Adam makes the step anew";
  const Kernel kernel{GetParam(), "fp32", 1, 9, 20, 12};
  const auto workload = make_workload(device_, kernel, false);
  std::vector<std::vector<std::byte>> before;
  for (const auto& array : emulated_arrays()) before.push_back(content(array));
  workload->launch(0);
  ASSERT_LE(workload->error(), 1);
  int written = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const EmulatedArray array = emulated_arrays()[i];
    if (array.set != 0 || content(array) == before[i]) continue;
    ++written;
    const bool between = GetParam().starts_with("mask") && written == 1;
    const bool statistics = GetParam().starts_with("norm-f") || GetParam().starts_with("rmsnorm-f");
    if (between || (statistics && array.bytes == 9 * 8)) continue;  // what only the next kernel reads
    const std::size_t at = array.bytes / sizeof(float) - 1;
    float right = 0;
    const float wrong = 1000;
    std::memcpy(&right, array.data + at * sizeof(float), sizeof right);
    std::memcpy(array.data + at * sizeof(float), &wrong, sizeof wrong);
    EXPECT_GT(workload->error(), 1) << "array " << i;
    std::memcpy(array.data + at * sizeof(float), &right, sizeof right);
    EXPECT_LE(workload->error(), 1);
  }
  EXPECT_GT(written, 0);
}

std::vector<std::string> timed_here() {
  auto names = kernel_names();
  std::erase_if(names, [](const std::string& name) { return name.starts_with("flash"); });
  return names;
}
std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Names, EveryKernel, testing::ValuesIn(timed_here()), test_name);

TEST(Kernels, WithoutALibrarySaySo) {
  const Device device(0);
  const auto reason = [&](const std::string& name, bool lt) -> std::string {
    try {
      make_workload(device, {name, "fp16", 1, 16, 16, 16}, lt);
    } catch (const MeasurementSkip& left_out) {
      return left_out.what();
    }
    return "";
  };
  EXPECT_THAT(reason("flash-forward", false), HasSubstr("not timed: no library for flash attention"));
  EXPECT_THAT(reason("flash-backward", false), HasSubstr("not timed: no library for flash attention"));
  EXPECT_THAT(reason("gemm-nn", true), HasSubstr("not emulated"));
}

TEST(Kernels, HaveNoTimesHere) {
  const Device device(0);
  const auto workload = make_workload(device, {"gelu-forward", "fp32", 1, 4, 4, 1}, false);
  WorkloadTimer timer(device, *workload);
  EXPECT_THROW(timer.run(1), GpuError);
}

TEST(Kernels, FillCollectivesBuffersAndCountWhatIsWrong) {
  float* buffer = nullptr;
  constexpr std::size_t kCount = 1025;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&buffer), kCount * sizeof(float)), cudaSuccess);
  fill_for_rank(buffer, kCount, 3, nullptr);
  EXPECT_EQ(count_wrong(buffer, kCount, 0, 3, 8, nullptr), 0);
  EXPECT_GT(count_wrong(buffer, kCount, 0, 2, 8, nullptr), kCount / 2);
  buffer[1024] += 1;
  buffer[7] += 1;
  EXPECT_EQ(count_wrong(buffer, kCount, 0, 3, 8, nullptr), 2);
  cudaFree(buffer);
}

}  // namespace
}  // namespace slmsim::calibrate
