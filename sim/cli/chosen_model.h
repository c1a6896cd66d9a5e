// Models of slmsim init: names, files and folders of Hugging Face, as files beside the scenario.
//
// A file is copied beside the scenario, with the length of its training sequences: a config.json states only the longest
// one, and a copy is found from wherever the scenario is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "sim/base/yaml.h"

namespace slmsim {

// Training sequences where only the longest is known: small models are commonly trained on 2048 tokens (Pythia, SmolLM,
// TinyLlama), and longer ones need more memory.
inline constexpr std::int64_t kUsualSequence = 2048;

struct ChosenModel {
  std::string word;           // in the scenario: "gpt2m" or "./Llama-3.2-1B.json"
  std::string why;            // source of the copy and of its sequence; empty where the shipped file is used
  std::string file, text;     // of the copy, without a folder; empty where there is none
  Node node;                  // the copy's contents
  std::string dtype;          // dtype or torch_dtype of a config.json; empty: not stated
  std::int64_t sequence = 0;  // tokens
};

// The model that a word of --model names: a config.json or model file, a folder with one, the id of a shipped model on
// Hugging Face's hub (openai-community/gpt2-medium) or a name of models/. Names are looked up as from a scenario in
// `folder`. `sequence`: tokens of --sequence; 0: not stated. `most`: longest sequence without --sequence; 0: that of the
// model's file, or kUsualSequence where it states only the longest possible one. Throws InputError.
ChosenModel choose_model(const std::string& word, const std::filesystem::path& folder, std::int64_t sequence,
                         std::int64_t most = 0);

}  // namespace slmsim
