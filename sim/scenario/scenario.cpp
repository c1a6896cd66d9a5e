#include "sim/scenario/scenario.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/name_in.h"
#include "sim/compute/operator_graph.h"

namespace slmsim {
namespace {

// Defaults of a scenario.
constexpr double kDefaultDelta = 0.1;
constexpr double kDefaultMemoryEfficiency = 0.8;  // of products bound by memory (docs/validation/gpu.md)
constexpr Seconds kDefaultLaunch{5e-6};           // typical of a CUDA kernel launch
constexpr Bytes kDefaultFramework{600 * kMebi};   // typical of a CUDA context with cuBLAS and NCCL

class ScenarioReader {
 public:
  ScenarioReader(const Node& node, Reading& reading) : node_(node), fields_(node, "", reading), reading_(reading) {}

  Scenario read(const std::string& fallback_name) {
    fields_.describe(kExtends, ValueType::text());
    scenario_.name = fields_.name({"name", "Name of the scenario in results.", "its file's name"}, fallback_name);
    scenario_.description = fields_.text({"description", "Description in one line; slmsim list shows it."}, "");
    if (const Node* platform = fields_.file({"platform", "The cluster."}, kPlatformFile, true))
      scenario_.platform = read_platform(*platform, "platform", reading_);
    read_models();
    const FileKey tried{"techniques",
                        "The techniques to predict: one, a list of names, or a map from names to options.",
                        "Data, ZeRO2, Shard and Pipeshard"};
    if (const Node* techniques = fields_.child(tried)) {
      const auto name = ValueType::choice(technique_names());
      fields_.describe(tried, ValueType::list({name}));
      scenario_.techniques = read_techniques(*techniques, "techniques", reading_);
    } else {
      for (const Technique* technique : technique_table()) {
        if (technique->usual) scenario_.techniques.push_back({technique, {}});
      }
    }
    read_training();
    scenario_.nccl = read_nccl(section({"nccl", "NCCL's environment variables."}));
    read_software();
    read_selection();
    scenario_.plan =
        read_plan_rules(section({"plan", "Objective and choices of slmsim plan."}), scenario_.platform, reading_);
    if (const Node* job = fields_.child(
            {"job", "The job around the iterations: checkpoints, failures, lease, costs.", "iterations only"}))
      scenario_.job = read_job(Fields(*job, "job", reading_), scenario_.platform, scenario_.training.epochs,
                               !scenario_.plan.dollars_per_hour.empty(), reading_);
    scenario_.groups = read_groups(fields_, scenario_.platform, reading_);
    check_rings();
    fields_.hint(keys_of_sections());
    fields_.done();
    return std::move(scenario_);
  }

 private:
  // Keys that are easily stated without their section.
  static std::map<std::string, std::string> keys_of_sections() {
    std::map<std::string, std::string> out;
    for (const auto* key : {"batch", "batch_tokens", "micro_batch", "gradient_accumulation", "epochs", "samples",
                            "tokens", "precision", "optimizer", "rematerialisation", "lora"})
      out[key] = fmt::format("did you mean \"training.{}\"?", key);
    for (const auto* key : {"stack", "attention"}) out[key] = fmt::format("did you mean \"software.{}\"?", key);
    for (const auto* key : {"sites", "vms", "links"}) out[key] = fmt::format("did you mean \"platform.{}\"?", key);
    return out;
  }

  // A section; an absent one reads as an empty map.
  Fields section(const FileKey& key) {
    const Node* found = fields_.child(key);
    return Fields(found ? *found : empty_, key.name, reading_);
  }

  void read_models() {
    const auto models =
        fields_.list({"models", "The models to predict."}, {ValueType::of_file(kModelFile)}, {1, kAnyCount.high});
    if (models.empty() && !fields_.has("models") && fields_.is_map())
      fields_.error("models", "the file has no \"models\"; it is required");
    for (std::size_t i = 0; i < models.size(); ++i) {
      const bool of_file = models[i]->named_at.source && models[i]->place.source;
      const std::string name = of_file ? model_name_of(models[i]->place.source->name) : "model";
      auto model = read_transformer(*models[i], fmt::format("models.{}", i), name, reading_);
      const bool twice = std::ranges::any_of(scenario_.models, [&](const auto& m) { return m.name == model.name; });
      if (twice && !model.name.empty())
        reading_.error(
            models[i]->named_at.source ? models[i]->named_at : models[i]->place,
            fmt::format("two models are named \"{}\"; names must differ, and models.{}.name sets one", model.name, i));
      scenario_.models.push_back(std::move(model));
    }
  }

  void read_training() {
    const Node* training = fields_.child({"training", "The training job: batch, extent, precision, optimizer."}, true);
    if (!training) return;
    Fields fields(*training, "training", reading_);
    const Training& t = scenario_.training = slmsim::read_training(
        fields, reading_.errors.empty() ? scenario_.models : std::vector<Transformer>{}, reading_);
    fields.done();
    for (Transformer& model : scenario_.models) model.lora = t.lora;
    for (const auto& options : scenario_.techniques) {
      if (std::max(options.micro_batches(), t.gradient_accumulation) <= t.batch) continue;
      fields.error(
          "batch",
          fmt::format("a batch of {} cannot be cut into the {} micro-batches of {}; choose at most one per sequence",
                      t.batch, std::max(options.micro_batches(), t.gradient_accumulation), options.technique->name));
    }
  }

  // The ring of two VMs has one order.
  void check_rings() {
    if (scenario_.nccl.ring_order == RingOrder::kAsNumbered || scenario_.groups.empty()) return;
    const bool any = std::ranges::any_of(scenario_.groups, [&](const Group& group) {
      std::set<int> vms;
      for (const int device : group.devices) vms.insert(scenario_.platform.devices[device].vm);
      return vms.size() > 2;
    });
    if (!any) fields_.error("nccl", "nccl.ring_order has no effect: no group has three VMs; leave it out");
  }

  void read_software() {
    Fields fields = section({"software", "Efficiency and overheads of the software."});
    Software& e = scenario_.software;
    e.memory = fields.number(
        FileKey{
            "memory_efficiency",
            "Share of the device memory's rate that matrix products, and kernels that the stack does not state, reach."}
            .measured_by(kCalibrate, Use::kUntimedKernels),
        {1e-3, 1.0}, kDefaultMemoryEfficiency);
    if (const Node* stack =
            fields.file({"stack", "The kernels that run, and the bytes they move.", "eager"}, kStackFile)) {
      read_stack(*stack, "software.stack", reading_, e);
      e.stack_assumed = stack->named_at.source && stack->named_at.line == 0;
    }
    if (e.autocast && !reading_.describing()) check_autocast(fields);
    fields.text({"title", "Name of the software, for the reader; not used."}, "");
    e.attention = static_cast<AttentionKernel>(
        fields.choice({"attention", "The kernels of attention; overrides the stack's.", "the stack's"},
                      attention_kernel_names(), static_cast<std::size_t>(e.attention)));
    if (const Node* kernels =
            fields.child({"kernels", "Bytes that single kernels move; overrides the stack's.", "the stack's"}))
      check_kernels(read_kernels(*kernels, "software.kernels", reading_, e), fields);
    if (const Node* flash =
            fields.child({"flash", "Efficiency of flash attention; overrides the stack's.", "the stack's"})) {
      std::erase_if(reading_.parameters, [](const auto& p) { return p.use == Use::kFlash || p.use == Use::kFlashOn; });
      e.flash = read_flash(*flash, "software.flash", reading_);
      if (!reading_.describing() && !keeps_no_scores(e.attention))
        fields.error("flash", "software.flash has no effect: attention is not flash; add attention: flash");
    }
    e.loss_memory =
        fields.number({"loss_memory", "Bytes kept per logit besides the logits; overrides the stack's.", "the stack's"},
                      {0, 100}, e.loss_memory);
    if (fields.has_value("loss_memory")) e.sharded_loss_memory = e.loss_memory;
    e.recompute_stops_early =
        fields.flag({"recompute_stops_early",
                     "Whether recomputing a layer leaves out its last product; overrides the stack's.", "the stack's"},
                    e.recompute_stops_early);
    const FileKey matrix{
        "matrix_efficiency",
        "Share of the peak that large matrix products reach, by GPU or architecture; overrides the GPU's file."};
    fields.inside(matrix, [&](Fields& rates) {
      const Owned owned = rates.owned_by(Scope::kMatrix);
      for (const auto& name : rated_names()) {
        const FileKey share{name, "Share of the peak on such GPUs.", "as in the GPU's file"};
        if (rates.has(name)) e.matrix[name] = rates.number(share, {1e-4, 2.0});
      }
    });
    e.launch = fields.quantity<Seconds>(
        FileKey{"kernel_launch", "Time to launch a kernel."}.measured_by(kCalibrate, Use::kUntimedKernels),
        {{0}, {0.1}}, kDefaultLaunch);
    const Node* framework = fields.child({"framework", "Overheads of the framework besides the model's arithmetic."});
    scenario_.framework = read_framework(Fields(framework ? *framework : empty_, "software.framework", reading_));
    scenario_.memory.usable_share = fields.number(
        FileKey{"usable_memory", "Share of the device memory that the framework's pool takes."}.measured_by(kTorchStep),
        {0.05, 1.0}, e.usable_memory);
    scenario_.memory.framework = fields.quantity<Bytes>(
        FileKey{"framework_memory", "CUDA context, kernels and workspaces on each GPU."}.measured_by(kTorchStep),
        {{0}, {64 * kGibi}}, kDefaultFramework);
    fields.done();
  }

  // Kernels that replace the stack's.
  void check_kernels(const std::vector<KernelPart>& kernels, Fields& software) {
    for (const KernelPart part : kernels) {
      const std::string& name = name_in(kernel_part_names(), part);
      std::erase_if(reading_.parameters,
                    [&](const Parameter& p) { return p.path == "software.stack.kernels." + name; });
      if (reading_.describing() || scenario_.models.empty() || is_used(part)) continue;
      software.error("kernels", fmt::format("software.kernels.{} has no effect: no model runs it; leave it out", name));
    }
  }

  bool is_used(KernelPart part) const {
    return std::ranges::any_of(scenario_.models, [&](const Transformer& model) {
      const OperatorGraph operators = build_operator_graph(model);
      const auto [first, last] = boost::vertices(operators);
      return std::any_of(first, last, [&](const auto v) {
        const Software& software = scenario_.software;
        for (const AttentionKernel attention : {software.attention, software.attention_elsewhere}) {
          for (const PartUse& use : parts_of(operators[v], attention)) {
            if (use.part == part || stated_part(operators[v], use.part, software) == part) return true;
          }
        }
        return false;
      });
    });
  }

  void check_autocast(Fields& software) {
    const Training& training = scenario_.training;
    if (element_bytes(training.precision) >= element_bytes(Precision::kFp32)) {
      software.error("stack", fmt::format("stack {} casts to 16 bits; set training.precision to fp16 or bf16, or take "
                                          "stack eager",
                                          scenario_.software.stack));
    } else if (training.gradient_precision != Precision::kFp32) {
      software.error("stack",
                     fmt::format("with stack {} gradients are in fp32; set training.gradient_precision to fp32",
                                 scenario_.software.stack));
    } else if (training.optimizer == UpdateRule::kAdam16bit) {
      software.error("stack",
                     fmt::format("with stack {} weights are in fp32, not in 16 bits as adam16bit updates; take "
                                 "stack eager or compiled",
                                 scenario_.software.stack));
    }
  }

  // Architectures, and the platform's GPUs.
  std::vector<std::string> rated_names() const {
    std::vector<std::string> names = architecture_names();
    for (const auto& device : scenario_.platform.devices) {
      const bool known = std::ranges::find(names, device.gpu.name) != names.end();
      if (!known && !device.gpu.name.empty()) names.push_back(device.gpu.name);
    }
    return names;
  }

  void read_selection() {
    Fields fields = section({"selection", "Rules by which Algorithm 1 picks among the predictions."});
    SelectionRules& s = scenario_.selection;
    s.algorithm = static_cast<Algorithm>(
        fields.choice({"algorithm", "Algorithm 1 as the study prints it, or amended."}, algorithm_names(), 1));
    s.objective = static_cast<Objective>(fields.choice({"objective", "Criterion of the pick."}, objective_names(), 0));
    s.delta = fields.number({"delta", "Smallest relative lead that decides."}, {1e-9, 1.0}, kDefaultDelta);
    s.epsilon_epochs = static_cast<int>(
        fields.integer({"epsilon_epochs", "Epochs of the trial runs that measure performance."}, {1, 1000}, 1));
    fields.done();
  }

  const Node& node_;
  Node empty_ = [] {
    Node node;
    node.kind = Node::Kind::kMap;
    return node;
  }();
  Fields fields_;
  Reading& reading_;
  Scenario scenario_;
};

Scenario load(ScenarioFile scenario, const Overrides& overrides) {
  std::vector<Override> parsed;
  for (const auto& text : overrides) parsed.push_back(parse_override(text));
  return read_scenario(scenario.link(parsed), scenario.name());
}

}  // namespace

void describe_scenario(const Node& sample, Reading& reading) { ScenarioReader(sample, reading).read("scenario"); }

double Training::steps() const { return std::ceil(blocks_per_epoch * epochs / batch); }

double steps_of_job(const Training& training, const TechniqueOptions& options) {
  return std::ceil(training.steps() * options.steps_factor());
}

const std::vector<std::string>& algorithm_names() {
  static const std::vector<std::string> kNames = {"paper", "amended"};
  return kNames;
}

const std::vector<std::string>& objective_names() {
  static const std::vector<std::string> kNames = {"time", "gpu_hours", "tflops_per_gpu"};
  return kNames;
}

std::string too_old_gpu(const Scenario& scenario, const std::vector<int>& devices) {
  const Software& software = scenario.software;
  for (const int device : devices) {
    const Gpu& gpu = scenario.platform.devices[static_cast<std::size_t>(device)].gpu;
    if (!software.runs_on(gpu))
      return fmt::format("{} has compute capability {:.1f}, and stack {} needs {:.1f}", gpu.name,
                         gpu.compute_capability / 10.0, software.stack, software.least_capability / 10.0);
  }
  return "";
}

Scenario read_scenario(const Node& linked, const std::string& name) {
  Reading reading;
  Scenario scenario = ScenarioReader(linked, reading).read(name);
  reading.check();
  scenario.parameters = std::move(reading.parameters);
  scenario.defaults = std::move(reading.defaults);
  return scenario;
}

Scenario load_scenario(const std::filesystem::path& file, const Overrides& overrides) {
  return load(ScenarioFile(file), overrides);
}

Scenario load_scenario(const ScenarioText& text, const Overrides& overrides) {
  return load(ScenarioFile(text), overrides);
}

}  // namespace slmsim
