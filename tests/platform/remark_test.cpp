#include "sim/platform/remark.h"

#include <gmock/gmock.h>

#include "tests/platform/example.h"

namespace slmsim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string with(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

TEST(Remark, SaysOnceWhatIsTakenWhereATypeDoesNotSayHowGpusReachEachOther) {
  const std::string two = kPair + "  other: *vm\n";
  EXPECT_THAT(
      remarks_on(platform_of(two)),
      ElementsAre(HasSubstr("VM type box does not say how its GPUs reach each other: through host memory, at 0.36")));
}

TEST(Remark, IsNoneWhereATypeSaysItOrNoGpuHasAnotherBesideIt) {
  for (const char* key : {"peer_to_peer: no", "nvlink: yes", "pcie_share: 0.36"})
    EXPECT_THAT(remarks_on(platform_of(with(kPair, "name: box", std::string("name: box, ") + key))), IsEmpty()) << key;
  EXPECT_THAT(remarks_on(platform_of(with(kPair, ", *g]", "]"))), IsEmpty());
}

}  // namespace
}  // namespace slmsim
