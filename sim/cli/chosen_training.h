// Defaults of slmsim init for a training: number format, software stack, techniques, batch and micro-batch, each with its
// reason.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/import/inventory/setup.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// The format that the models' config.json states (`dtypes`, empty where none does), if all GPUs have it; else bf16, fp16
// or fp32, the first that all have.
Chosen choose_precision(const std::vector<std::string>& dtypes, const Platform& platform);

// torch.compile with flash attention, where all GPUs run it.
Chosen choose_stack(const Platform& platform);
// The stack of --stack, as named from a scenario in `folder`, and, for one that casts to 16 bits, the format of gradients.
// Throws InputError.
struct NamedStack {
  Chosen stack, gradient_precision;
};
NamedStack named_stack(const std::string& name, const std::filesystem::path& folder);

// Techniques in use today: DDP, FSDP and a pipeline, and DiLoCo with replicas at several sites.
std::vector<Chosen> usual_techniques(const Inventory& inventory);
// The names in --technique: also as a list with commas, or `study` for those of Alpa's study. Throws InputError.
std::vector<Chosen> named_techniques(const std::vector<std::string>& words);

struct ChosenBatch {
  Chosen batch, micro_batch, rematerialisation;  // an empty value: not needed
  bool fits = false;                             // any plan on any group
};

// A batch that all groups' numbers of GPUs divide, and the largest micro-batch with which each group has the same number
// of techniques that fit as with single sequences. Layers are recomputed where nothing fits otherwise. `stated`: the batch of
// --batch; 0: none.
ChosenBatch choose_batch(const Scenario& wanted, int stated);

}  // namespace slmsim
