// GPUs by the names that nvidia-smi prints.
#include <gtest/gtest.h>

#include "sim/import/inventory/inventory.h"

namespace slmsim::driver_name_test {
namespace {

TEST(DriverName, IsThatOfAShippedGpu) {
  const std::pair<const char*, const char*> names[] = {{"NVIDIA GeForce GTX 1080 Ti", "gtx1080ti"},
                                                       {"GeForce GTX 1080 Ti", "gtx1080ti"},
                                                       {"NVIDIA TITAN Xp", "titan-xp"},
                                                       {"NVIDIA TITAN V", "titan-v"},
                                                       {"NVIDIA GeForce RTX 2070", "rtx2070"},
                                                       {"Quadro RTX 8000", "rtx8000"},
                                                       {"NVIDIA GeForce RTX 3060", "rtx3060"},
                                                       {"NVIDIA GeForce RTX 3060 Ti", "rtx3060ti"},
                                                       {"NVIDIA GeForce RTX 3070", "rtx3070"},
                                                       {"NVIDIA GeForce RTX 3080 Ti", "rtx3080ti"},
                                                       {"NVIDIA GeForce RTX 4060", "rtx4060"},
                                                       {"NVIDIA GeForce RTX 4060 Ti", "rtx4060ti"},
                                                       {"NVIDIA GeForce RTX 4070", "rtx4070"},
                                                       {"NVIDIA GeForce RTX 4080", "rtx4080"},
                                                       {"NVIDIA GeForce RTX 5060 Ti", "rtx5060ti"},
                                                       {"NVIDIA GeForce RTX 5070", "rtx5070"},
                                                       {"NVIDIA GeForce RTX 5070 Ti", "rtx5070ti"},
                                                       {"NVIDIA GeForce RTX 5080", "rtx5080"},
                                                       {"Tesla P40", "p40"},
                                                       {"NVIDIA RTX A4500", "a4500"},
                                                       {"NVIDIA RTX 2000 Ada Generation", "rtx2000-ada"},
                                                       {"NVIDIA RTX 4000 Ada Generation", "rtx4000-ada"},
                                                       {"NVIDIA L40", "l40"},
                                                       {"NVIDIA A100-SXM-64GB", "a100-64"},
                                                       {"NVIDIA A800-SXM4-80GB", "a800"},
                                                       {"NVIDIA H800", "h800"},
                                                       {"NVIDIA H100 NVL", "h100-nvl"},
                                                       {"NVIDIA B200", "b200"},
                                                       {"rtx3060", "rtx3060"},
                                                       {"RTX 8000", "rtx8000"}};
  for (const auto& [printed, name] : names) EXPECT_EQ(gpu_called(printed), name) << printed;
}

// Neighbours in the same series are not taken for them.
TEST(DriverName, OfAnotherGpuIsNone) {
  for (const char* printed :
       {"NVIDIA GeForce RTX 3070 Ti", "NVIDIA GeForce RTX 4070 SUPER", "NVIDIA GeForce RTX 4080 Laptop GPU",
        "NVIDIA GeForce GTX 1080", "NVIDIA TITAN X (Pascal)", "NVIDIA RTX 4000 SFF Ada Generation"})
    EXPECT_EQ(gpu_called(printed), "") << printed;
}

}  // namespace
}  // namespace slmsim::driver_name_test
