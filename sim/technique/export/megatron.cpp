#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/technique/export/export.h"

namespace slmsim {
namespace {

// Megatron cuts evenly, or gives the first and the last stage numbers of their own and the others equal ones.
std::vector<std::string> stage_arguments(const ExportRequest& request, Export& out) {
  const auto layers = layers_of_stages(request);
  if (layers.size() < 2) return {};
  std::vector<std::string> words = {fmt::format("--pipeline-model-parallel-size {}", layers.size())};
  const bool middle_even = std::all_of(layers.begin() + 1, layers.end() - 1, [&](int n) { return n == layers[1]; });
  if (!middle_even) {
    out.cannot.push_back(fmt::format("stages of {} layers; all but the first and the last must have the same number",
                                     fmt::join(layers, ", ")));
  } else if (std::ranges::any_of(layers, [&](int n) { return n != layers.front(); })) {
    words.push_back(fmt::format("--decoder-first-pipeline-num-layers {}", layers.front()));
    words.push_back(fmt::format("--decoder-last-pipeline-num-layers {}", layers.back()));
  }
  return words;
}

std::vector<std::string> recompute_arguments(Recompute recompute) {
  if (recompute == Recompute::kNone) return {};
  if (recompute == Recompute::kSelective) return {"--recompute-granularity selective"};
  return {"--recompute-granularity full", "--recompute-method uniform", "--recompute-num-layers 1"};
}

void refuse(const ExportRequest& request, Export& out) {
  const Plan& plan = request.plan;
  const auto same_size = [&](const Stage& s) { return s.mesh.size() == plan.stages.front().mesh.size(); };
  if (!std::ranges::all_of(plan.stages, same_size)) out.cannot.emplace_back("stages have different numbers of GPUs");
  const auto* how = std::get_if<OperatorPlan>(&plan.by);
  if (plan.stages.size() > 1 && (schedule_of(plan) != Schedule::kOneForwardOneBackward || (how && how->ahead > 0)))
    out.cannot.emplace_back("Megatron-LM's schedule is 1F1B, without additional micro-batches in flight");
  if (std::ranges::any_of(plan.stages, has_uneven_shares))
    out.cannot.emplace_back("GPUs get different numbers of sequences; Megatron-LM gives each replica the same number");
  if (is_hierarchical(plan)) out.cannot.emplace_back(kNoHierarchicalSums);
  if (request.model.lora) out.cannot.emplace_back("pretrain_gpt.py trains no adapters");
  const auto vms = used_vms(request.setup);
  if (std::ranges::any_of(vms, [&](const VmGpus& vm) { return vm.gpus.size() != vms.front().gpus.size(); }))
    out.cannot.emplace_back("VMs with different numbers of GPUs; torchrun starts the same number on each");
}

// Differences between the model's layers and GPT-2's, which are Megatron's defaults.
std::vector<std::string> layer_arguments(const Transformer& model) {
  const Traits& t = model.traits;
  std::vector<std::string> words;
  if (model.query_width() != model.hidden) words.push_back(fmt::format("--kv-channels {}", model.head_width()));
  if (t.rms_norm) words.emplace_back("--normalization RMSNorm");
  if (t.gated && t.activation == Activation::kSilu) words.emplace_back("--swiglu");
  if (!t.learned_positions) {
    words.emplace_back("--position-embedding-type rope");
    if (t.rotary_share < 1) words.push_back(fmt::format("--rotary-percent {:g}", t.rotary_share));
  }
  if (!t.mlp_bias) {
    words.emplace_back("--disable-bias-linear");
    if (t.qkv_bias) words.emplace_back("--add-qkv-bias");
  }
  if (t.query_norm != QueryNorm::kNone) words.emplace_back("--qk-layernorm");
  if (!model.dropout) words.emplace_back("--hidden-dropout 0");
  if (!model.drops_attention()) words.emplace_back("--attention-dropout 0");
  return words;
}

// Properties of a model that Megatron-LM's arguments cannot state.
void refuse_layers(const Transformer& model, Export& out) {
  const Traits& t = model.traits;
  const auto cannot = [&](bool wanted, const char* what) {
    if (wanted) out.cannot.push_back(fmt::format("pretrain_gpt.py has no argument for {}", what));
  };
  cannot(t.gated && is_gelu(t.activation), "an MLP gated by GELU");
  cannot(!t.gated && !is_gelu(t.activation), "an activation other than GELU and SwiGLU");
  cannot(t.parallel, "attention and MLP that read the same stream");
  cannot(t.branch_norm || t.norm_behind, "norms after attention and MLP");
  cannot(t.embedding_norm, "a norm of the embedding");
  cannot(t.norm_vectors != (t.rms_norm ? 1 : 2), "layer norms without a shift");
  cannot(t.query_norm == QueryNorm::kWhole, "norms over all heads of queries and keys");
  cannot(!t.learned_positions && t.rotary_share == 0, "ALiBi and other positions without weights");
  cannot(!t.causal, "encoders");
  cannot(t.head_bias, "a bias of the head");
  cannot(model.classes > 0, "a head of classes");
  cannot(!model.layer_kinds.empty(), "layers with different windows or positions");
  cannot(t.score_cap || t.logit_cap, "scores and logits bounded by tanh");
  cannot(t.mlp_bias != t.projection_bias, "biases of attention's projection only");
}

}  // namespace

Export export_megatron(const ExportRequest& request) {
  const MegatronExport how = request.plan.technique->exports(request).megatron;
  const auto& [setup, model, plan] = request;
  const Training& training = setup.scenario.training;
  const int tensor = how.tensor;
  Export out{"Megatron-LM", {}, {}, {}};
  if (!how.cannot.empty()) out.cannot.push_back(how.cannot);
  refuse(request, out);
  refuse_layers(model, out);
  std::vector<std::string> words = how.pipeline ? *how.pipeline : stage_arguments(request, out);
  const int replicas = static_cast<int>(plan.stages.front().mesh.size()) / tensor;
  if (training.batch % (plan.micro_batches * replicas) != 0)
    out.cannot.push_back(fmt::format("a batch of {} is not a multiple of {} replicas x {} micro-batches; {} are",
                                     training.batch, replicas, plan.micro_batches,
                                     nearest_batches(training.batch, plan.micro_batches * replicas)));
  if (training.optimizer == UpdateRule::kAdam8bit) out.cannot.emplace_back("it has no 8-bit Adam");
  if (training.optimizer == UpdateRule::kAdam16bit) out.cannot.emplace_back(kKeepsMaster);
  if (!out.cannot.empty()) return out;

  const auto add = [&](const char* name, auto value) { words.push_back(fmt::format("{} {}", name, value)); };
  add("--tensor-model-parallel-size", tensor);
  add("--micro-batch-size", training.batch / plan.micro_batches / replicas);
  add("--global-batch-size", training.batch);
  add("--num-layers", model.layers);
  add("--hidden-size", model.hidden);
  add("--ffn-hidden-size", model.intermediate);
  add("--num-attention-heads", model.heads);
  add("--seq-length", model.sequence);
  add("--max-position-embeddings", model.traits.learned_positions ? model.position_rows() : model.sequence);
  if (model.kv_heads != model.heads) {
    words.emplace_back("--group-query-attention");
    add("--num-query-groups", model.kv_heads);
  }
  if (!model.tied_embedding) words.emplace_back("--untie-embeddings-and-output-weights");
  for (auto& word : layer_arguments(model)) words.push_back(std::move(word));
  if (training.precision == Precision::kFp16) words.emplace_back("--fp16");
  if (training.precision == Precision::kBf16) words.emplace_back("--bf16");
  if (training.gradient_precision == Precision::kFp32 && element_bytes(training.precision) < 4)
    words.emplace_back("--accumulate-allreduce-grads-in-fp32");
  if (training.optimizer != UpdateRule::kAdam) words.emplace_back("--optimizer sgd");
  if (training.optimizer == UpdateRule::kSgd) words.emplace_back("--sgd-momentum 0");
  for (auto& word : recompute_arguments(plan.recompute)) words.push_back(std::move(word));
  words.insert(words.end(), how.words.begin(), how.words.end());
  if (how.distributed_optimizer) {
    words.emplace_back("--use-distributed-optimizer");
    out.notes.emplace_back(
        "the distributed optimizer keeps whole gradients on each GPU, so it needs more memory than ZeRO2");
  }
  out.notes.emplace_back("Megatron-LM pads the vocabulary, so that head and embedding divide evenly");
  const auto vms = used_vms(setup);
  std::string text = fmt::format(
      "#!/bin/sh\n# Run on {} with NODE_RANK = 0, 1, ... in this order. Data, tokenizer and "
      "optimizer arguments are yours.\n",
      fmt::join(
          [&] {
            std::vector<std::string> names;
            names.reserve(vms.size());
            for (const auto& vm : vms) names.push_back(vm.name);
            return names;
          }(),
          ", "));
  text += "case $NODE_RANK in\n";
  for (std::size_t i = 0; i < vms.size(); ++i)
    text += fmt::format("  {}) export CUDA_VISIBLE_DEVICES={} ;;\n", i, fmt::join(vms[i].gpus, ","));
  text += fmt::format(
      "esac\ntorchrun --nnodes {} --nproc-per-node {} --node-rank $NODE_RANK --master-addr {} "
      "--master-port 6000 pretrain_gpt.py \\\n  {}\n",
      vms.size(), vms.front().gpus.size(), vms.front().name, fmt::join(words, " \\\n  "));
  out.files = {{"megatron.sh", text}};
  return out;
}

}  // namespace slmsim
