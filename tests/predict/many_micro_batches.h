// Ways to train by many micro-batches, on four GPUs nearby and far apart, and on nodes.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/predict/whole.h"

namespace slmsim::many_micro_batches {

inline constexpr const char* kFour =
    "sites: {lab: {rtt: 20 us}}, vms: {a: {site: lab, type: fabric-vm, gpus: [a30, a30]}, "
    "b: {site: lab, type: fabric-vm, gpus: [t4, t4]}}";
inline constexpr const char* kFar =
    "sites: {lab: {rtt: 20 us}, far: {rtt: 20 us}}, vms: {a: {site: lab, type: fabric-vm, gpus: [a30, a30]}, "
    "b: {site: far, type: fabric-vm, gpus: [a30, a30]}}, "
    "links: {wan: {between: [lab, far], rtt: 30 ms, bandwidth: 10 Gbps}}";
inline constexpr const char* kNodes =
    "sites: {lab: {rtt: 20 us}}, vms: {node: {count: 4, site: lab, type: dgx-a100, gpus: [a100-40, a100-40, "
    "a100-40, a100-40, a100-40, a100-40, a100-40, a100-40]}}";

struct Case {
  std::string name, technique, platform;
  int batch = 256;
  bool counts = false;  // whether few micro-batches must tell, and 64 are enough to find out
  std::string model = "{name: small, family: gpt2, hidden: 256, heads: 8, layers: 8, sequence: 128, vocabulary: 4096}";
  std::string stack = "eager";
};

inline Scenario scenario_of(const Case& c) {
  return scenario_from(
      fmt::format("models: [{}]\nsoftware: {{stack: {}}}\n"
                  "techniques: {{{}}}\ngroups: all\n"
                  "training: {{batch: {}, epochs: 1, blocks_per_epoch: 2560, precision: fp16}}\n"
                  "platform: {{name: many, {}}}\n",
                  c.model, c.stack, c.technique, c.batch, c.platform));
}

inline std::vector<Case> cases() {
  std::vector<Case> out;
  const auto on = [&](const char* where, const char* platform) {
    const auto add = [&](const std::string& name, const std::string& technique, bool counts = false) {
      out.push_back({name + where, technique, platform, 256, counts});
    };
    const bool near = platform == kFour;
    add("Shard", "Shard: {micro_batches: 64}", true);
    add("ShardByTime", "Shard: {micro_batches: 64, planner: slmsim}", true);
    // The exchange once per iteration finds windows that depend on the pause before, which only all micro-batches show.
    add("Data", "Data: {micro_batches: 64}", near);
    add("Zero2", "ZeRO2: {micro_batches: 64}", near);
    add("DdpOnce", "DDP: {micro_batches: 64, no_sync: yes}");
    add("Zero1", "ZeRO-1: {micro_batches: 64}");
    add("LocalSgd", "LocalSGD: {micro_batches: 64, inner_steps: 4}");
    add("LocalSgdOfNodes", "LocalSGD: {micro_batches: 64, inner_steps: 4, replica: vm}");
    add("Ddp", "DDP: {micro_batches: 64}");
    add("Fsdp", "FSDP: {micro_batches: 64}");
    add("Zero3", "ZeRO-3: {micro_batches: 64}");
    add("Pipeshard", "Pipeshard: {micro_batches: 64}");
    add("GPipe", "Pipeshard: {micro_batches: 64, schedule: gpipe}");
    add("ZeroBubble", "Pipeshard: {micro_batches: 64, schedule: zb-h1}");
    add("OneStage", "Megatron: {tensor: 2, pipeline: 1, data: 2, micro_batches: 64}", near);
    add("TwoStages", "Megatron: {tensor: 2, pipeline: 2, data: 1, micro_batches: 64}");
    add("FourStages", "Megatron: {tensor: 1, pipeline: 4, data: 1, micro_batches: 64}");
    add("Chunks", "Megatron: {tensor: 1, pipeline: 4, data: 1, chunks: 2, micro_batches: 64}");
  };
  on("InALab", kFour);
  on("FarApart", kFar);
  out.push_back({"PipelinesOnNodes", "Megatron: {tensor: 4, pipeline: 4, data: 2, micro_batches: 64}", kNodes, 512});
  out.push_back({"OffloadOnNodes", "ZeRO-2-CPU: {micro_batches: 32}", kNodes, 1024});
  out.push_back({"ReplicasOnNodes", "FSDP: {micro_batches: 32}", kNodes, 1024});
  out.push_back({"TensorOnNodes", "FSDP: {tensor: 8, micro_batches: 32}", kNodes, 1024});
  // Hosts that launch operator by operator get ahead of their GPUs, which wait for them at first.
  Case hosts{"HostsGetAhead", "Megatron: {tensor: 2, pipeline: 2, data: 8, micro_batches: 64}", kNodes, 512, true};
  hosts.model = "{name: wide, family: gpt2, hidden: 2048, heads: 16, layers: 4, sequence: 1024, vocabulary: 49152}";
  hosts.stack = "nanotron";
  out.push_back(hosts);
  return out;
}

}  // namespace slmsim::many_micro_batches
