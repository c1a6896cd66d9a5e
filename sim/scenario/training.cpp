#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <fmt/format.h>

#include "sim/base/name_in.h"
#include "sim/base/text.h"
#include "sim/scenario/scenario.h"

namespace slmsim {
namespace {

constexpr Range<double> kBlocksRange{1, 1e12};
constexpr Range<double> kTokensRange{1, 1e18};
constexpr Range<std::int64_t> kBatchRange{1, 1 << 20};

// Alternative statements of one quantity; stating one removes the others.
const std::vector<std::vector<std::vector<std::string>>>& rivals() {
  static const std::vector<std::vector<std::vector<std::string>>> kRivals = {
      {{"epochs", "blocks_per_epoch", "tokens_per_epoch"}, {"samples"}, {"tokens"}},
      {{"blocks_per_epoch"}, {"tokens_per_epoch"}},
      {{"batch"}, {"batch_tokens"}},
      {{"gradient_accumulation"}, {"micro_batch"}}};
  return kRivals;
}

// Query and value products, as in section 5 of the paper.
const std::vector<LoraTarget> kUsualTargets = {LoraTarget::kQuery, LoraTarget::kValue};

Lora read_lora(Fields fields) {
  Lora out{.rank = static_cast<int>(fields.integer({"rank", "The inner size of an adapter."}, {1, 1 << 16})),
           .targets = {}};
  const auto& names = lora_target_names();
  const FileKey key{"targets", "The products with an adapter each; up: both in front of a gate.", "[query, value]"};
  for (const Node* item : fields.list(key, {ValueType::choice(names)})) {
    const auto at = std::ranges::find(names, item->scalar);
    if (item->kind != Node::Kind::kScalar || at == names.end()) {
      fields.error_at(item->place, fmt::format("{}: \"{}\" is unknown; {}", fields.path_of(key.name),
                                               item->scalar.substr(0, 64), did_you_mean(item->scalar, names)));
      continue;
    }
    const auto target = static_cast<LoraTarget>(at - names.begin());
    if (std::ranges::find(out.targets, target) != out.targets.end())
      fields.error_at(item->place,
                      fmt::format("{}: \"{}\" is named twice; once is enough", fields.path_of(key.name), item->scalar));
    out.targets.push_back(target);
  }
  if (out.targets.empty()) out.targets = kUsualTargets;
  out.dropout = fields.number({"dropout", "Rate of the dropout in front of each adapter."}, {0, 1}, 0) > 0;
  fields.done();
  return out;
}

// Names in Hugging Face's Trainer, Megatron-LM and DeepSpeed of what a scenario has by another name, or elsewhere.
std::map<std::string, std::string> foreign_names() {
  std::map<std::string, std::string> out;
  for (const auto* name : {"sequence", "sequence_length", "seq_length", "seq_len", "max_seq_length", "max_seq_len"})
    out[name] = "the length of a sequence is a key of the model, e.g. --set models.0.sequence=1024";
  const auto add = [&](const char* name, const char* own) { out[name] = fmt::format("did you mean \"{}\"?", own); };
  add("global_batch_size", "batch");
  out["batch_size"] = out["batchsize"] =
      "\"batch\" counts the sequences of all GPUs, \"micro_batch\" those that one GPU computes at once";
  add("per_device_train_batch_size", "micro_batch");
  add("micro_batch_size", "micro_batch");
  add("num_train_epochs", "epochs");
  add("gradient_checkpointing", "rematerialisation");
  add("activation_checkpointing", "rematerialisation");
  add("recompute", "rematerialisation");
  for (const auto* name : {"steps", "max_steps", "train_iters"}) out[name] = "state samples: the steps times the batch";
  for (const auto* name : {"learning_rate", "lr", "warmup_steps", "weight_decay", "seed"})
    out[name] = "it changes neither time nor memory; leave it out";
  add("float16", "fp16");
  add("bfloat16", "bf16");
  add("float32", "fp32");
  return out;
}

class TrainingReader {
 public:
  TrainingReader(Fields& fields, const std::vector<Transformer>& models, Reading& reading)
      : fields_(fields), models_(models), reading_(reading) {}

  Training read() {
    fields_.hint(foreign_names());
    const std::size_t errors_before = reading_.errors.size();
    read_batch();
    const bool has_batch = reading_.errors.size() == errors_before;
    read_extent();
    t_.gradient_accumulation = static_cast<int>(fields_.integer(
        {"gradient_accumulation", "Micro-batches of an optimizer step, for techniques that do not state their own.",
         "as in the technique"},
        kBatchRange, 0));
    if (has("micro_batch")) refuse_beside("micro_batch", {"gradient_accumulation"});
    t_.micro_batch = static_cast<int>(fields_.integer(
        {"micro_batch",
         "Sequences that a GPU (Pipeshard, Shard: all of them, Megatron: a replica) computes at once; in place of "
         "gradient_accumulation.",
         "as in the technique"},
        kBatchRange, 0));
    if (has("micro_batch") && has_batch && t_.micro_batch > t_.batch)
      fields_.error("micro_batch", fmt::format("{}: {} sequences at once are more than the batch of {}",
                                               fields_.path_of("micro_batch"), t_.micro_batch, t_.batch));
    t_.precision =
        static_cast<Precision>(fields_.choice({"precision", "The number format of the passes."}, precision_names(), 0));
    t_.gradient_precision = static_cast<Precision>(
        fields_.choice({"gradient_precision", "The number format of stored and exchanged gradients.", "as precision"},
                       precision_names(), static_cast<std::size_t>(t_.precision)));
    t_.optimizer = static_cast<UpdateRule>(fields_.choice(
        {"optimizer", "Optimizer of the weights; its state counts in memory and time."}, update_rule_names(), 0));
    if (t_.optimizer == UpdateRule::kAdam16bit && !is_half(t_.precision))
      fields_.error("optimizer", fmt::format("{}: adam16bit keeps its moments as weights in 16 bits; with precision {} "
                                             "it is adam",
                                             fields_.path_of("optimizer"), name_in(precision_names(), t_.precision)));
    if (const Node* lora = fields_.child(
            {"lora", "Low-rank adapters (LoRA): only they are trained; the model's own parameters are frozen.",
             "no adapters"}))
      t_.lora = read_lora(Fields(*lora, "training.lora", reading_));
    t_.rematerialisation =
        fields_.flag({"rematerialisation", "Whether only each layer's input is kept, and the rest recomputed."}, false);
    t_.iteration_overhead = fields_.quantity<Seconds>(
        FileKey{"iteration_overhead", "Time to launch an iteration on every GPU."}.measured_by(kFit), {{0}, {60}},
        Seconds{0});
    t_.control_round_trips = fields_.number(FileKey{"control_round_trips",
                                                    "Sequential round trips in each iteration between the driver, on "
                                                    "the group's first VM, and its farthest VM."}
                                                .measured_by(kFit, Use::kDriver),
                                            {0, 10'000}, 0.0);
    return t_;
  }

 private:
  bool has(const char* key) { return fields_.has(key) && !fields_.describing(); }

  void read_batch() {
    const bool in_tokens = has("batch_tokens");
    const FileKey in_sequences{"batch", "Sequences per optimizer step, over all GPUs.", "by batch_tokens"};
    if (!in_tokens || fields_.describing()) t_.batch = static_cast<int>(fields_.integer(in_sequences, kBatchRange));
    if (!in_tokens && !fields_.describing()) return;
    refuse_beside("batch_tokens", {"batch"});
    const std::int64_t tokens = fields_.integer(
        {"batch_tokens", "Tokens per optimizer step, over all GPUs; in place of batch.", "batch"}, {1, 1LL << 40}, 1);
    const std::int64_t length = sequence("batch_tokens");
    if (length == 0) return;
    t_.batch = static_cast<int>(std::clamp(tokens / length, kBatchRange.low, kBatchRange.high));
    if (t_.batch * length == tokens) return;
    const std::int64_t below = tokens / length * length;
    fields_.error("batch_tokens", fmt::format("{}: {} tokens are not a whole number of sequences of {}; {}{} are",
                                              fields_.path_of("batch_tokens"), tokens, length,
                                              below > 0 ? fmt::format("{} and ", below) : "", below + length));
  }

  void read_extent() {
    static const std::vector<std::string> kPasses = {"epochs", "blocks_per_epoch", "tokens_per_epoch"};
    if (fields_.forks_on("tokens")) {
      t_.extent = Extent::kTokens;
      refuse_beside("tokens", kPasses, "; tokens of one pass are tokens_per_epoch");
      refuse_beside("tokens", {"samples"});
      t_.tokens = fields_.number({"tokens", "Tokens of the whole job; in place of epochs."}, kTokensRange);
      t_.blocks_per_epoch = sequences_of("tokens", t_.tokens);
    } else if (fields_.forks_on("samples")) {
      t_.extent = Extent::kSamples;
      refuse_beside("samples", kPasses, "; sequences of one pass are blocks_per_epoch");
      t_.blocks_per_epoch =
          fields_.number({"samples", "Sequences of the whole job; in place of epochs."}, kBlocksRange);
    } else {
      return read_passes();
    }
    t_.epochs = 1;
  }

  void read_passes() {
    t_.epochs = static_cast<int>(fields_.integer({"epochs", "Passes over the data."}, {1, 1'000'000}));
    const bool in_tokens = has("tokens_per_epoch");
    if (!in_tokens || fields_.describing())
      t_.blocks_per_epoch = fields_.number(
          {"blocks_per_epoch", "Training sequences in one pass over the data.", "by tokens_per_epoch"}, kBlocksRange);
    if (!in_tokens && !fields_.describing()) return;
    refuse_beside("tokens_per_epoch", {"blocks_per_epoch"});
    const double tokens = fields_.number(
        {"tokens_per_epoch", "Tokens in one pass over the data; in place of blocks_per_epoch.", "by blocks_per_epoch"},
        kTokensRange);
    t_.blocks_per_epoch = sequences_of("tokens_per_epoch", tokens);
  }

  // Tokens of an incomplete last sequence are dropped, as by GPT's loaders.
  double sequences_of(const char* key, double tokens) {
    const auto length = static_cast<double>(sequence(key));
    if (length == 0) return 1;
    const bool misread =
        !reading_.errors.empty() && reading_.errors.back().text.starts_with(fields_.path_of(key) + ":");
    if (tokens < length && !misread)
      fields_.error(
          key, fmt::format("{}: {:g} tokens are less than one sequence of {:g}", fields_.path_of(key), tokens, length));
    return std::max(1.0, std::floor(tokens / length));
  }

  void refuse_beside(const char* key, const std::vector<std::string>& others, const char* hint = "") {
    for (const auto& other : others) {
      if (has(other.c_str()))
        fields_.error(
            other, fmt::format("{} excludes {}; leave one out{}", fields_.path_of(other), fields_.path_of(key), hint));
    }
  }

  // Sequence length of all models in tokens; 0 where it is unknown or differs.
  std::int64_t sequence(const char* key) {
    if (models_.empty() || models_.front().sequence == 0 || fields_.describing()) return 0;
    for (const auto& model : models_) {
      if (model.sequence == models_.front().sequence || model.sequence == 0) continue;
      fields_.error(key, fmt::format("{}: sequences of {} have {} tokens, those of {} {}, so that they make different "
                                     "numbers of sequences; run one model at a time, e.g. --set models={}",
                                     fields_.path_of(key), models_.front().name, models_.front().sequence, model.name,
                                     model.sequence, model.name));
      return 0;
    }
    return models_.front().sequence;
  }

  Fields& fields_;
  const std::vector<Transformer>& models_;
  Reading& reading_;
  Training t_;
};

}  // namespace

Training read_training(Fields& fields, const std::vector<Transformer>& models, Reading& reading) {
  return TrainingReader(fields, models, reading).read();
}

std::string rival_of(const std::string& path, const std::vector<std::string>& others) {
  constexpr std::string_view kSection = "training.";
  if (!path.starts_with(kSection)) return "";
  const std::string key = path.substr(kSection.size());
  for (const auto& ways : rivals()) {
    const auto has = [](const auto& way, const std::string& one) { return std::ranges::find(way, one) != way.end(); };
    const auto own = std::ranges::find_if(ways, [&](const auto& way) { return has(way, key); });
    for (auto way = ways.begin(); own != ways.end() && way != ways.end(); ++way) {
      for (const auto& other : others) {
        if (way != own && other.starts_with(kSection) && has(*way, other.substr(kSection.size()))) return other;
      }
    }
  }
  return "";
}

void yield_to(Node& scenario, const std::string& path) {
  constexpr std::string_view kSection = "training.";
  Node* training = scenario.find("training");
  if (!training || !path.starts_with(kSection)) return;
  const std::string key = path.substr(kSection.size());
  for (const auto& ways : rivals()) {
    const auto has = [&](const std::vector<std::string>& way) { return std::ranges::find(way, key) != way.end(); };
    const auto own = std::ranges::find_if(ways, has);
    if (own == ways.end()) continue;
    for (auto way = ways.begin(); way != ways.end(); ++way) {
      if (way == own) continue;
      std::erase_if(training->entries,
                    [&](const Entry& entry) { return std::ranges::find(*way, entry.key) != way->end(); });
    }
  }
}

}  // namespace slmsim
