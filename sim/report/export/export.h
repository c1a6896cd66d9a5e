// A plan as things to run: files for DeepSpeed, Megatron-LM and Alpa, NCCL's environment and the kernels' settings; and what of
// the plan each of them cannot express.
//
// Options are those of DeepSpeed's configuration JSON and launcher (deepspeed.ai/docs/config-json), Megatron-LM's training
// arguments (megatron/training/arguments.py) and Alpa 0.2's parallel methods (alpa/parallel_method.py,
// alpa/pipeline_parallel/stage_construction.py).
#pragma once

#include <string>
#include <vector>

#include "sim/search/space.h"
#include "sim/select/predict.h"

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

Export export_deepspeed(const ExportRequest& request);
Export export_megatron(const ExportRequest& request);
Export export_alpa(const ExportRequest& request);
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

}  // namespace slmsim
