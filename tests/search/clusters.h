// Small clusters of mixed GPUs at several sites, and a model small enough to simulate every choice.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "sim/compute/operator_graph.h"
#include "sim/search/search.h"

namespace slmsim {

struct Cluster {
  const char* name;
  const char* sites;
  const char* vms;
  const char* links;
  const char* more;  // further sections
  int batch = 4;
  const char* training = "";  // further keys of that section
};

inline const char* const kTwoSites = "{w: {rtt: 0.2 ms}, e: {}}";

// Slow links make distant GPUs useless, fast ones make them useful: both are here, and what lies between.
inline const std::vector<Cluster>& clusters() {
  static const std::vector<Cluster> kClusters = {
      {"one_gpu_each_near", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [a30]}, b: {site: e, type: fabric-vm, gpus: [t4]}}",
       "{l: {between: [w, e], rtt: 0.5 ms, bandwidth: 100 Gbps}}", "techniques: [Data, ZeRO2, Shard, Pipeshard]"},
      {"one_gpu_each_far", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [a30]}, b: {site: e, type: fabric-vm, gpus: [t4]}}",
       "{l: {between: [w, e], rtt: 80 ms, bandwidth: 1 Gbps, loss: 1e-4}}",
       "techniques: [Data, ZeRO2, Shard, Pipeshard]"},
      {"two_and_two", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [a30, a30]}, b: {site: e, type: fabric-vm, gpus: [rtx6000, rtx6000]}}",
       "{l: {between: [w, e], rtt: 5 ms, bandwidth: 10 Gbps}}", "techniques: [Data, Shard, Pipeshard]"},
      {"two_and_one", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [t4, t4]}, b: {site: e, type: fabric-vm, gpus: [a100-40]}}",
       "{l: {between: [w, e], rtt: 1 ms, bandwidth: 25 Gbps}}", "techniques: [Data, ZeRO2, Shard, Pipeshard]"},
      {"mixed_inside_a_vm", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [a30, t4]}, b: {site: e, type: fabric-vm, gpus: [a30]}}",
       "{l: {between: [w, e], rtt: 20 ms, bandwidth: 10 Gbps}}", "techniques: [Data, ZeRO2, Shard, Pipeshard]", 4,
       "control_round_trips: 30"},
      {"three_sites", "{w: {}, e: {transit: yes}, s: {}}",
       "{a: {site: w, type: fabric-vm, gpus: [t4]}, b: {site: e, type: fabric-vm, gpus: [t4]}, "
       "c: {site: s, type: fabric-vm, gpus: [rtx6000]}}",
       "{l: {between: [w, e], rtt: 2 ms, bandwidth: 10 Gbps}, m: {between: [e, s], rtt: 30 ms, bandwidth: 10 Gbps}}",
       "techniques: [Data, Pipeshard]"},
      {"for_gpu_hours", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [a100-40]}, b: {site: e, type: fabric-vm, gpus: [t4, t4]}}",
       "{l: {between: [w, e], rtt: 0.3 ms, bandwidth: 100 Gbps}}",
       "techniques: [Data, ZeRO2, Pipeshard]\nplan: {objective: gpu_hours}"},
      {"for_dollars", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [a100-40]}, b: {site: e, type: fabric-vm, gpus: [t4, t4]}}",
       "{l: {between: [w, e], rtt: 0.3 ms, bandwidth: 100 Gbps}}",
       "techniques: [Data, ZeRO2, Pipeshard]\nplan: {objective: dollars, dollars_per_hour: {a100-40: 3, t4: 0.2}}"},
      {"all_settings", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [a30]}, b: {site: e, type: fabric-vm, gpus: [a30]}}",
       "{l: {between: [w, e], rtt: 60 ms, bandwidth: 10 Gbps, loss: 1e-5}}",
       "techniques: [Data]\nplan: {allow: [nccl, tcp, batch]}"},
      {"all_settings_pipeline", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [t4]}, b: {site: e, type: fabric-vm, gpus: [a30]}}",
       "{l: {between: [w, e], rtt: 10 ms, bandwidth: 1 Gbps}}", "techniques: [ZeRO2]\nplan: {allow: [tcp, batch]}"},
      {"little_memory", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [a30, a30]}, b: {site: e, type: fabric-vm, gpus: [t4]}}",
       "{l: {between: [w, e], rtt: 3 ms, bandwidth: 10 Gbps}}",
       "techniques: [Data, ZeRO2, Shard, Pipeshard]\nsoftware: {usable_memory: 0.05, framework_memory: 0.6 GiB}"},
      {"compressed", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [a30]}, b: {site: e, type: fabric-vm, gpus: [a30]}}",
       "{l: {between: [w, e], rtt: 30 ms, bandwidth: 1 Gbps}}",
       "techniques: [DDP, ZeRO-1]\nplan: {compress: [bf16, int4, powersgd, topk]}", 16},
      {"eight_gpus", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [t4, t4, t4, t4]}, b: {site: e, type: fabric-vm, gpus: [rtx6000, rtx6000, "
       "rtx6000, rtx6000]}}",
       "{l: {between: [w, e], rtt: 4 ms, bandwidth: 25 Gbps}}", "techniques: [Data, Shard]", 8},
      {"inside_a_node", kTwoSites, "{a: {site: w, type: xe8545, gpus: [a100-40, a100-40, a100-40, a100-40]}}", "{}",
       "techniques: [Data, DDP, Megatron, ZeRO-1, ZeRO-2, ZeRO-3, ZeRO-2-CPU]", 8},
      // Frameworks without a driver send no control messages, however far the GPUs are apart.
      {"driven_or_not", kTwoSites,
       "{a: {site: w, type: fabric-vm, gpus: [t4]}, b: {site: e, type: fabric-vm, gpus: [t4]}}",
       "{l: {between: [w, e], rtt: 20 ms, bandwidth: 10 Gbps}}", "techniques: [Data, DDP, Megatron, ZeRO-1, ZeRO-3]", 4,
       "control_round_trips: 100, iteration_overhead: 2 ms"},
      {"alike_by_name_only", "{lab: {}}",
       "{a: {site: lab, type: {name: box, nic: 1 Gbps, device_latency: 10 us, tcp: {net.ipv4.tcp_rmem: 6 MiB, "
       "net.ipv4.tcp_wmem: 4 MiB, copy_rate: 1 GB/s}}, gpus: [a30]}, b: {site: lab, type: {name: box, nic: 100 Gbps, "
       "device_latency: 10 us, tcp: {net.ipv4.tcp_rmem: 6 MiB, net.ipv4.tcp_wmem: 4 MiB, copy_rate: 1 GB/s}}, gpus: "
       "[a30]}, c: {site: lab, type: fabric-vm, gpus: [t4, t4]}}",
       "{}", "techniques: [Data]"},
  };
  return kClusters;
}

// A file that is gone with this object.
class ClusterFile {
 public:
  explicit ClusterFile(const Cluster& c)
      : path_(std::filesystem::temp_directory_path() /
              ("slmsim_cluster_" + std::to_string(getpid()) + "_" + c.name + ".yaml")) {
    std::ofstream(path_) << "platform: {name: p, sites: " << c.sites << ", vms: " << c.vms << ", links: " << c.links
                         << "}\n"
                         << "models: [{name: small, family: gpt2, hidden: 512, heads: 8, layers: 3, sequence: 256, "
                            "vocabulary: 8192}]\n"
                         << "training: {epochs: 1, blocks_per_epoch: 10000, gradient_precision: fp32, batch: "
                         << c.batch << (*c.training ? ", " : "") << c.training << "}\n"
                         << c.more << "\n";
  }
  ~ClusterFile() { std::filesystem::remove(path_); }
  ClusterFile(const ClusterFile&) = delete;
  ClusterFile& operator=(const ClusterFile&) = delete;

  Scenario load(const Overrides& overrides = {}) const { return load_scenario(path_, overrides); }

 private:
  std::filesystem::path path_;
};

// In this process.
inline std::vector<Choice> choices_of(const Space& space) {
  std::vector<Choice> all;
  for (std::size_t i = 0; i < space.size(); ++i) all.push_back(space.choice(i));
  return all;
}

inline Evaluator evaluator_of(const Space& space, PlanObjective objective = PlanObjective::kTime) {
  const auto operators = std::make_shared<OperatorGraph>(build_operator_graph(space.model()));
  Evaluator out;
  out.assess = [&space, operators, objective](const std::vector<std::size_t>& choices) {
    std::vector<Assessment> all;
    for (const std::size_t i : choices) all.push_back(assess(space, *operators, space.choice(i), objective));
    return all;
  };
  out.measure = [&space, operators, objective](const std::vector<std::size_t>& choices) {
    std::vector<Measurement> all;
    for (const std::size_t i : choices) all.push_back(measure(space, *operators, space.choice(i), objective));
    return all;
  };
  return out;
}

}  // namespace slmsim
