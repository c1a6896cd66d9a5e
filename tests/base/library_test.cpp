#include "sim/base/file.h"

#include <gmock/gmock.h>

namespace slmsim::library_test {
namespace {

TEST(Library, ThatIsMissingIsNamed) {
  try {
    library_function<void()>("libslmsim_none.so", "slmsim_none");
    FAIL() << "it was found";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("libslmsim_none.so cannot be loaded: "));
  }
}

TEST(Library, GivesAFunctionOfIt) {
  EXPECT_EQ(library_function<int(int)>("libc.so.6", "abs")(-3), 3);
  EXPECT_THROW(library_function<void()>("libc.so.6", "slmsim_none"), std::logic_error);
}

}  // namespace
}  // namespace slmsim::library_test
