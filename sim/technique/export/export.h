// Exports a plan as files for DeepSpeed, Megatron-LM, Alpa, PyTorch and Accelerate, NCCL's environment and the kernels' settings,
// with the parts of the plan that each program cannot express.
//
// Options are those of DeepSpeed's configuration JSON and launcher (deepspeed.ai/docs/config-json), Megatron-LM's training
// arguments (megatron/training/arguments.py), torchrun's and those of PyTorch's DistributedDataParallel and
// FullyShardedDataParallel, and Alpa 0.2's parallel methods (alpa/parallel_method.py,
// alpa/pipeline_parallel/stage_construction.py).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/compute/compression.h"
#include "sim/technique/common/plan.h"

namespace slmsim {

struct ExportFile {
  std::string name, text;
};

// For one program: its files, or the reasons why there are none; and the user's further steps.
struct Export {
  std::string program;
  std::vector<ExportFile> files;
  std::vector<std::string> cannot;  // reasons; if not empty, there are no files
  std::vector<std::string> notes;
};

struct ExportRequest {
  const RunSetup& setup;
  const Transformer& model;
  const Plan& plan;
};

// A technique's part of an export (Technique::exports); the rest is common to all techniques.
struct DeepSpeedExport {
  std::string cannot;  // the reason why DeepSpeed cannot run the plan; empty: it can
  int stage = 0;       // of ZeRO
  StatePlace optimizer = StatePlace::kGpu, parameters = StatePlace::kGpu;
  std::optional<GradientCollective> gradient_collective;  // where the plan has a choice
  std::optional<Precision> gathered;                      // likewise
  std::optional<int> freeze_step = {};                    // of 1-bit Adam
};
struct MegatronExport {
  std::string cannot;
  int tensor = 1;
  std::optional<std::vector<std::string>> pipeline;  // arguments that cut the pipeline; absent: by the plan's stages
  std::vector<std::string> words;                    // further arguments
  bool distributed_optimizer = false;
};
struct AlpaExport {
  std::string cannot;
  std::string method;  // Python: "alpa.DataParallel(num_micro_batches=4)"
  std::vector<std::string> notes;
  bool pipeline = false;  // rematerialisation belongs to the method, not to the model
};
// PyTorch's own: DistributedDataParallel or FullyShardedDataParallel, with arguments in addition to the model's device;
// or a pipeline of torch.distributed.pipelining.
struct TorchExport {
  std::string cannot = {};
  bool fsdp = false;
  std::string arguments = {};
  bool no_sync = true;
  // Lines that make `model` exchange compressed gradients, and a file with functions that PyTorch lacks; empty: none.
  std::string hook = {}, hook_file = {};
  // For a pipeline: the actions of each rank in order, in the notation of _PipelineScheduleRuntime ("0F0,0I0,0W0").
  std::vector<std::string> actions = {};
};
struct TechniqueExports {
  DeepSpeedExport deepspeed;
  MegatronExport megatron;
  AlpaExport alpa;
  std::optional<TorchExport> torch = {};  // absent: the technique is not PyTorch's
};

TorchExport ddp_of_torch(const Plan& plan);
TorchExport fsdp_of_torch(const FsdpPlan& plan);
TorchExport pipeline_of_torch(const Plan& plan);

// For a pipeline of stages on meshes.
AlpaExport alpa_pipeline(const ExportRequest& request);

Export export_deepspeed(const ExportRequest& request);
Export export_megatron(const ExportRequest& request);
Export export_alpa(const ExportRequest& request);
Export export_accelerate(const ExportRequest& request);
// For techniques of PyTorch itself; nothing for others.
std::optional<Export> export_torch(const ExportRequest& request);
// For plans that exchange once per round; nothing for others. Options are those of torchft.local_sgd's LocalSGD and
// DiLoCo (docs.pytorch.org/torchft/local_sgd.html) and of torchft_lighthouse.
std::optional<Export> export_torchft(const ExportRequest& request);
Export export_environment(const ExportRequest& request);

// All exports, and a README.txt that lists them and the reasons for missing ones.
std::vector<ExportFile> export_plan(const ExportRequest& request, const std::string& title);

// The VMs of a group in its order, each with the numbers of its used GPUs.
struct VmGpus {
  std::string name;
  std::vector<int> gpus;
  int all = 0;  // number of its GPUs, used or not
};
std::vector<VmGpus> used_vms(const RunSetup& setup);
// "bfloat16", of module torch.
const char* torch_type(Precision precision);
// How a script computes that keeps its weights in fp32.
std::string autocast_note(Precision precision);
// Layers of each stage; embedding and head count with the first and the last.
std::vector<int> layers_of_stages(const ExportRequest& request);
// Whether GPUs get different numbers of sequences; whether a plan sums gradients inside VMs first, which cannot be
// exported.
bool has_uneven_shares(const Stage& stage);
bool is_hierarchical(const Plan& plan);
inline constexpr const char* kNoHierarchicalSums =
    "gradients are summed inside VMs first, for which there is no option";
// Reason why a plan with optimizer adam16bit cannot be exported.
inline constexpr const char* kKeepsMaster =
    "it keeps an fp32 master of weights in 16 bits; training.optimizer: adam counts it";

// Compression of gradients as a communication hook of PyTorch's DistributedDataParallel (register_comm_hook). PyTorch's
// own hooks are registered; for sums by shares and for the largest gradients a hook is generated.
struct Hook {
  std::string lines;  // register it with `model`; empty: none
  std::string file;   // compress.py, if it is generated
};
Hook hook_of_torch(const Compression& compression, int warm_up);

}  // namespace slmsim
