#include "sim/fit/measured_step.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/name_in.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/import/inventory/inventory.h"

namespace slmsim {
namespace {

constexpr const char* kModelSizes[] = {"hidden", "heads", "layers", "vocabulary"};
constexpr const char* kNotCompared[] = {"schema",        "gpu",
                                        "torch",         "cuda",
                                        "host",          "date",
                                        "reason",        "forward_s",
                                        "backward_s",    "optimizer_s",
                                        "loss",          "device",
                                        "parameters",    "memory_bytes",
                                        "built_s",       "first_step_s",
                                        "took_s",        "host_s",
                                        "memory",        "kernels",
                                        "segments",      "peak_requested_bytes",
                                        "outside_bytes", "allocations_retried",
                                        "transformers",  "short_s",
                                        "short_kernels"};
constexpr Range<std::int64_t> kCounts{1, 1 << 20};
constexpr Range<double> kStepRange{1e-6, 1e6}, kBytesRange{kMebi, 1e15};

constexpr Range<std::int64_t> kSizeRange{1, 1 << 30};

// The model of torch_step.py, by its sizes; why it is not representable, or null.
const char* read_sizes(Fields& fields, MeasuredStep& step) {
  step.model = fields.name({"model", "Name of the model."}, "model");
  const bool llama = fields.choice({"family", "The model's architecture."}, {"gpt2", "llama"}, 0) == 1;
  step.sizes = fmt::format("name: {}, family: {}, sequence: {}", step.model, llama ? "llama" : "gpt2", step.sequence);
  for (const char* key : kModelSizes)
    step.sizes += fmt::format(", {}: {}", key, fields.integer({key, "A size of the model."}, kSizeRange));
  const auto wide =
      fields.integer({"intermediate", "Width inside an MLP; GPT-2's is four times the hidden size."}, kSizeRange);
  if (fields.has("kv_heads")) {
    const auto heads = fields.integer({"kv_heads", "Heads of keys and values."}, kSizeRange);
    if (llama) step.sizes += fmt::format(", kv_heads: {}", heads);
  }
  const bool tied = fields.flag({"tied_embedding", "Whether the head uses the embedding's weights."}, !llama);
  const double dropout = fields.number({"dropout", "Dropout of GPT-2."}, {0, 1}, llama ? 0.0 : 0.1);
  if (llama)
    step.sizes += fmt::format(", intermediate: {}, tied_embedding: {}", wide, tied ? "yes" : "no");
  else
    step.sizes += fmt::format(", dropout: {}", dropout > 0 ? "yes" : "no");
  return llama && dropout > 0 ? "Llama has no dropout" : !llama && !tied ? "GPT-2's head is the embedding" : nullptr;
}

// The model of transformers_step.py: a config.json, whose sequence is as long as measured.
void read_config(Fields& fields, MeasuredStep& step) {
  step.model = fields.name({"name", "Name of the model."}, "model");
  if (const Node* config = fields.child({"config", "The model's config.json."}, true)) step.config = *config;
}

// Precision of the passes by its word, and what the model's output holds per logit.
void read_precision(Fields& fields, MeasuredStep& step) {
  constexpr double kHalf = 2, kFull = 4;
  const FileKey key{"precision", "The number format of the passes."};
  if (!step.has_config()) {
    step.precision = static_cast<Precision>(fields.choice(key, precision_names()));
    return;
  }
  const auto word = fields.choice(key, {"autocast", "accelerate", "bf16", "tf32", "fp32"});
  step.precision = word == 4 ? Precision::kFp32 : word == 3 ? Precision::kTf32 : Precision::kBf16;
  step.all_in_16_bits = word == 2;
  step.held_logits = word == 0 || word == 2 ? kHalf : kFull;  // accelerate casts outputs to fp32
}

// Reads one entry of the list, as a step or as a skipped one.
void read_step(const Node& node, const std::string& path, Reading& reading, MeasuredSteps& out) {
  Fields fields(node, path, reading);
  MeasuredStep step;
  step.place = node.place;
  for (const char* key : kNotCompared) fields.ignore({key, "Recorded with the measurement; not compared."});
  fields.choice({"schema", "The form of the file."}, {"slmsim/step/1"});
  step.gpu = fields.text({"gpu", "The GPU as its driver calls it."}, "");
  step.sequence = static_cast<int>(fields.integer({"sequence", "Tokens of a sequence."}, kSizeRange));
  const char* other_model = nullptr;
  if (fields.has("config"))
    read_config(fields, step);
  else
    other_model = read_sizes(fields, step);
  step.gpus = static_cast<int>(fields.integer({"gpus", "GPUs that trained, data parallel."}, kCounts, 1));
  step.batch = static_cast<int>(fields.integer({"batch", "Sequences per GPU and step."}, kCounts));
  step.micro_batches =
      static_cast<int>(fields.integer({"micro_batches", "Micro-batches of a GPU's sequences."}, kCounts, 1));
  if (std::int64_t{step.batch} * step.gpus > kCounts.high)
    fields.error("batch", fmt::format("{} sequences on each of {} GPUs are more than {} in all; that is beyond this "
                                      "simulator",
                                      step.batch, step.gpus, kCounts.high));
  read_precision(fields, step);
  const bool halves = element_bytes(step.precision) < 4;
  step.flash = fields.choice({"attention", "How attention was computed."}, {"eager", "sdpa"}, 0) == 1;
  const auto compile = fields.choice({"compile", "Scope of torch.compile."}, {"no", "blocks", "model"}, 0);
  step.compiled = compile == 2;
  if (step.compiled) step.held_logits = 0;  // it keeps the logits anyway
  step.checkpoints = fields.flag({"checkpoints", "Whether blocks were recomputed."}, false);
  const auto adam = fields.choice({"optimizer", "PyTorch's AdamW."}, {"fused", "foreach", "single"}, 0);
  step.foreach = adam == 1;
  step.lora =
      static_cast<int>(fields.integer({"lora", "The rank of adapters; 0: all weights were trained."}, {0, 1 << 20}, 0));
  const auto status = fields.choice({"status", "Outcome of the run."}, {"ok", "oom", "failed"});
  step.out_of_memory = status == 1;
  const auto read_times = [&](Fields& spread) {
    const double median = spread.number({"median", "The median of the steps."}, kStepRange);
    const double least = spread.number({"least", "The shortest of the steps."}, kStepRange, median);
    const double most = spread.number({"most", "The longest of the steps."}, kStepRange, median);
    if (median < least || median > most)
      spread.error("median", fmt::format("{}: {} s is not from {} to {} s, the shortest and the longest step",
                                         spread.path_of("median"), median, least, most));
    step.step = Seconds{median};
    spread.ignore({"count", "Recorded with the measurement; not compared."});
  };
  fields.inside({"step_s", "Seconds of a step."}, read_times, status == 0);
  if (fields.has("peak_allocated_bytes"))
    step.peak =
        Bytes{fields.number({"peak_allocated_bytes", "Peak size of tensors on one GPU, in bytes."}, kBytesRange)};
  if (fields.has("peak_reserved_bytes"))
    step.reserved =
        Bytes{fields.number({"peak_reserved_bytes", "Peak size of PyTorch's allocator, in bytes."}, kBytesRange)};
  step.title = fields.text({"configuration", "The title."},
                           fmt::format("{}, batch {}x{}, {}", step.model, step.batch, step.sequence,
                                       name_in(precision_names(), step.precision)));
  fields.done();
  const char* why = status == 2                ? "the measurement failed"
                    : compile == 1             ? "torch.compile of single blocks is not modelled"
                    : step.compiled && !halves ? "torch.compile without autocast is not modelled"
                    : adam == 2                ? "the optimizer's loop over single tensors is not modelled"
                    : step.lora > 0 && !step.has_config()
                        ? "adapters on one product for queries, keys and values are not modelled"
                        : other_model;
  if (why)
    out.skipped.push_back({step.title, why});
  else
    out.steps.push_back(std::move(step));
}

// Mixed precision by autocast keeps fp32 weights and gradients, and a copy of the weights in training precision. The NIC and
// TCP are not used inside one VM; PyTorch's pool may take all of the memory.
std::string scenario_of(const MeasuredStep& step, const std::string& gpu) {
  std::string gpus;
  for (int i = 0; i < step.gpus; ++i) gpus += (i ? ", \"" : "\"") + gpu + "\"";
  const char* attention = !step.flash ? "unfused" : is_half(step.precision) ? "flash" : "memory_efficient";
  const std::string lora = step.lora > 0         ? fmt::format(", lora: {{rank: {}}}", step.lora)
                           : step.all_in_16_bits ? ", optimizer: adam16bit"
                                                 : "";
  return fmt::format(R"(name: step
models: [{{{}}}]
techniques: {{DDP: {{micro_batches: {}, recompute: {}}}}}
training: {{batch: {}, epochs: 1, blocks_per_epoch: {}, precision: {}, gradient_precision: {}{}}}
software: {{stack: {}, attention: {}, recompute_stops_early: {}, usable_memory: 1.0}}
platform:
  name: machine
  sites: {{here: {{}}}}
  vms:
    vm:
      site: here
      type:
        name: machine
        nic: 10 Gbps
        device_latency: 10 us
        tcp: {{net.ipv4.tcp_rmem: 6 MiB, net.ipv4.tcp_wmem: 4 MiB, copy_rate: 1 GB/s}}
      gpus: [{}]
)",
                     step.sizes, step.micro_batches, step.checkpoints ? "full" : "none", step.batch * step.gpus,
                     step.batch * step.gpus, name_in(precision_names(), step.precision),
                     step.all_in_16_bits ? "bf16" : "fp32", lora, step.stack(), attention,
                     step.checkpoints ? "yes" : "no", gpus);
}

// Size for each of PyTorch's two cuBLAS handles, of the forward pass and of autograd's thread
// (aten/src/ATen/cuda/CublasHandlePool.cpp, getChosenWorkspaceSize): from Hopper on 32 MiB, before 2 x 4 MiB and 8 x 16 KiB.
Bytes cublas_workspaces(const Gpu& gpu) {
  constexpr int kHopper = 90;
  constexpr double kHandles = 2, kBefore = 2 * 4096 * 1024 + 8 * 16 * 1024;
  return Bytes{kHandles * (gpu.compute_capability >= kHopper ? 32 * kMebi : kBefore)};
}

// One kernel that reads gradient, weights and both moments in fp32 and writes the last three, instead of the stack's steps over
// lists of tensors.
constexpr const char* kFusedAdam[] = {"software.stack.adam=28", "software.stack.adam_kernel=adam"};

// calibrate/reference/torch_model.py repeats keys and values before any attention.
void give_modules_of_torch_model(Software& software) {
  const auto kernel = [&](KernelPart part) -> auto& { return software.kernels[static_cast<std::size_t>(part)]; };
  kernel(KernelPart::kRepeatFlash) = kernel(KernelPart::kRepeat);
}

// Throws InputError where the step cannot be of this GPU.
void check_gpu(const MeasuredStep& step, const Gpu& gpu) {
  const bool is_known = !gpu_called(step.gpu).empty();
  if (is_known && !is_same_chip(step.gpu, gpu.title) && !is_same_chip(step.gpu, gpu.name))
    throw InputError(step.place, fmt::format("measured on \"{}\", and {} is {}; give --gpu {}", printable(step.gpu),
                                             gpu.name, gpu.title, gpu_called(step.gpu)));
  for (const auto& bytes : {step.peak, step.reserved}) {
    if (bytes && *bytes > gpu.memory)
      throw InputError(step.place, fmt::format("a peak of {} is more than the memory of {}, {}; bytes are expected",
                                               to_text(*bytes), gpu.name, to_text(gpu.memory)));
  }
}

}  // namespace

std::string MeasuredStep::stack() const {
  if (all_in_16_bits) return compiled ? "compiled" : "eager";
  return compiled ? "compiled-autocast" : is_half(precision) ? "autocast" : "eager";
}

MeasuredSteps read_measured_steps(const std::filesystem::path& place) {
  std::error_code ignored;
  const Node root = read_yaml(std::filesystem::is_directory(place, ignored) ? place / "steps.json" : place);
  if (root.kind != Node::Kind::kSequence || root.items.empty())
    throw InputError(root.place,
                     "a list of measured steps is expected, as calibrate/reference/torch_step.py writes it");
  Reading reading;
  MeasuredSteps out;
  for (std::size_t i = 0; i < root.items.size(); ++i)
    read_step(root.items[i], fmt::format("steps.{}", i), reading, out);
  reading.check();
  if (out.steps.empty())
    throw InputError(root.place, fmt::format("no step here can be compared; the first is skipped because {}",
                                             out.skipped.front().why));
  return out;
}

Bytes StepComparison::predicted_peak() const {
  const DeviceMemory* memory = fullest(prediction.memory);
  return memory ? memory->allocated() + workspaces + held : Bytes{0};
}

std::optional<double> StepComparison::time_error() const {
  if (measured.out_of_memory || prediction.status != Status::kOk) return std::nullopt;
  return prediction.iteration / measured.step - 1;
}

std::optional<double> StepComparison::memory_error() const {
  if (measured.out_of_memory || !measured.peak) return std::nullopt;
  return predicted_peak() / *measured.peak - 1;
}

bool StepComparison::status_agrees() const {
  return measured.out_of_memory == (prediction.status == Status::kOutOfMemory);
}

std::vector<StepComparison> compare_steps(const std::vector<MeasuredStep>& steps, const std::string& gpu,
                                          const std::string& profile, const std::vector<Override>& overrides) {
  std::vector<StepComparison> out;
  ScenarioFile file(Node{}, std::filesystem::current_path() / "step.yaml");
  for (const auto& step : steps) {
    Node root = parse_yaml(scenario_of(step, gpu), "--gpu");
    std::vector<Override> all;
    if (step.has_config()) {
      root.find("models")->items.front() = step.config;
      all.push_back(parse_override(fmt::format("models.0.sequence={}", step.sequence)));
    }
    file.replace(std::move(root));
    for (int i = 0; i < step.gpus && !profile.empty(); ++i)
      all.push_back(parse_override(fmt::format("platform.vms.vm.gpus.{}.profile=\"{}\"", i, profile)));
    if (!step.foreach) {
      for (const char* text : kFusedAdam) all.push_back(parse_override(text));
    }
    all.insert(all.end(), overrides.begin(), overrides.end());
    Scenario scenario = read_scenario(file.link(all), file.name());
    if (!step.has_config()) give_modules_of_torch_model(scenario.software);
    const Gpu& device = scenario.platform.devices.front().gpu;
    check_gpu(step, device);
    const double tokens = 1.0 * step.batch / step.micro_batches * step.sequence;  // at once
    const double logits = tokens * static_cast<double>(scenario.models.front().outputs());
    Prediction p = predict(scenario).front();
    if (!step.out_of_memory && p.is_timed() && p.mfu * (p.iteration / step.step) > 1)
      throw InputError(step.place, fmt::format("a step of {} is faster than the data sheet's peak of {} allows",
                                               to_text(step.step), device.name));
    out.push_back({step, std::move(p), cublas_workspaces(device), Bytes{step.held_logits * logits}});
  }
  return out;
}

ErrorSummary summary_of_errors(const std::vector<std::optional<double>>& errors) {
  std::vector<double> known;
  for (const auto& error : errors) {
    if (error) known.push_back(std::abs(*error));
  }
  if (known.empty()) return {};
  std::ranges::sort(known);
  const double mean = std::accumulate(known.begin(), known.end(), 0.0) / static_cast<double>(known.size());
  const std::size_t most = (9 * known.size() + 9) / 10;
  return {.cells = static_cast<int>(known.size()),
          .mean = mean,
          .median = median_of(known),
          .worst = known.back(),
          .tenth_worst = known[most - 1]};
}

std::optional<double> Comparison::error() const {
  if (!predicted || measured == 0) return std::nullopt;
  return *predicted / measured - 1;
}

ErrorSummary summary_of(const std::vector<Comparison>& cells) {
  std::vector<std::optional<double>> errors;
  int zeros = 0;
  double worst = 0;
  for (const auto& cell : cells) {
    if (cell.predicted && cell.measured == 0) {
      ++zeros;
      worst = std::max(worst, std::abs(*cell.predicted));
    } else {
      errors.emplace_back(cell.error().value_or(1.0));
    }
  }
  ErrorSummary out = summary_of_errors(errors);
  out.zeros = zeros;
  out.worst_difference = worst;
  return out;
}

}  // namespace slmsim
