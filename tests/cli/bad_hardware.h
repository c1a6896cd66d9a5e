// Models, GPUs, VM types and platforms, as `slmsim check` reads them.
#pragma once

#include "tests/cli/bad_scenario.h"

namespace slmsim {

inline std::vector<BadCase> bad_model_cases() {
  return {
      {"check", "heads.yaml", {{"4:8", "15 heads do not divide the hidden size 1024; choose a divisor"}}, ""},
      {"check", "kv-heads.yaml", {{"5:11", "5 key-value heads do not divide 32 heads; choose a divisor"}}, ""},
      // No word of heads that do not divide: the hidden size is not known.
      {"check",
       "model-family.yaml",
       {{"1:7", "name: \"gpt 2\" is not a name"},
        {"2:9", "family: unknown value \"gtp2\"; did you mean \"gpt2\"?"},
        {"3:9", "hidden: \"1 k\" is not a whole number"},
        {"5:9", "layers: \"0\" " + kExpectsRange + "a whole number from 1 to 4096"},
        {"6:11", "sequence: \"1e30\" " + kExpectsRange},
        {"8:1", "unknown key \"weight_tying\"; known are: activation, attention_dropout, dropout, "}},
       ""},
      {"check",
       "unknown-model-type.json",
       {{"2:17",
         "model_type: \"sparrow\" is not modelled; describe its layers in a model file with the nearest family"}},
       ""},
      {"check",
       "mixture.json",
       {{"3:17", "model_type: \"mixtral\" is a mixture of experts, which is not modelled"}},
       ""},
      {"check",
       "encoder.json",
       {{"2:17", "\"albert\" is an encoder with other attention or other embeddings, which is not modelled"}},
       ""},
      {"check",
       "layer-types.json",
       {{"5:37", "layer_types: \"linear_attention\" is not modelled; full_attention and sliding_attention are"}},
       ""},
      {"check",
       "long-sequence.json",
       {{"4:30",
         "max_position_embeddings 32768 is the longest sequence of the model, rarely the training length; state it, "
         "e.g. --set sequence=2048"}},
       ""},
      {"check", "config-without-size.json", {{"7:17", "vocab_size is nothing; " + kExpectsSingle}}, ""},
      {"check",
       "gpu.yaml",
       {{"2:15", "architecture: unknown value \"Amper\"; did you mean \"Ampere\"?"},
        {"3:18", "multiprocessors: \"1.5\" is not a whole number; expected a whole number from 1 to 4096"},
        {"4:9", "memory: \"24\" has no unit; " + kExpectsSize},
        {"5:19", "memory_bandwidth: \"933 GB\" has the unit \"GB\"; did you mean \"933 GB/s\"?"},
        {"6:7", "pcie: \"0 GB/s\" " + kExpectsRange + "10 MB/s to "},
        {"7:9", "nvlink: \"fast\" does not start with a number; " + kExpectsRate},
        {"8:14", "\"165 TFLOPS\" has the unit \"TFLOPS\"; did you mean \"165 TFLOP/s\"?"},
        {"8:26", "unknown key \"fp8\" in peak; known are: bf16, fp16, fp32, tf32"},
        {"8:50", "peak.fp32: \"-1 TFLOP/s\" " + kExpectsRange + "1 GFLOP/s to "},
        {"9:1", "unknown key \"colour\"; known are: architecture, board_power, "}},
       ""},
      {"check",
       "vm-type.yaml",
       {{"2:6", "nic: \"100\" has no unit; " + kExpectsRate},
        {"3:15", "peer_to_peer: unknown value \"1\"; known are: no, yes, false, true"},
        {"4:17", "device_latency: \"10 GB\" has the unit \"GB\"; " + kExpectsTime},
        {"6:22", "\"4096 16384 4194304\" has the unit \"16384 4194304\"; " + kExpectsSize},
        {"6:3", "tcp has no \"net.ipv4.tcp_wmem\"; it is required"},
        {"7:3", "unknown key \"tcp_wmem\" in tcp; did you mean \"net.ipv4.tcp_wmem\"?"}},
       ""},
  };
}

inline std::vector<BadCase> bad_platform_cases() {
  const std::string two_sites = "must name two sites, e.g. between: [gat, amst]";
  return {
      {"check",
       "disconnected.yaml",
       {{"1:1", "no link leads from gat (site gat) to amst (site amst); add one under links"}},
       ""},
      {"check",
       "no-transit.yaml",
       {{"1:1",
         "no link leads from gat (site gat) to amst (site amst); add one under links, or transit: yes on site "
         "wash, which lies between"}},
       ""},
      {"check", "self-link.yaml", {{"7:18", "names one site twice; a link joins two sites"}}, ""},
      {"check",
       "links.yaml",
       {{"7:24", "links.one.between: there is no site \"amts\"; did you mean \"amst\"?"},
        {"7:77", "links.one.forward_delay is longer than the round trip; it is a part of rtt"},
        {"8:18", "links.two.between " + two_sites},
        {"8:30", "links.two.rtt: \"103\" has no unit; " + kExpectsTime},
        {"8:46", "links.two.bandwidth: \"100 GiB\" has the unit \"GiB\"; did you mean \"100 GiB/s\"?"},
        {"8:61", "links.two.loss: \"1\" " + kExpectsRange + "a number from 0 to 0.5"},
        {"9:18", "links.six.between " + two_sites},
        {"9:33", "links.six.rtt: \"-1 ms\" " + kExpectsRange + "100 ns to 10 s"},
        {"9:51", "links.six.bandwidth: \"0 Gbps\" " + kExpectsRange + "125 B/s to "},
        {"9:64", "links.six.mtu: \"100 B\" " + kExpectsRange + "576 B to 64 KiB"},
        {"10:3", "\"bad name\" is not a name; use letters, digits, '-', '_' and '.'"},
        {"10:41", "links.bad name.rtt: \"1 h\" " + kExpectsRange + "100 ns to 10 s"},
        {"10:75", "unknown key \"bandwith\" in links.bad name.reverse; did you mean \"bandwidth\"?"},
        {"10:99", "links.bad name.reverse.loss: \"-0.1\" " + kExpectsRange + "a number from 0 to 0.5"}},
       ""},
      {"check", "no-vms.yaml", {{"3:6", "vms is empty; name at least one"}}, ""},
      // That no site has the VM's name follows from the first error and is not worth a second.
      {"check", "sites-list.yaml", {{"2:8", "sites is a list; a map of names is expected"}}, ""},
      {"check",
       "vms.yaml",
       {{"2:15", "unknown key \"rrt\" in sites.gat; did you mean \"rtt\"?"},
        {"4:8", "vms.one.gpus is missing; list the VM's GPUs"},
        {"5:43", "vms.two.gpus is empty; list at least one"},
        {"6:8", "vms.six has no \"type\"; it is required"},
        {"6:15", "vms.six.site: there is no site \"gta\"; did you mean \"gat\"?"},
        {"6:33", "unknown key \"cores\" in vms.six; known are: count, gpus, host_memory, nic, power_limit, price_per_hour, "},
        {"7:8", "vms.ten is a list; " + kExpectsMap},
        {"8:1", "unknown key \"colour\"; known are: description, links, name, profiles, sites, vms"}},
       ""},
  };
}

}  // namespace slmsim
