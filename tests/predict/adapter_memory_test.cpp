// Peak memory of LoRA on one GPU against LitGPT's measurements.
#include <gtest/gtest.h>

#include "sim/predict/predict.h"

namespace slmsim::adapter_memory_test {
namespace {

struct Measured {
  const char* model;
  int sequences;  // at a time
  double peak;    // GB
};

constexpr const char* kLlama7b =
    "family: llama, hidden: 4096, heads: 32, layers: 32, intermediate: 11008, vocabulary: 32000, sequence: 1304";
constexpr const char* kLlama13b =
    "family: llama, hidden: 5120, heads: 40, layers: 40, intermediate: 13824, vocabulary: 32000, sequence: 1304";
constexpr const char* kStableLm =
    "family: gpt_neox, hidden: 4096, heads: 32, layers: 16, intermediate: 16384, vocabulary: 50688, sequence: 1034";
constexpr const char* kPhi =
    "family: phi, hidden: 2048, heads: 32, layers: 24, intermediate: 8192, vocabulary: 51200, sequence: 1044, "
    "activation: gelu_pytorch_tanh, tied_embedding: no";

// github.com/Lightning-AI/litgpt, tutorials/resource-tables.md, "Finetuning with LoRA on 1 GPU": A100, bf16-true, Alpaca, whose
// longest sequences it states; finetune/lora.py: adapters of rank 8 with dropout beside queries and values. There both share one
// dropout, here each has its own (2 to 5 % of these peaks more); Llama's joint queries, keys and values are kept there, not here (3 %
// less).
constexpr Measured kMeasured[] = {{kLlama7b, 1, 21.30}, {kLlama7b, 2, 29.07},  {kLlama13b, 1, 38.12},
                                  {kStableLm, 1, 9.69}, {kStableLm, 2, 12.10}, {kStableLm, 4, 16.92},
                                  {kPhi, 1, 4.82},      {kPhi, 2, 6.76},       {kPhi, 4, 10.68}};

TEST(Adapters, PeakWhereLitGptMeasuresIt) {
  for (const Measured& one : kMeasured) {
    const Scenario scenario = load_scenario(
        SLMSIM_SOURCE_DIR "/scenarios/reported/qwen-lora.yaml",
        {std::string("models.0={name: m, ") + one.model + "}", "training.batch=" + std::to_string(one.sequences),
         "training.optimizer=adam16bit", "training.lora={rank: 8, targets: [query, value], dropout: 0.05}",
         "techniques={DDP: {micro_batches: 1}}", "platform.vms.node.gpus=[a100-40]"});
    const Prediction p = predict(scenario).front();
    EXPECT_EQ(p.status, Status::kOk) << p.reason;
    const double allocated = p.memory.front().allocated().value;
    EXPECT_NEAR(allocated / (one.peak * 1e9), 1, one.model == kPhi ? 0.08 : 0.015) << one.model;
  }
}

}  // namespace
}  // namespace slmsim::adapter_memory_test
