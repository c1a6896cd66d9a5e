// Machines from inventories of other programs. The files are small ones in the formats of these programs.
#include "sim/import/inventory/inventory.h"

#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>

#include "sim/import/inventory/fablib.h"
#include "tests/own_file.h"

namespace slmsim::inventory_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string file(const std::string& name) { return SLMSIM_SOURCE_DIR "/tests/import/inventory/files/" + name; }

std::string written(const std::string& name, const std::string& text) {
  const std::string path = own_file("-" + name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

// The first error, as it is printed.
std::string error_of(const auto& call) {
  try {
    call();
  } catch (const InputError& error) {
    return to_string(error.errors().front());
  }
  return "no error";
}

// Two nodes with GPUs at two sites, a third without, an L2STS network between a port of 25 and one of 100 Gbps.
void expect_the_slice(const Inventory& slice, bool knows_rate) {
  ASSERT_EQ(slice.machines.size(), 2u);
  const Machine &a = slice.machines[0], &b = slice.machines[1];
  EXPECT_EQ(a.name, "gpu-a");
  EXPECT_EQ(a.site, "UTAH");
  EXPECT_THAT(a.gpus, ElementsAre("rtx6000", "rtx6000"));
  ASSERT_TRUE(a.nic);
  EXPECT_DOUBLE_EQ(a.nic->value, 25e9 / 8);  // ConnectX-5
  EXPECT_EQ(b.site, "GPN");
  EXPECT_THAT(b.gpus, ElementsAre("t4"));
  EXPECT_DOUBLE_EQ(b.nic->value, 100e9 / 8);  // NIC_Basic
  EXPECT_THAT(slice.remarks, ElementsAre("head has no GPU and is skipped"));
  ASSERT_EQ(slice.connections.size(), 1u);
  const SiteLink& wan = slice.connections.front();
  EXPECT_TRUE((wan.from == "GPN" && wan.to == "UTAH") || (wan.from == "UTAH" && wan.to == "GPN"));
  EXPECT_EQ(wan.bandwidth.has_value(), knows_rate);
  if (knows_rate) {
    EXPECT_DOUBLE_EQ(wan.bandwidth->value, 25e9 / 8);
  }
  EXPECT_TRUE(wan.rtt);
}

TEST(Fablib, ReadsListsOfRecords) {
  expect_the_slice(
      read_fablib({file("nodes.json"), file("components.json"), file("networks.json"), file("interfaces.json")}), true);
}

TEST(Fablib, ReadsAContextInOneFile) { expect_the_slice(read_fablib({file("context.json")}), true); }

TEST(Fablib, ReadsPrintedTables) { expect_the_slice(read_fablib({file("slice.txt")}), true); }

TEST(Fablib, ReadsASavedSlice) { expect_the_slice(read_fablib({file("slice.graphml")}), false); }

// FABlib shows tables in notebooks as HTML; people keep the notebook.
TEST(Fablib, ReadsANotebookWithItsOutputs) { expect_the_slice(read_fablib({file("notebook.ipynb")}), true); }

TEST(Fablib, ReadsATableOfANotebookByItself) {
  expect_the_slice(
      read_fablib({file("nodes.html"), file("components.json"), file("networks.json"), file("interfaces.json")}), true);
}

TEST(Fablib, LeavesGpusToWhoTellsThem) {
  const Inventory slice = read_fablib({file("nodes.html"), file("networks.json")}, {.others = true});
  ASSERT_EQ(slice.machines.size(), 3u);
  for (const auto& machine : slice.machines) EXPECT_THAT(machine.gpus, IsEmpty());
  EXPECT_THAT(slice.remarks, IsEmpty());
}

TEST(Fablib, TakesTheOrderOfFilesAsItComes) {
  expect_the_slice(
      read_fablib({file("interfaces.json"), file("components.json"), file("nodes.json"), file("networks.json")}), true);
}

TEST(Fablib, TellsWhatIsMissing) {
  EXPECT_THAT(error_of([] { read_fablib({file("slice.json")}); }),
              HasSubstr("slice.json:1:1: error: these are a slice's own attributes (toJson), which hold no nodes"));
  EXPECT_THAT(error_of([] { read_fablib({file("components.json")}); }),
              HasSubstr("there are no nodes with sites in it"));
  EXPECT_THAT(error_of([] { read_fablib({file("nodes.json")}); }), HasSubstr("there are no components in it"));
  EXPECT_THAT(error_of([] { read_fablib({file("nodes.html")}); }), HasSubstr("or --gpu NODE=TYPE:COUNT"));
  const std::string empty = written("empty.ipynb", "{\"cells\": [{\"cell_type\": \"code\", \"outputs\": []}]}");
  EXPECT_THAT(error_of([&] { read_fablib({empty}); }), HasSubstr("empty.ipynb: error: there are no nodes with sites"));
  const std::string cut = written("cut.graphml", "<graphml>\n<graph>\n<node id=\"1\">\n<data key=\"d0\">x");
  EXPECT_THAT(error_of([&] { read_fablib({cut}); }), HasSubstr("cut.graphml:4:1: error: a data element is not closed"));
  const std::string edge =
      written("edge.graphml", "<graphml><graph>\n<edge source=\"1\" target=\"2\"/></graph></graphml>");
  EXPECT_THAT(error_of([&] { read_fablib({edge}); }), HasSubstr("edge.graphml:2:1: error: an edge between nodes"));
  const std::string gpu = written(
      "gpu.json",
      "[{\"name\": \"n\", \"site\": \"TACC\"},\n {\"name\": \"n-g\", \"node\": \"n\", \"model\": \"GPU_A31\"}]");
  EXPECT_THAT(error_of([&] { read_fablib({gpu}); }),
              HasSubstr("gpu.json:2:2: error: component \"n-g\" of node \"n\": there is no GPU \"A31\"; list them by "
                        "slmsim list gpus"));
}

// Table I of arXiv 2602.02632: what ping showed between these sites.
TEST(Fablib, EstimatesRoundTripsFromDistances) {
  const struct {
    const char *a, *b;
    double ms;
  } kPaths[] = {{"GATECH", "AMST", 103.0}, {"UTAH", "GPN", 20.2}, {"UTAH", "MASS", 57.4}, {"BRIS", "STAR", 95.9}};
  for (const auto& path : kPaths) {
    const auto rtt = fabric_rtt(path.a, path.b);
    ASSERT_TRUE(rtt);
    EXPECT_NEAR(rtt->value * 1e3, path.ms, 0.16 * path.ms) << path.a << " " << path.b;
    EXPECT_EQ(rtt->value, fabric_rtt(path.b, path.a)->value);
  }
  EXPECT_FALSE(fabric_rtt("UTAH", "MOON"));
}

TEST(GpuNames, AreThoseOfDriversAndTestbedsToo) {
  const std::pair<const char*, const char*> kNames[] = {
      {"a10", "a10"},
      {"NVIDIA A10", "a10"},
      {"NVIDIA A10G", "a10g"},
      {"Tesla T4", "t4"},
      {"GPU_TeslaT4", "t4"},
      {"GPU_RTX6000", "rtx6000"},
      {"Quadro RTX 6000", "rtx6000"},
      {"NVIDIA RTX 6000 Ada Generation", "rtx6000-ada"},
      {"NVIDIA GeForce RTX 3090", "rtx3090"},
      {"NVIDIA A100-SXM4-40GB", "a100-40"},
      {"NVIDIA A100-SXM4-80GB", "a100-80"},
      {"NVIDIA A100 80GB PCIe", "a100-pcie"},
      {"NVIDIA A100-PCIE-40GB", "a100-pcie40"},
      {"NVIDIA RTX A4000", "a4000"},
      {"NVIDIA GeForce RTX 3080", "rtx3080"},
      {"NVIDIA GeForce RTX 5090", "rtx5090"},
      {"Tesla V100-SXM2-16GB", "v100-16"},
      {"Tesla V100-PCIE-32GB", "v100-pcie"},
      {"Tesla P100-PCIE-16GB", "p100-pcie"},
      {"NVIDIA H100 80GB HBM3", "h100"},
      {"NVIDIA H100 PCIe", "h100-pcie"},
      {"NVIDIA H200", "h200"},
      {"GPU_A40", "a40"},
      {"NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)", "a100-pcie40"},
      {"01:00.0 3D controller [0302]: NVIDIA Corporation GV100GL [Tesla V100 SXM2 16GB] [10de:1db1] (rev a1)",
       "v100-16"},
      {"NVIDIA Corporation AD102 [GeForce RTX 4090] (rev a1)", "rtx4090"},
      {"NVIDIA Corporation TU102 [GeForce RTX 2080 Ti Rev. A]", "rtx2080ti"},
      {"NVIDIA Corporation AD102GL [L40S]", "l40s"},
      {"NVIDIA Corporation AD102GL [RTX 6000 Ada Generation]", "rtx6000-ada"},
      {"NVIDIA Corporation GH100 [H100 PCIe]", "h100-pcie"},
  };
  for (const auto& [called, name] : kNames) EXPECT_EQ(gpu_called(called), name) << called;
  for (const char* none : {"", "gpu", "NVIDIA", "a11", "tpu-v4", "NVIDIA Corporation GV100GL [Tesla V100 SXM2]",
                           "Mellanox Technologies MT28908 Family [ConnectX-6]"})
    EXPECT_EQ(gpu_called(none), "") << none;
  for (const auto& name : gpu_list()) EXPECT_EQ(gpu_called(gpu_title(name)), name);
}

TEST(Inventory, ReadsCountsOfGpus) {
  EXPECT_THAT(read_gpus("a10:2", {}), ElementsAre("a10", "a10"));
  EXPECT_THAT(read_gpus("t4,a30:2", {}), ElementsAre("t4", "a30", "a30"));
  EXPECT_THAT(error_of([] { read_gpus("a10:two", {}); }), HasSubstr("\"two\" is not a number of GPUs"));
  EXPECT_THAT(error_of([] { read_gpus("a11:2", {}); }),
              HasSubstr("there is no GPU \"a11\"; list them by slmsim list gpus"));
}

void expect_the_hosts(const Inventory& inventory) {
  ASSERT_EQ(inventory.machines.size(), 4u);
  for (const auto& machine : inventory.machines) {
    SCOPED_TRACE(machine.name);
    if (machine.name == "login.lab.example.org") {
      EXPECT_THAT(machine.gpus, IsEmpty());
    } else if (machine.name == "vm-1") {
      EXPECT_THAT(machine.gpus, ElementsAre("t4"));
      EXPECT_EQ(machine.site, "azure");
      EXPECT_EQ(machine.type, "azure-nc4as-t4-v3");
      EXPECT_DOUBLE_EQ(machine.nic->value, 1e9);
    } else {
      EXPECT_THAT(machine.name, testing::MatchesRegex("node0[12]\\.lab\\.example\\.org"));
      EXPECT_EQ(machine.site, "lab");
      EXPECT_FALSE(machine.nic);
    }
  }
}

TEST(Ansible, ReadsBothFormsAlike) {
  expect_the_hosts(read_ansible(file("inventory.ini")));
  expect_the_hosts(read_ansible(file("inventory.yaml")));
}

TEST(Ansible, ReadsRangesPortsAndGroupsOfGroups) {
  const Inventory inventory = read_ansible(file("ranges.ini"));
  std::map<std::string, Machine> found;
  for (const auto& machine : inventory.machines) found[machine.name] = machine;
  ASSERT_EQ(inventory.machines.size(), 1u + 3 + 4 + 3 + 4);
  for (const char* name : {"gpu01.lab.example.org", "gpu03.lab.example.org", "old1", "old5", "old9"}) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_THAT(found[name].gpus, ElementsAre("a30", "a30")) << name;
    EXPECT_EQ(found[name].site, "hall 1");
  }
  for (const char* name : {"rack1-gpua", "rack1-gpub", "rack2-gpua", "rack2-gpub"}) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_THAT(found[name].gpus, ElementsAre("t4", "t4", "t4", "t4")) << name;
  }
  for (const char* name : {"login01", "weka04.example.org"}) EXPECT_THAT(found[name].gpus, IsEmpty()) << name;
}

TEST(Ansible, ReadsWhatAnsibleInventoryLists) {
  const Inventory inventory = read_ansible(file("inventory-list.json"));
  ASSERT_EQ(inventory.machines.size(), 3u);
  for (const auto& machine : inventory.machines) {
    EXPECT_EQ(machine.site, machine.name == "login" ? "" : "hall");
    const auto gpus = machine.name == "gpu01"   ? std::vector<std::string>{"a30", "a30"}
                      : machine.name == "gpu02" ? std::vector<std::string>(4, "t4")
                                                : std::vector<std::string>{};
    EXPECT_EQ(machine.gpus, gpus) << machine.name;
  }
}

TEST(Ansible, ReadsAHostfileOfMpi) {
  const Inventory hosts = read_ansible(file("hostfile"));
  ASSERT_EQ(hosts.machines.size(), 2u);
  EXPECT_THAT(hosts.machines[1].gpus, ElementsAre("a30", "a30", "a30", "a30"));
}

TEST(Ansible, TellsPlaceAndCause) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"[lab\nnode1\n", ":1:2: error: \"[lab\" is no"},
      {"[lab:hosts]\n", ":1:1: error: [lab:hosts] is unknown; known are vars and children"},
      {"\nnode1 gpus a10\n", ":2:7: error: \"gpus\" is not a variable; the form is KEY=VALUE"},
      {"node1 gpus=a11\n", ":1:7: error: there is no GPU \"a11\"; list them by slmsim list gpus"},
      {"node1 gpus=a10 nic=8\n", ":1:16: error: nic: \"8\" has no unit"},
      {"node[1:x] gpus=a10\n", ":1:1: error: \"node[1:x]\" is not a range of hosts; the form is node[01:08]"},
      {"node[1:99999999] gpus=a10\n", ":1:1: error: \"node[1:99999999]\" is not a range of hosts"},
      {"# nothing\n", "error: there are no hosts in it"},
  };
  for (const auto& [text, error] : kWrong) {
    const std::string path = written("wrong.ini", text);
    const std::string told = error_of([&] { read_ansible(path); });
    if (std::string(text) == "[lab\nnode1\n") {
      EXPECT_THAT(told, HasSubstr("wrong.ini:1:"));
    } else {
      EXPECT_THAT(told, HasSubstr(error)) << text;
    }
  }
  EXPECT_THAT(error_of([] { read_ansible("no-such.ini"); }), HasSubstr("no-such.ini: error: no such file"));
  const std::string yaml = written("wrong.yaml", "all:\n  hots:\n    a: {}\n");
  EXPECT_THAT(error_of([&] { read_ansible(yaml); }), HasSubstr(":2:3: error: \"hots\" is unknown in group all"));
}

TEST(Ansible, EndsWhereGroupsHoldEachOther) {
  const std::string path = written("ring.ini", "h gpus=a10\n[a:children]\nb\n[b:children]\na\n[c:children]\na\n");
  EXPECT_EQ(read_ansible(path).machines.size(), 1u);
}

TEST(SshConfig, TakesWhatCommentsSay) {
  const Inventory hosts = read_ssh_config(file("ssh_config"));
  ASSERT_EQ(hosts.machines.size(), 3u);
  EXPECT_EQ(hosts.machines[0].name, "desk");
  EXPECT_EQ(hosts.machines[0].site, "office");
  EXPECT_THAT(hosts.machines[0].gpus, ElementsAre("rtx3090"));
  EXPECT_THAT(hosts.machines[1].gpus, IsEmpty());  // the bastion
  EXPECT_EQ(hosts.machines[2].name, "rented");
  EXPECT_THAT(hosts.machines[2].gpus, ElementsAre("a100-40", "a100-40"));
  EXPECT_DOUBLE_EQ(hosts.machines[2].nic->value, 2e9);
}

TEST(SshConfig, FollowsIncludesAndTakesWhatComesFirst) {
  const Inventory hosts = read_ssh_config(file("ssh_config_parts"));
  std::vector<std::string> names;
  for (const auto& machine : hosts.machines) names.push_back(machine.name);
  ASSERT_THAT(names, ElementsAre("lab1", "lab2", "desk", "tower"));
  EXPECT_THAT(hosts.machines[0].gpus, ElementsAre("a30", "a30"));
  EXPECT_EQ(hosts.machines[1].site, "lab");
  EXPECT_THAT(hosts.machines[2].gpus, ElementsAre("rtx3090"));  // the first block's, not the second's or Match's
  EXPECT_EQ(hosts.machines[2].site, "office");
  EXPECT_THAT(hosts.machines[3].gpus, ElementsAre("rtx3090"));
}

TEST(SshConfig, EndsWhereFilesIncludeEachOther) {
  const std::string path = own_file("_config");
  std::ofstream(path) << "Include " << path << "\nHost a\n";
  EXPECT_THAT(error_of([&] { read_ssh_config(path); }), HasSubstr(":1:1: error: files include each other too deeply"));
}

TEST(Setup, MarksAndTellsWhatItAssumes) {
  SetupRequest request;
  request.name = "mine";
  request.command = "slmsim init";
  request.models = {{"gpt2m"}};
  request.techniques = {{"DDP"}, {"DiLoCo: {inner_steps: 100}", "one exchange in 100 steps"}};
  request.batch = {"24", "assumed"};
  request.micro_batch = {"4"};
  request.inventory.machines.resize(2);
  request.inventory.machines[0] = {.name = "10.0.0.1", .site = "lab", .gpus = {"rtx3090"}, .place = {}};
  request.inventory.machines[1] = {
      .name = "b.example.org", .site = "Cloud West", .gpus = {"a100-40", "a100-40"}, .place = {}};
  const auto setup = set_up(request);
  EXPECT_EQ(setup.gpus, 3);
  EXPECT_EQ(setup.sites, 2);
  EXPECT_THAT(setup.platform, HasSubstr("  10-0-0-1:  # 10.0.0.1\n    site: lab\n    type: workstation  # assumed"));
  EXPECT_THAT(setup.platform,
              HasSubstr("  b:  # b.example.org\n    site: cloud-west\n    type: nvlink-server  # assumed"));
  EXPECT_THAT(setup.platform, HasSubstr("rtt: {value: 30 ms, provenance: assumed, source: \"assumed by slmsim init; "));
  EXPECT_THAT(setup.scenario, HasSubstr("  DDP: {}\n  DiLoCo: {inner_steps: 100}  # one exchange in 100 steps\n"));
  EXPECT_THAT(setup.scenario, HasSubstr("  batch: 24  # assumed\n  micro_batch: 4\n"));
  EXPECT_THAT(setup.assumed,
              testing::Contains(
                  HasSubstr("lab-cloud-west: rtt 30 ms, bandwidth 1 Gbps, rate of all traffic together, loss 1e-5")));
}

// Groups that a scenario without `groups` compares.
TEST(Setup, ComparesSitesAndPairsOfThem) {
  const auto groups = [](const std::vector<std::string>& sites) {
    SetupRequest request;
    request.name = "mine";
    for (std::size_t i = 0; i < sites.size(); ++i)
      request.inventory.machines.push_back(
          {.name = "m" + std::to_string(i), .site = sites[i], .gpus = {"t4"}, .place = {}});
    const std::string text = set_up(request).scenario;
    return text.substr(text.find("groups: "), text.find(']', text.find("groups: ")) + 1 - text.find("groups: "));
  };
  EXPECT_EQ(groups({"a", "a"}), "groups: [all, each]");
  EXPECT_EQ(groups({"a", "b"}), "groups: [all, each]");
  EXPECT_EQ(groups({"a", "a", "b"}), "groups: [all, sites, each]");
  EXPECT_EQ(groups({"a", "b", "c"}), "groups: [all, pairs, each]");
  EXPECT_EQ(groups({"a", "b", "c", "c"}), "groups: [all, pairs, sites, each]");
  EXPECT_EQ(groups({"a", "b", "c", "d", "e"}), "groups: [all, each]");
}

TEST(Setup, RefusesMachinesWithoutGpus) {
  SetupRequest request;
  request.inventory.machines.resize(1);
  request.inventory.machines[0].name = "a";
  EXPECT_THAT(error_of([&] { set_up(request); }), HasSubstr("a states no GPUs; state gpus=TYPE:COUNT"));
}

}  // namespace
}  // namespace slmsim::inventory_test
