#include <gtest/gtest.h>

#include "sim/base/hash.h"

namespace slmsim::identity_test {
namespace {

TEST(Identity, TellsTextsApartThatReadAlikeOneAfterAnother) {
  EXPECT_EQ(identity_of("1", {"ab", "c"}), identity_of("1", {"ab", "c"}));
  EXPECT_NE(identity_of("1", {"ab", "c"}), identity_of("1", {"a", "bc"}));
  EXPECT_NE(identity_of("1", {"ab", "c"}), identity_of("1", {"abc"}));
  EXPECT_NE(identity_of("1", {}), identity_of("1", {""}));
  EXPECT_NE(identity_of("1", {}), identity_of("2", {}));
  // FNV-1a of nothing is its basis.
  EXPECT_EQ(identity_of("", {}), "cbf29ce484222325");
}

}  // namespace
}  // namespace slmsim::identity_test
