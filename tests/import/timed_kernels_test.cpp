#include "sim/import/timed_kernels.h"

#include <gmock/gmock.h>

#include "sim/platform/kernel_name.h"

namespace slmsim {
namespace {

// What a profile may hold is what a model's operators ask it for.
TEST(KernelNames, AreThoseOfTheModelsOperators) {
  EXPECT_THAT(kernel_names(), testing::UnorderedElementsAreArray(timed_kernels()));
}

}  // namespace
}  // namespace slmsim
