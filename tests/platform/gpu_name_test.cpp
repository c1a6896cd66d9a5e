#include <gtest/gtest.h>

#include "sim/platform/gpu.h"

namespace slmsim::gpu_name_test {
namespace {

TEST(GpuName, IsTheSameInWhateverSpelling) {
  EXPECT_TRUE(is_same_gpu("NVIDIA Tesla T4", "t4"));
  EXPECT_TRUE(is_same_gpu("NVIDIA A100-SXM4-40GB", "NVIDIA A100 SXM4 40GB"));
  EXPECT_TRUE(is_same_gpu("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM5 80GB"));
  EXPECT_FALSE(is_same_gpu("NVIDIA A100-SXM4-40GB", "NVIDIA A100 SXM4 80GB"));
}

TEST(GpuName, TellsTheChipWhateverItsMemoryAndSlot) {
  EXPECT_TRUE(is_same_chip("NVIDIA A100-SXM4-40GB", "NVIDIA A100 PCIe 80GB"));
  EXPECT_TRUE(is_same_chip("NVIDIA A30", "NVIDIA A30 24GB PCIe"));
  EXPECT_TRUE(is_same_chip("NVIDIA GH200 480GB", "NVIDIA GH200 96GB"));
  EXPECT_TRUE(is_same_chip("", "NVIDIA A30 24GB PCIe"));  // says nothing
  EXPECT_FALSE(is_same_chip("NVIDIA A100-SXM4-40GB", "NVIDIA Tesla T4"));
  EXPECT_FALSE(is_same_chip("NVIDIA A10G", "NVIDIA A10 24GB PCIe"));
  EXPECT_FALSE(is_same_chip("Quadro RTX 6000", "NVIDIA RTX 6000 Ada Generation"));
  EXPECT_FALSE(is_same_chip("NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 4090"));
}

TEST(GpuName, TellsAVariantWhereBothNamesSayWhichTheyAre) {
  EXPECT_TRUE(is_other_variant("NVIDIA A100-SXM4-40GB", "NVIDIA A100 SXM4 80GB"));
  EXPECT_TRUE(is_other_variant("Tesla V100-PCIE-32GB", "NVIDIA Tesla V100 SXM2 32GB"));
  EXPECT_FALSE(is_other_variant("NVIDIA A30", "NVIDIA A30 24GB PCIe"));
  EXPECT_FALSE(is_other_variant("NVIDIA GH200 480GB", "NVIDIA GH200 96GB"));
}

}  // namespace
}  // namespace slmsim::gpu_name_test
