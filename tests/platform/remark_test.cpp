#include <filesystem>

#include <gmock/gmock.h>

#include "sim/platform/platform.h"
#include "tests/platform/example.h"

namespace slmsim::remark_test {
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
      ElementsAre(HasSubstr("VM type box does not say how its GPUs reach each other: host memory is used, at 0.36")));
}

TEST(Remark, IsNoneWhereATypeSaysItOrNoGpuHasAnotherBesideIt) {
  for (const char* key : {"peer_to_peer: no", "nvlink: yes", "pcie_share: 0.36"})
    EXPECT_THAT(remarks_on(platform_of(with(kPair, "name: box", std::string("name: box, ") + key))), IsEmpty()) << key;
  EXPECT_THAT(remarks_on(platform_of(with(kPair, ", *g]", "]"))), IsEmpty());
}

TEST(Remark, SaysThatGpusLackTheWayThatATypeStates) {
  const auto told = [](const std::string& type, const std::string& gpu) {
    return remarks_on(platform_of(with(with(kPair, "name: box", "name: box, " + type), "nvlink: 80 GB/s,", gpu)));
  };
  EXPECT_THAT(told("nvlink: yes", ""),
              ElementsAre("VM type box says nvlink: yes, but g has no NVLink: the path through "
                          "host memory is used, at 0.36 of the PCIe rate; state nvlink: no"));
  EXPECT_THAT(told("nvlink: yes, peer_to_peer: yes", ""),
              ElementsAre(HasSubstr("g has no NVLink: PCIe from GPU to GPU is used, at 0.78")));
  EXPECT_THAT(told("peer_to_peer: yes", "peer_to_peer: no,"),
              ElementsAre(HasSubstr("says peer_to_peer: yes, which NVIDIA's driver does not support over PCIe on g")));
  // Over NVLink such cards do copy.
  EXPECT_THAT(told("nvlink: yes, peer_to_peer: yes", "nvlink: 50 GB/s, peer_to_peer: no,"), IsEmpty());
  EXPECT_THAT(told("peer_to_peer: yes", ""), IsEmpty());
}

TEST(Contradiction, IsOtherGpusOrMoreThanATypeComesWith) {
  const auto told = [](const std::string& comes_with) {
    return contradictions_in(
        platform_of(with(kPair, "name: box", "name: box, peer_to_peer: no, title: A box, " + comes_with)));
  };
  EXPECT_THAT(told("gpus: [g], gpu_count: 2"), IsEmpty());
  EXPECT_THAT(told("gpus: [other, g]"), IsEmpty());
  EXPECT_THAT(told("gpu_count: 8"), IsEmpty());  // fewer may be used
  EXPECT_THAT(
      told("gpus: [other], gpu_count: 4"),
      ElementsAre(
          "w is of type A box, which comes with 4 other, but has 2 g: its network card and price are used anyway"));
  EXPECT_THAT(told("gpus: [g], gpu_count: 1"), ElementsAre(HasSubstr("comes with 1 g, but has 2 g")));
  EXPECT_THAT(told("gpu_count: 1"), ElementsAre(HasSubstr("comes with 1 GPU, but has 2 g")));
}

// A name that is none would be a contradiction of every VM.
TEST(VmTypes, ComeWithGpusThatThereAre) {
  const std::filesystem::path platforms = SLMSIM_SOURCE_DIR "/platforms";
  int named = 0;
  for (const auto& file : std::filesystem::directory_iterator(platforms / "vms")) {
    Reading reading;
    const VmType type = read_vm_type(read_yaml(file.path()), "", reading);
    EXPECT_THAT(errors_of(reading), IsEmpty()) << file.path();
    EXPECT_NE(type.title, type.name) << file.path();
    for (const auto& gpu : type.gpus) {
      ++named;
      EXPECT_TRUE(std::filesystem::exists(platforms / "gpus" / (gpu + ".yaml"))) << file.path() << " " << gpu;
    }
  }
  EXPECT_GT(named, 20);
}

}  // namespace
}  // namespace slmsim::remark_test
