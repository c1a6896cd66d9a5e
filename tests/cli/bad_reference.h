// Scenarios that name what is not there, or name it twice.
#pragma once

#include "tests/cli/bad_scenario.h"

namespace slmsim {

inline std::vector<BadCase> bad_reference_cases() {
  const std::string twice = "groups: a GPU is in one group twice; name each VM, GPU or site once";
  const std::string techniques = "Data, ZeRO2, Shard, Pipeshard";
  return {
      {"run", "unknown-platform.yaml", {{"2:11", "there is no platform \"gat-asmt\"; did you mean \"gat-amst\"?"}}, ""},
      // gpt2l and gpt2L are equally near to gtp2l but for its case.
      {"run",
       "unknown-model.yaml",
       {{"2:17", "there is no model \"gtp2l\"; did you mean \"gpt2"},
        {"2:24", "there is no model \"Qwen\"; did you mean \"qwen2.5-0.5b\"?"}},
       ""},
      {"run",
       "unknown-gpu.yaml",
       {{"6:29", "there is no VM type \"fabrik-vm\"; did you mean \"fabric-vm\"?"},
        {"6:47", "there is no GPU \"a3o\"; did you mean \"a30\"?"},
        {"6:52", "there is no GPU \"RTX3090\"; did you mean \"rtx3090\"?"}},
       ""},
      {"run", "escape-dots.yaml", {{"2:11", "there is no platform \"..\"; known are: aws-two-regions, "}}, ""},
      {"run",
       "escape-path.yaml",
       {{"2:10", "model \"../../../../../../../etc/no-such-model.yaml\": no such file"}},
       ""},
      {"run", "escape-folder.yaml", {{"2:11", "platform \"./\": this is a folder; name a file in it"}}, ""},
      {"run", "escape-device.yaml", {{"2:11", "platform \"/dev/zero\": not a regular file"}}, ""},

      {"run",
       "unknown-group.yaml",
       {{"2:15", "groups: there is no VM, GPU or site \"amsterdam\"; known are: all, pairs, sites, each, gat, amst"}},
       ""},
      {"run", "group-gpu-twice.yaml", {{"3:6", twice}, {"4:6", twice}}, ""},
      {"run", "empty-group.yaml", {{"2:15", "groups: a group without GPUs; name at least one"}}, ""},
      {"run", "empty-groups.yaml", {{"2:9", "groups is empty; list at least one"}}, ""},
      {"run", "nested-group.yaml", {{"2:16", "list"}}, ""},
      {"run",
       "map-in-groups.yaml",
       {{"2:10", "groups: expected \"all\", \"pairs\", \"sites\", \"each\", the name"}},
       ""},

      {"run", "empty-models.yaml", {{"2:9", "models is empty; list at least one"}}, ""},
      {"run", "model-twice.yaml", {{"2:24", "two models are named \"gpt2m\"; names must differ"}}, ""},
      {"run", "empty-techniques.yaml", {{"2:13", "techniques is empty; name at least one of " + techniques}}, ""},
      {"run", "technique-twice.yaml", {{"2:27", "techniques: \"Data\" is listed twice; name each technique once"}}, ""},
      {"run",
       "unknown-technique.yaml",
       {{"2:20", "unknown technique \"Pipeshards\"; did you mean \"Pipeshard\"?"},
        {"2:32", "unknown technique \"Horovod\"; known are: " + techniques}},
       ""},
      {"run", "map-in-techniques.yaml", {{"3:5", "a map"}}, ""},
      {"run", "peak-empty.yaml", {{"9", "peak"}}, ""},
  };
}

}  // namespace slmsim
