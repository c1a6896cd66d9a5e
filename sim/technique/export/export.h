// A plan as things to run: files for DeepSpeed, Megatron-LM, Alpa and PyTorch, NCCL's environment and the kernels' settings; and what of
// the plan each of them cannot express.
//
// Options are those of DeepSpeed's configuration JSON and launcher (deepspeed.ai/docs/config-json), Megatron-LM's training
// arguments (megatron/training/arguments.py), torchrun's and those of PyTorch's DistributedDataParallel and
// FullyShardedDataParallel, and Alpa 0.2's parallel methods (alpa/parallel_method.py,
// alpa/pipeline_parallel/stage_construction.py).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/technique/way.h"

namespace slmsim {

struct ExportFile {
  std::string name, text;
};

// For one program: its files, or why there are none; and what the user must do beside them.
struct Export {
  std::string program;
  std::vector<ExportFile> files;
  std::vector<std::string> cannot;  // not empty: no files
  std::vector<std::string> notes;
};

struct ExportRequest {
  const Way& way;
  const Transformer& model;
  const Plan& plan;
};

// What a technique says of how a program would run its plan (Technique::exports); all else is common to all techniques.
struct DeepSpeedWay {
  std::string cannot;  // why it does not; empty: it does
  int stage = 0;       // of ZeRO
  StatePlace optimizer = StatePlace::kGpu, parameters = StatePlace::kGpu;
  std::optional<GradientCollective> gradient_collective;  // where the plan has a choice
  std::optional<Precision> gathered;                      // likewise
  std::optional<int> freeze_step = {};                    // of 1-bit Adam
};
struct MegatronWay {
  std::string cannot;
  int tensor = 1;
  std::optional<std::vector<std::string>> pipeline;  // arguments that cut it; absent: after the plan's stages
  std::vector<std::string> words;                    // further arguments
  bool distributed_optimizer = false;
};
struct AlpaWay {
  std::string cannot;
  std::string method;  // Python: "alpa.DataParallel(num_micro_batches=4)"
  std::vector<std::string> notes;
  bool pipeline = false;  // rematerialisation is the method's, not the model's
};
// PyTorch's own: DistributedDataParallel or FullyShardedDataParallel, and its arguments beside the model's device; or a
// pipeline of torch.distributed.pipelining.
struct TorchWay {
  std::string cannot = {};
  bool fsdp = false;
  std::string arguments = {};
  bool no_sync = true;
  // Lines that make `model` exchange compressed gradients, and a file beside with what PyTorch lacks; empty: none.
  std::string hook = {}, hook_file = {};
  // Of a pipeline: what each rank computes in turn, in the words of _PipelineScheduleRuntime ("0F0,0I0,0W0").
  std::vector<std::string> actions = {};
};
struct ExportWays {
  DeepSpeedWay deepspeed;
  MegatronWay megatron;
  AlpaWay alpa;
  std::optional<TorchWay> torch = {};  // absent: it is not PyTorch's
};

TorchWay ddp_of_torch(const Plan& plan);
TorchWay fsdp_of_torch(const FsdpPlan& plan);
TorchWay pipeline_of_torch(const Plan& plan);

// Of a pipeline of stages on meshes.
AlpaWay alpa_pipeline(const ExportRequest& request);

Export export_deepspeed(const ExportRequest& request);
Export export_megatron(const ExportRequest& request);
Export export_alpa(const ExportRequest& request);
// Of what is PyTorch's own; nothing of other plans.
std::optional<Export> export_torch(const ExportRequest& request);
// Of plans that exchange once per round; nothing of others. Options are those of torchft.local_sgd's LocalSGD and DiLoCo
// (docs.pytorch.org/torchft/local_sgd.html) and of torchft_lighthouse.
std::optional<Export> export_torchft(const ExportRequest& request);
Export export_environment(const ExportRequest& request);

// All of them, and a README.txt that tells what there is and what there cannot be.
std::vector<ExportFile> export_plan(const ExportRequest& request, const std::string& title);

// The VMs of a group in its order, each with the numbers of its GPUs that are used.
struct UsedVm {
  std::string name;
  std::vector<int> gpus;
  int all = 0;  // that it has
};
std::vector<UsedVm> used_vms(const Way& way);
// Layers of each stage; embedding and head count with the first and the last.
std::vector<int> layers_of_stages(const ExportRequest& request);
// Whether GPUs get different numbers of sequences; why a plan that sums gradients inside VMs first cannot be exported.
bool has_uneven_shares(const Stage& stage);
bool is_hierarchical(const Plan& plan);
inline constexpr const char* kNoHierarchicalSums =
    "gradients are summed inside VMs first, for which there is no option";

}  // namespace slmsim
