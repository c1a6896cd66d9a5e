#include "sim/validate/measured_step.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace slmsim {
namespace {

constexpr const char* kSizes[] = {"hidden", "heads", "layers", "sequence", "vocabulary", "intermediate"};
constexpr const char* kNotCompared[] = {"schema",
                                        "gpu",
                                        "optimizer",
                                        "dropout",
                                        "torch",
                                        "cuda",
                                        "host",
                                        "date",
                                        "reason",
                                        "forward_s",
                                        "backward_s",
                                        "optimizer_s",
                                        "loss",
                                        "device",
                                        "parameters",
                                        "memory_bytes",
                                        "peak_reserved_bytes",
                                        "configuration",
                                        "built_s",
                                        "first_step_s",
                                        "took_s",
                                        "host_s",
                                        "memory",
                                        "kernels",
                                        "peak_requested_bytes",
                                        "outside_bytes",
                                        "segments",
                                        "allocations_retried",
                                        "kv_heads",
                                        "tied_embedding"};
constexpr Range<std::int64_t> kCounts{1, 1 << 20};
constexpr Range<double> kStepRange{1e-6, 1e6}, kBytesRange{1, 1e15};

// Nothing where the step failed, or trained in a way that is not compared.
std::optional<MeasuredStep> read_step(const Node& node, const std::string& path, Reading& reading) {
  Fields fields(node, path, reading);
  MeasuredStep step;
  for (const char* key : kNotCompared) fields.ignore({key, "Told of the measurement; not compared."});
  fields.choice({"schema", "The form of the file."}, {"slmsim/step/1"});
  step.model = fields.name({"model", "What the model is called."}, "model");
  step.gpu = fields.text({"gpu", "The GPU as its driver calls it."}, "");
  step.sizes = fmt::format("name: {}, family: gpt2", step.model);
  for (const char* key : kSizes) {
    const auto size = fields.integer({key, "A size of the model."}, {1, 1 << 30});
    // GPT-2's width inside an MLP is fixed.
    if (std::string_view(key) != "intermediate") step.sizes += fmt::format(", {}: {}", key, size);
  }
  step.gpus = static_cast<int>(fields.integer({"gpus", "GPUs that trained, data parallel."}, kCounts, 1));
  step.batch = static_cast<int>(fields.integer({"batch", "Sequences per GPU and step."}, kCounts));
  step.micro_batches =
      static_cast<int>(fields.integer({"micro_batches", "A GPU's sequences were cut into so many."}, kCounts, 1));
  if (std::int64_t{step.batch} * step.gpus > kCounts.high)
    fields.error("batch", fmt::format("{} sequences on each of {} GPUs are more than {} in all; that is beyond this "
                                      "simulator",
                                      step.batch, step.gpus, kCounts.high));
  step.precision =
      static_cast<Precision>(fields.choice({"precision", "The number format of the passes."}, precision_names()));
  step.flash = fields.choice({"attention", "How attention was computed."}, {"eager", "sdpa"}, 0) == 1;
  bool compared =
      fields.choice({"family", "The model's architecture; a Llama is not compared."}, {"gpt2", "llama"}, 0) == 0;
  compared &=
      fields.choice({"compile", "What torch.compile took; not compared unless no."}, {"no", "blocks", "model"}, 0) == 0;
  compared &= !fields.flag({"checkpoints", "Whether blocks were recomputed; such steps are not compared."}, false);
  compared &= fields.integer({"lora", "The rank of adapters; such steps are not compared."}, {0, 1 << 20}, 0) == 0;
  const auto status = fields.choice({"status", "Whether it ran."}, {"ok", "oom", "failed"});
  step.out_of_memory = status == 1;
  if (const Node* times = fields.child({"step_s", "Seconds of a step."}, status == 0)) {
    Fields spread(*times, fields.path_of("step_s"), reading);
    step.step = Seconds{spread.number({"median", "The median of the steps."}, kStepRange)};
    for (const char* key : {"least", "most", "count"}) spread.ignore({key, "Told of the measurement; not compared."});
    spread.done();
  }
  if (fields.has("peak_allocated_bytes"))
    step.peak = Bytes{fields.number({"peak_allocated_bytes", "Tensors on one GPU at most, in bytes."}, kBytesRange)};
  fields.done();
  if (!compared || status == 2) return std::nullopt;
  return step;
}

// Mixed precision by autocast keeps fp32 weights and gradients, and a copy of the weights in training precision. The
// NIC and TCP are not used inside one VM; PyTorch's pool may take all of the memory.
std::string scenario_of(const MeasuredStep& step, const std::string& gpu) {
  std::string gpus;
  for (int i = 0; i < step.gpus; ++i) gpus += (i ? ", \"" : "\"") + gpu + "\"";
  return fmt::format(R"(name: step
models: [{{{}}}]
techniques: {{Data: {{micro_batches: {}}}}}
training: {{batch: {}, epochs: 1, blocks_per_epoch: {}, precision: {}, gradient_precision: fp32}}
software: {{stack: {}, attention: {}, usable_memory: 1.0}}
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
                     step.sizes, step.micro_batches, step.batch * step.gpus, step.batch * step.gpus,
                     precision_names()[static_cast<std::size_t>(step.precision)],
                     element_bytes(step.precision) < 4 ? "autocast" : "eager", step.flash ? "flash" : "unfused", gpus);
}

}  // namespace

std::vector<MeasuredStep> read_measured_steps(const std::filesystem::path& file) {
  const Node root = read_yaml(file);
  if (root.kind != Node::Kind::kSequence || root.items.empty())
    throw InputError(root.place,
                     "a list of measured steps is expected, as calibrate/reference/torch_step.py writes it");
  Reading reading;
  std::vector<MeasuredStep> steps;
  for (std::size_t i = 0; i < root.items.size(); ++i) {
    if (auto step = read_step(root.items[i], fmt::format("steps.{}", i), reading)) steps.push_back(std::move(*step));
  }
  reading.check();
  if (steps.empty())
    throw InputError(root.place, "no step here ran on a GPT-2 without torch.compile, checkpoints or LoRA");
  return steps;
}

Bytes StepComparison::predicted_peak() const {
  const DeviceMemory* memory = fullest(prediction.memory);
  return memory ? memory->total() - memory->framework : Bytes{0};
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
  for (const auto& step : steps) {
    ScenarioFile file(parse_yaml(scenario_of(step, gpu), "--gpu"), std::filesystem::current_path() / "step.yaml");
    std::vector<Override> all;
    for (int i = 0; i < step.gpus && !profile.empty(); ++i)
      all.push_back(parse_override(fmt::format("platform.vms.vm.gpus.{}.profile=\"{}\"", i, profile)));
    all.insert(all.end(), overrides.begin(), overrides.end());
    const Scenario scenario = read_scenario(file.link(all), file.name());
    out.push_back({step, predict(scenario).front()});
  }
  return out;
}

}  // namespace slmsim
