#include "sim/predict/assumption.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/describe.h"
#include "tests/named.h"
#include "tests/own_file.h"

namespace slmsim::assumption_test {
namespace {

std::string about(const Scenario& scenario, const std::string& key) {
  const auto all = assumptions_of(scenario);
  const auto found = std::find_if(all.begin(), all.end(), [&](const Assumption& one) { return one.about == key; });
  return found == all.end() ? "" : found->text;
}

TEST(Assumption, TellsThatAGpuEmulatesBf16) {
  const std::filesystem::path file = SLMSIM_SOURCE_DIR "/scenarios/tacc-tacc.yaml";
  const auto told = [&](std::vector<std::string> overrides, const std::string& key) {
    return about(load_scenario(file, overrides), key);
  };
  const std::string shared = "software.matrix_efficiency.Turing=0.2";
  EXPECT_EQ(told({"training.precision=bf16", shared}, "t4.peak.bf16"),
            "t4 has no bf16, which PyTorch emulates: products reach 1.62 TFLOP/s; training.precision: fp16 has 65 "
            "TFLOP/s");
  EXPECT_EQ(told({}, "t4.peak.fp16"), "");
  EXPECT_EQ(told({"training.precision=tf32"}, "t4.peak.tf32"), "t4 has no tf32: products run at the rate of fp32");
}

TEST(Assumption, TellsSizesThatAConfigLeavesToItsClass) {
  const auto file = own_file("config.json");
  std::ofstream(file) << R"({"model_type": "llama", "name": "mine", "hidden_size": 64, "num_attention_heads": 4,
                             "num_hidden_layers": 2, "vocab_size": 100, "sequence": 512, "intermediate_size": 128})";
  EXPECT_EQ(about(load_scenario(SLMSIM_SOURCE_DIR "/scenarios/tacc-tacc.yaml", {"models=" + file.string()}), "models"),
            "mine: by default num_key_value_heads 4, as in transformers; state yours in its config.json");
}

// Flash attention needs 8.0 and 16 bits; what runs in its place is named.
TEST(Assumption, TellsOfAttentionThatAGpuCannotRun) {
  const std::filesystem::path file = SLMSIM_SOURCE_DIR "/scenarios/tacc-tacc.yaml";
  const auto told = [&](const std::string& precision) {
    return about(
        load_scenario(file, {"software.attention=flash", "software.stack=compiled", "training.precision=" + precision}),
        "t4.attention");
  };
  EXPECT_EQ(told("fp16"), "t4 runs attention memory_efficient in fp16, in place of flash");
  EXPECT_EQ(told("fp32"), "t4 runs attention memory_efficient in fp32, in place of flash");
  EXPECT_EQ(
      about(load_scenario(file, {"platform.vms.tacc-t4.gpus.0=a30", "software.attention=flash"}), "a30.attention"), "");
}

// Triton needs 7.0.
TEST(Remark, SaysThatAGpuIsTooOldForAStack) {
  const std::filesystem::path file = SLMSIM_SOURCE_DIR "/scenarios/tacc-tacc.yaml";
  const auto remarks = [&](const std::string& stack, const std::string& gpu) {
    return predict(load_scenario(file, {"software.stack=" + stack, "models=gpt2m", "groups=all", "techniques=[DDP]",
                                        "platform.vms.tacc-t4.gpus.0=" + gpu}))
        .front()
        .remarks;
  };
  const std::string old = "p100 has compute capability 6.0, and stack compiled needs 7.0: its kernels do not run there";
  EXPECT_THAT(remarks("compiled", "p100"), testing::Contains(testing::StartsWith(old)));
  for (const auto& [stack, gpu] : {std::pair{"eager", "p100"}, {"compiled", "v100"}})
    EXPECT_THAT(remarks(stack, gpu), testing::Not(testing::Contains(testing::HasSubstr("compute capability"))));
}

// Two machines at one site, a third at another, of which nobody said anything that a default answers.
std::string bare_scenario() {
  const std::string path = own_file(".yaml");
  std::ofstream(path) << R"(platform:
  name: bare
  sites: {a: {}, b: {}}
  vms:
    x: {site: a, type: {name: own, nic: 10 Gbps, device_latency: 5 us, peer_to_peer: no, tcp: {net.ipv4.tcp_rmem: 6 MiB, net.ipv4.tcp_wmem: 4 MiB, copy_rate: 1 GB/s}}, gpus: [a30, a30]}
    y: {site: a, type: campus-server, gpus: [a30], count: 2}
    z: {site: b, type: campus-server, gpus: [t4]}
  links: {l: {between: [a, b], rtt: 20 ms, bandwidth: 1 Gbps}}
models: [gpt2]
techniques: {Data: {micro_batches: 1}, DDP: {}, ZeRO-3: {}}
training: {batch: 10, epochs: 1, blocks_per_epoch: 1000}
software: {stack: eager}
)";
  return path;
}

// platform.vms.x.type.nic is platform.vms.NAME.type.nic.
std::string general(const std::string& path) {
  std::string out = path;
  for (const char* map : {"platform.vms.", "platform.sites.", "platform.links.", "techniques."}) {
    if (!out.starts_with(map)) continue;
    const std::size_t begin = std::string(map).size();
    out.replace(begin, out.find('.', begin) - begin, "NAME");
  }
  return out;
}

// A default is either a program's behaviour unless configured otherwise, or a guess about a machine, which is listed
// until it is stated. A new key with a default must be put on one side: here, or by FileKey::measured_by.
TEST(Assumption, EveryDefaultIsOneOrIsListedAsNone) {
  const std::set<std::string> kNoGuess = {
      // definitions, and a user's choices
      "training.batch",
      "training.batch_tokens",
      "training.micro_batch",
      "training.gradient_accumulation",
      "training.gradient_precision",
      "training.optimizer",
      "training.precision",
      "training.rematerialisation",
      "training.tokens",
      "training.samples",
      "training.epochs",
      "training.blocks_per_epoch",
      "training.tokens_per_epoch",
      "platform.links.NAME.rtt",
      "platform.links.NAME.bandwidth",  // required without a measured path
      "platform.sites.NAME.transit",
      "platform.links.NAME.transit",
      "platform.links.NAME.forward_delay",
      "platform.vms.NAME.count",
      // offloading is refused without it, and where it is no shipped type's it is the user's
      "platform.vms.NAME.host_memory",
      "platform.vms.NAME.type.host_memory",
      "platform.vms.NAME.nic",
      "platform.vms.NAME.power_limit",
      "platform.vms.NAME.price_per_hour",
      "platform.vms.NAME.type.currency",
      "platform.vms.NAME.type.price_per_hour",
      "platform.vms.NAME.type.gpu_count",
      // told by remarks_on where it matters
      "platform.vms.NAME.type.peer_to_peer",
      "platform.vms.NAME.type.nvlink",
      // which hardware a VM is of: without these keys it is the plain one
      "platform.vms.NAME.type.cloud",
      "platform.vms.NAME.type.rdma",
      // in proportion to the stack's figures, which are listed as a whole
      "platform.vms.NAME.type.host",
      // the stack's, which is listed as a whole
      "software.attention",
      "software.loss_memory",
      "software.recompute_stops_early",
      // DeepSpeed's own defaults, which hold unless its user changes them (deepspeed/runtime/zero/config.py)
      "software.framework.sub_group",
      "software.framework.io_block",
      "software.framework.io_depth",
      "software.framework.reduce_bucket",
      "software.framework.allgather_bucket",
      "software.framework.live_parameters",
      // Megatron-LM's own buffers
      "software.framework.gradient_copies",
  };
  const Scenario scenario = load_scenario(bare_scenario());
  std::set<std::string> guesses;
  for (const auto& one : scenario.defaults) guesses.insert(general(one.path));
  // Keys of the maps that describe machines and software; options of techniques are choices but for `startup`.
  const KeyTree keys = describe(describe_scenario);
  std::set<std::string> all;
  for (const char* map : {"training", "software", "software.framework", "platform.sites.NAME", "platform.links.NAME",
                          "platform.vms.NAME", "platform.vms.NAME.type", "platform.vms.NAME.type.tcp"}) {
    const auto alternatives = keys.alternatives(map);
    ASSERT_FALSE(alternatives.empty()) << map;
    for (const auto& alternative : alternatives) {
      for (const auto& key : alternative.keys) {
        const bool value = std::any_of(key.types.begin(), key.types.end(), [](const ValueType& type) {
          return type.kind <= ValueType::Kind::kChoice || type.kind == ValueType::Kind::kName;
        });
        if (value && !key.required && key.key != kAnyName) all.insert(std::string(map) + "." + key.key);
      }
    }
  }
  for (const auto& key : all) EXPECT_NE(guesses.contains(key), kNoGuess.contains(key)) << key << " is neither or both";
  EXPECT_TRUE(guesses.contains("techniques.NAME.startup"));
}

TEST(Assumption, TellsEveryGuessWithWhatMeasuresItAndForgetsWhatIsStated) {
  const std::string file = bare_scenario();
  const Scenario scenario = load_scenario(file);
  const auto all = assumptions_of(scenario);
  const auto told = [](const std::vector<Assumption>& list, const std::string& path) {
    return std::find_if(list.begin(), list.end(), [&](const Assumption& one) {
      return one.about == path || std::find(one.more.begin(), one.more.end(), path) != one.more.end();
    });
  };
  // Values of a VM's type are listed once, by the path of the first VM; a site with one VM has no inner link.
  // Nothing is kept in memory that x does not state.
  const std::set<std::string> kElsewhere = {"platform.sites.b.rtt", "platform.sites.b.mtu",
                                            "platform.vms.x.type.host_memory_rate"};
  const auto now = predict(load_scenario(file, {"groups=all"}));
  int guesses = 0;
  for (const auto& one : scenario.defaults) {
    SCOPED_TRACE(one.path);
    const auto at = told(all, one.path);
    if (one.path.starts_with("platform.vms.z.type.") || kElsewhere.contains(one.path)) continue;
    ASSERT_NE(at, all.end());
    EXPECT_EQ(at->measure, one.measure);
    EXPECT_THAT(at->text, testing::HasSubstr("measure with " + std::string(one.measure)));
    EXPECT_THAT(at->text, testing::HasSubstr(one.value));
    ++guesses;
    // Keys of sysctl hold dots, and lists of techniques have no maps to set.
    if (one.path.find("tcp.net") != std::string::npos) continue;
    // The listed value is the one in use.
    const Scenario stated = load_scenario(file, {"groups=all", one.path + "=" + one.value});
    const auto then = assumptions_of(stated);
    EXPECT_EQ(told(then, one.path), then.end());
    const auto predictions = predict(stated);
    for (std::size_t i = 0; i < now.size(); ++i)
      EXPECT_NEAR(predictions[i].job / now[i].job, 1, 1e-9) << now[i].technique->name;
  }
  EXPECT_GE(guesses, 20);
}

const Prediction& of(const std::vector<Prediction>& all, const std::string& technique,
                     const std::vector<std::string>& group) {
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const Prediction& p) { return p.technique->name == technique && p.group == group; });
  EXPECT_NE(at, all.end());
  return *at;
}

TEST(Assumption, BearsOnPredictionsThatUseWhatItIsAbout) {
  const Scenario scenario =
      load_scenario(bare_scenario(), {"groups=[[x], [y0, y1], [x, z], all]", "training.batch=20"});
  const auto all = predict(scenario);
  const auto rests = [&](const std::string& technique, const std::vector<std::string>& group, const char* key) {
    const auto& keys = of(all, technique, group).assumed;
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  const std::vector<std::string> x = {"x"}, ys = {"y0", "y1"}, apart = {"x", "z"};
  // Alone a VM sends nothing: no round trip, no sockets.
  EXPECT_FALSE(rests("Data", x, "platform.sites.a.rtt"));
  EXPECT_FALSE(rests("Data", x, "platform.vms.x.type.tcp.receive_window_share"));
  EXPECT_TRUE(rests("Data", x, "platform.vms.x.type.pcie_share"));
  EXPECT_TRUE(rests("Data", ys, "platform.sites.a.rtt"));  // of VMs by count, too
  EXPECT_FALSE(rests("Data", ys, "platform.links.l.loss"));
  EXPECT_TRUE(rests("Data", apart, "platform.links.l.loss"));
  EXPECT_FALSE(rests("Data", apart, "platform.sites.a.rtt"));
  EXPECT_TRUE(rests("Data", apart, "platform.vms.x.type.tcp.receive_window_share"));
  // The time of DeepSpeed's hooks affects stage 3 alone, a driver's messages only techniques with a driver.
  EXPECT_TRUE(rests("ZeRO-3", x, "software.framework.module_hook"));
  EXPECT_FALSE(rests("DDP", x, "software.framework.module_hook"));
  EXPECT_TRUE(rests("Data", x, "training.control_round_trips"));
  EXPECT_FALSE(rests("DDP", x, "training.control_round_trips"));
  EXPECT_TRUE(rests("DDP", x, "techniques.DDP.startup"));
  EXPECT_FALSE(rests("DDP", x, "techniques.Data.startup"));
  EXPECT_FALSE(rests("ZeRO-3", x, "software.framework.cpu_adam_rate"));
  EXPECT_THAT(of(all, "Data", x).measures,
              testing::ElementsAre("calibrate/reference/torch_step.py", "slmsim fit", "slmsim-calibrate"));
}

TEST(Assumption, TellsWhatFilesCallAssumedInferredOrTypical) {
  const std::string file = bare_scenario();
  const auto with = [&](const std::string& provenance) {
    return about(
        load_scenario(file, {"platform.links.l.loss={value: 1e-4, provenance: " + provenance + ", source: somewhere}"}),
        "platform.links.l.loss");
  };
  EXPECT_EQ(with("typical"),
            "link l: loss 1e-4, by default mtu 1500 B, bandwidth_of path; measure with slmsim-netprobe");
  EXPECT_EQ(
      with("inferred"),
      "link l: loss 1e-4 (fitted elsewhere), by default mtu 1500 B, bandwidth_of path; measure with slmsim-netprobe");
  EXPECT_EQ(with("assumed"),
            "link l: loss 1e-4 (a guess), by default mtu 1500 B, bandwidth_of path; measure with slmsim-netprobe");
  for (const char* known : {"measured", "datasheet"}) EXPECT_EQ(with(known), "") << known;
}

TEST(Assumption, ForgetsATypesPriceWhereTheVmStatesItsOwn) {
  const auto price = [](const Overrides& set) {
    return about(load_scenario(SLMSIM_SOURCE_DIR "/docs/examples/1-one-gpu/scenario.yaml", set),
                 "platform.vms.desk.type.price_per_hour");
  };
  Overrides set = {"platform.vms.desk.type=aws-g4dn-xlarge"};
  EXPECT_THAT(price(set), testing::HasSubstr("price_per_hour 0.526"));
  set.emplace_back("platform.vms.desk.price_per_hour=0.5");
  EXPECT_EQ(price(set), "");
}

}  // namespace
}  // namespace slmsim::assumption_test
