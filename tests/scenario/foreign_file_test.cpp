// Files of other programs where a scenario is expected: one error each, which states what the file is.
#include "sim/scenario/link.h"

#include <gmock/gmock.h>

#include "sim/scenario/kind.h"
#include "tests/scenario/folder.h"

namespace slmsim::foreign_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct ForeignCase {
  const char* name;
  std::string text;
  const char* error;
};

class ForeignFile : public Folder {
 protected:
  void expect_one_error(const ForeignCase& one) {
    SCOPED_TRACE(one.name);
    write(one.name, one.text);
    const std::string error = std::string(one.name) + ": error: this is " + one.error;
    EXPECT_THAT(errors({}, one.name), ElementsAre(HasSubstr(error)));
    EXPECT_THAT(errors_of([&] { check_file(path_ / one.name); }), ElementsAre(HasSubstr(error)));
  }
};

TEST_F(ForeignFile, GivesOneErrorThatSaysWhatItIs) {
  const ForeignCase kCases[] = {
      {"llama3_8b.toml", "[job]\ndump_folder = \"./outputs\"\n[training]\nsteps = 10\n[parallelism]\ncontext = 1\n",
       "TOML, of torchtitan by its [parallelism], not a scenario; slmsim reads YAML"},
      {"titan.txt", "# comment\n[model]\nname = \"llama3\"\n", "TOML, not"},
      {"pretrain.sh",
       "#!/bin/bash\nGPUS=8\ntorchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 2\n",
       "a shell script, of Megatron-LM by its \"pretrain_gpt\""},
      {"job", "#!/bin/bash\n#SBATCH --nodes=2\nsrun hostname\n", "a shell script, of Slurm"},
      {"launch", "export NCCL_DEBUG=INFO\naccelerate launch train.py\n", "a shell script, of Accelerate"},
      {"hosts", "[lab]\nnode1 gpus=a10\nnode2\n", "an INI file"},
      {"train.py", "import torch\nprint(1)\n", "a Python script"},
      {"script", "# A comment\nimport torch\nfrom torch import nn\n", "a Python script"},
      {"ds.json", "{\"train_batch_size\": 8, \"zero_optimization\": {\"stage\": 2}, \"bf16\": {\"enabled\": true}}\n",
       "DeepSpeed's configuration, by its \"zero_optimization\""},
      {"accelerate.yaml", "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nnum_processes: 4\n",
       "Accelerate's configuration, by its \"compute_environment\""},
      {"slice.ipynb", "{\"cells\": [], \"metadata\": {}, \"nbformat\": 4}\n", "a Jupyter notebook"},
      {"book.json", "{\"cells\": [{\"cell_type\": \"code\"}], \"nbformat\": 4}\n", "a Jupyter notebook"},
      {"runs.csv", "model,technique,group,what,value\ngpt2m,Data,all,job,1 h\n",
       "a table of runs, not a scenario; slmsim fit SCENARIO --measured FILE reads it"},
      {"measured", "kernel,m,n,k\ngemm,1,2,3\n", "a table (CSV)"},
      {"weights.gguf", std::string("GGUF\x03\0\0\0", 8), "a GGUF file"},
      {"page.html", "<!DOCTYPE html>\n<html></html>\n", "an HTML page"},
      {"slice.graphml", "<?xml version='1.0'?>\n<graphml></graphml>\n", "GraphML"},
      {"run.log", " iteration 1/ 9 | elapsed time per iteration (ms): 900.0 |\n",
       "a log of Megatron-LM, not a scenario; slmsim fit reads it"},
      {"other.yaml", "worker:\n  count: 3\nimage: x\nvolumes: [a]\n",
       "another program's file, by its \"worker\" and \"image\""},
  };
  for (const auto& one : kCases) expect_one_error(one);
}

TEST_F(ForeignFile, IsNamedWhereAScenarioRefersToIt) {
  write("cluster.toml", "[job]\nsteps = 1\n");
  EXPECT_THAT(errors({"platform=" + (path_ / "cluster.toml").string()}),
              ElementsAre(HasSubstr("this is TOML, not a platform;")));
}

TEST_F(ForeignFile, LeavesOwnFilesAndTheirMistakesAlone) {
  EXPECT_NO_THROW(load());
  write("few.yaml", "name: few\n");
  EXPECT_THAT(errors({}, "few.yaml"), testing::Contains(HasSubstr("the file has no \"platform\"")));
  write("typed.yaml", "platfrom: pair\nmodel: tiny\ntrainig: {}\n");
  EXPECT_THAT(errors({}, "typed.yaml"), testing::Contains(HasSubstr("unknown key \"platfrom\"")));
}

}  // namespace
}  // namespace slmsim::foreign_file_test
