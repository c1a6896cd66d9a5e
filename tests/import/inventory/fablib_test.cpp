// FABlib's component.show(): GPUs by their model or details, and the distance of two sites without a network.
#include "sim/import/inventory/fablib.h"

#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "sim/import/inventory/inventory.h"
#include "tests/errors_of.h"
#include "tests/fit/written.h"

namespace slmsim::fablib_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const auto& call) {
  const auto errors = errors_of(call);
  return errors.empty() ? "" : errors.front();
}

// Two nodes of FABlib's show(), whose GPUs have these models and details.
std::string shown(const std::string& model, const std::string& details) {
  const auto table = [](std::initializer_list<std::pair<const char*, std::string>> rows) {
    std::string out = "<table>\n";
    for (const auto& [key, value] : rows) out += "<tr><td>" + std::string(key) + "</td><td>" + value + "</td></tr>\n";
    return out + "</table>\n";
  };
  std::string out;
  for (const auto& [node, site] : {std::pair{"a1", "AMST"}, {"b2", "GATECH"}}) {
    out += table({{"ID", "1"}, {"Name", node}, {"Cores", "8"}, {"Site", site}, {"State", "Active"}});
    out += table({{"Name", std::string(node) + "-gpu1"},
                  {"Short Name", "gpu1"},
                  {"Details", details},
                  {"PCI Address", "['0000:07:00.0']"},
                  {"Model", model},
                  {"Type", "GPU"},
                  {"Node", node}});
  }
  return written(fmt::format("shown-{}.html", std::hash<std::string>()(out)), out).string();
}

// component.show() of a running slice has no model; the details are lspci's.
TEST(FablibShow, TakesTheGpuFromTheDetails) {
  const std::pair<const char*, const char*> kDetails[] = {
      {"NVIDIA Corporation GA100GL [A30 PCIe] (rev a1)", "a30"},
      {"NVIDIA Corporation GA102GL [A40] (rev a1)", "a40"},
      {"NVIDIA Corporation TU104GL [Tesla T4] (rev a1)", "t4"},
      {"NVIDIA Corporation TU102GL [Quadro RTX 6000/8000] (rev a1)", "rtx6000"},
  };
  for (const auto& [details, name] : kDetails) {
    const Inventory slice = read_fablib({shown("None", details)});
    ASSERT_EQ(slice.machines.size(), 2u) << details;
    for (const auto& machine : slice.machines) EXPECT_THAT(machine.gpus, ElementsAre(name)) << details;
  }
}

TEST(FablibShow, NamesTheComponentWhoseGpuIsUnknown) {
  const std::string file = shown("None", "NVIDIA Corporation Device 20b7 (rev a1)");
  EXPECT_THAT(error_of([&] { read_fablib({file}); }),
              HasSubstr("component \"a1-gpu1\" of node \"a1\": no model is stated, and no GPU is called \"NVIDIA "
                        "Corporation Device 20b7 (rev a1)\"; give --gpu a1=TYPE:COUNT"));
  EXPECT_THAT(error_of([] { read_fablib({shown("None", "None")}); }),
              HasSubstr("component \"a1-gpu1\" of node \"a1\": no model is stated; give --gpu a1=TYPE:COUNT"));
  EXPECT_THAT(error_of([&] { read_fablib({file}, {.nodes = {"a1"}}); }), HasSubstr("of node \"b2\""));
  EXPECT_EQ(read_fablib({file}, {.nodes = {"a1", "b2"}}).machines.size(), 2u);
  EXPECT_EQ(read_fablib({file}, {.others = true}).machines.size(), 2u);
}

// A notebook shows a component before and after the slice runs.
TEST(FablibShow, TakesTheTableThatNamesTheGpu) {
  const Inventory slice = read_fablib({shown("None", "None"), shown("GPU_A30", "None")});
  ASSERT_EQ(slice.machines.size(), 2u);
  EXPECT_THAT(slice.machines[0].gpus, ElementsAre("a30"));
}

TEST(FablibShow, KnowsTheDistanceWithoutANetwork) {
  const Inventory slice = read_fablib({shown("A30", "None")});
  ASSERT_EQ(slice.connections.size(), 1u);
  EXPECT_EQ(slice.connections[0].rtt->value, fabric_rtt("AMST", "GATECH")->value);
  EXPECT_FALSE(slice.connections[0].bandwidth);
  SetupRequest request;
  request.name = "mine";
  request.inventory = slice;
  EXPECT_THAT(set_up(request).platform, HasSubstr("provenance: typical, source: \"distance of the cities"));
}

}  // namespace
}  // namespace slmsim::fablib_test
