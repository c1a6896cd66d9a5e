// Machines from the options of slmsim init, or from its questions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/base/yaml.h"
#include "sim/import/inventory/inventory.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// The name of this machine.
inline constexpr const char* kHere = "here";

struct InitOptions {
  std::string folder = ".", name, ansible, ssh, token, stack;
  std::vector<std::string> gpus, sites, links, types, peers, prices, fablib, models, techniques;
  int batch = 0;
  std::int64_t sequence = 0;
  bool force = false, token_given = false;
  std::string command;
};

struct Pair {
  std::string key, value;
};

// Parses KEY=VALUE of an option; `form` is its format for messages. Throws InputError.
Pair pair_of(const std::string& option, const std::string& text, const char* form);

// The same where an option states each key once; `stated` holds the keys before, and takes this one.
Pair pair_once(const std::string& option, const std::string& text, const char* form, std::set<std::string>& stated);

// The machine of this name. Throws InputError with the nearest one.
Machine& machine_called(Inventory& inventory, const std::string& option, const std::string& name);

// From a list, from --gpu, from nvidia-smi or, on a terminal without options, from questions, which complete the options.
Inventory machines_of(InitOptions& options);

// Adds the links of --link.
void add_links(const InitOptions& options, Inventory& inventory);

// Adds the prices of --price: of a machine, or of a GPU in all machines.
void add_prices(const InitOptions& options, Inventory& inventory);

// Models of slmsim init: names, files and folders of Hugging Face, as files beside the scenario.
//
// A file is copied beside the scenario, with the length of its training sequences: a config.json states only the longest
// one, and a copy is found from wherever the scenario is read.

// Training sequences where only the longest is known: small models are commonly trained on 2048 tokens (Pythia, SmolLM,
// TinyLlama), and longer ones need more memory.
inline constexpr std::int64_t kUsualSequence = 2048;

struct ChosenModel {
  std::string word;                // in the scenario: "gpt2m" or "./Llama-3.2-1B.json"
  std::string why;                 // source of the copy and of its sequence; empty where the shipped file is used
  std::string file, text;          // of the copy, without a folder; empty where there is none
  Node node;                       // the copy's contents
  std::optional<Precision> dtype;  // dtype or torch_dtype of a config.json
  Transformer transformer;
  std::int64_t longest = 0;  // sequence that the model's own file states, in tokens
};

// The model that a word of --model names: a config.json or model file, a folder with one, the id of a shipped model on
// Hugging Face's hub (openai-community/gpt2-medium) or a name of models/. Names are looked up as from a scenario in
// `folder`. `sequence`: tokens of --sequence; 0: not stated. `most`: longest sequence without --sequence; 0: that of the
// model's file, or kUsualSequence where it states only the longest possible one. Throws InputError.
ChosenModel choose_model(const std::string& word, const std::filesystem::path& folder, std::int64_t sequence,
                         std::int64_t most = 0);

// Defaults of slmsim init for a training: number format, software stack, techniques, batch and micro-batch, each with its
// reason.

// The format that a model's config.json states (`dtype`), if all GPUs have it; else bf16, fp16
// or fp32, the first that all have.
Chosen choose_precision(std::optional<Precision> dtype, const Platform& platform);

// The stack of this scenario, torch.compile with flash attention, where all GPUs run it.
Chosen choose_stack(const Scenario& compiled);
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
