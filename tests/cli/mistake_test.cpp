// What people mean when they write something else: each mistake is told with its cause and with what would be right.
#include "tests/cli/refusal.h"

namespace slmsim {
namespace {

struct Mistake {
  std::string override;
  std::string told;  // cause and remedy
};

std::vector<Mistake> mistakes() {
  const std::string batch = "expected a whole number from 1 to ";
  return {
      {"training.batch=-8", "\"-8\" is out of range; " + batch},
      {"training.batch=8.5", "\"8.5\" is not a whole number; " + batch},
      {"training.batch=eight", "\"eight\" is not a whole number; " + batch},
      {"training.precision=fp8", "unknown value \"fp8\"; known are: fp16, bf16, tf32, fp32"},
      {"training.precision=FP16", "unknown value \"FP16\"; did you mean \"fp16\"?"},
      {"training.precision=bf-16", "did you mean \"bf16\"?"},
      {"training.optimizer=adamw", "did you mean \"adam\"?"},
      {"training.optimizer=Adam8bit", "did you mean \"adam8bit\"?"},
      {"training.batches=8", "unknown key \"batches\" in training; did you mean \"batch\"?"},
      {"platform.links.wan.rtt=103m", "has the unit \"m\"; did you mean \"103 ms\" or \"min\"?"},
      {"platform.links.wan.rtt=103MS", "did you mean \"103 ms\"?"},
      {"platform.links.wan.rtt=-1ms", "is out of range; expected 100 ns to 10 s"},
      {"platform.links.wan.bandwidth=10", "has no unit; expected a rate such as \"100 Gbps\""},
      {"platform.links.wan.bandwidth=10Gb", "did you mean \"10 Gbps\" or \"Gbit/s\"?"},
      {"platform.links.wan.bandwidth=10GB", "did you mean \"10 GB/s\"?"},
      {"platform.links.wan.bandwidth=10gbps", "did you mean \"10 Gbps\"?"},
      {"platform.links.wan.bandwidth=10GBit/s", "did you mean \"10 Gbit/s\"?"},
      {"platform.links.wan.bandwidth=0Gbps", "is out of range; expected 125 B/s to "},
      {"platform.links.wan.loss=2", "is out of range; expected a number from 0 to 0.5"},
      {"platform.links.wan.loss=0.1%", "expected a number from 0 to 0.5: 0.001"},
      {"platform.links.wan.los=0.1", "unknown key \"los\" in platform.links.wan; did you mean \"loss\"?"},
      {"platform.links.wam.rtt=10ms", "there is no \"wam.rtt\" to override; did you mean \"wan\"?"},
      {"platform.link.wan.rtt=10ms", "there is no \"link.wan.rtt\" to override; did you mean \"links\"?"},
      {"platform.vms.gat.gpus=[a31]", "there is no GPU \"a31\"; did you mean \"a30\"?"},
      {"platform.vms.gat.gpus=[a100]", "did you mean \"a100-40\" or \"a100-80\" or \"a100-pcie\"?"},
      {"platform.vms.gat.gpus=[RTX 4090]", "did you mean \"rtx4090\"?"},
      {"platform.vms.gat.gpus=[H-100]", "did you mean \"h100\"?"},
      {"platform.vms.gat.gpus=[]", "platform.vms.gat.gpus is empty; list at least one"},
      {"platform.vms.gat.gpus=2", "there is no GPU \"2\"; known are: "},
      {"platform.vms.gat.site=Gat", "there is no site \"Gat\"; did you mean \"gat\"?"},
      {"platform.vms.gat.type=fabric_vm", "there is no VM type \"fabric_vm\"; did you mean \"fabric-vm\"?"},
      {"platform.vms.gat.type.nic=25", "has no unit; expected a rate such as \"100 Gbps\""},
      {"platform.vms.gat.gpus.0.memory=24", "has no unit; expected a size such as \"24 GiB\""},
      {"platform.vms.gat.gpus.0.memory=24G", "did you mean \"24 GB\" or \"GiB\"?"},
      {"platform.vms.gat.gpus.0.memory=24gib", "did you mean \"24 GiB\"?"},
      {"platform.vms.gat.gpus.0.peak.fp16=165", "has no unit; expected a rate such as \"65 TFLOP/s\""},
      {"platform.vms.gat.gpus.0.peak.fp16=165TFLOPS", "did you mean \"165 TFLOP/s\"?"},
      {"platform.vms.gat.gpus.0.peak.fp17=165TFLOP/s",
       "unknown key \"fp17\" in platform.vms.gat.gpus.0.peak; did you mean"},
      {"platform.vms.gat.type.tcp.congestion=reno", "did you mean \"net.ipv4.tcp_congestion_control\"?"},
      {"models=GPT2M", "there is no model \"GPT2M\"; did you mean \"gpt2m\"?"},
      {"models=[gpt2m,gpt2m]", "two models are named \"gpt2m\"; names must differ"},
      {"models.5.layers=12", "there is no \"5.layers\" to override; the list's items are 0 ("},
      {"platform.vms.gat.gpus.7.memory=24GB",
       "there is no \"7.memory\" to override; the list's items are 0 (a30), 1 (a30)"},
      {"models.0.layer=12", "unknown key \"layer\" in models.0; did you mean \"layers\"?"},
      {"models.0.layers=0", "is out of range; expected a whole number from 1 to 4096"},
      {"models.0.heads=7", "7 heads do not divide the hidden size 1024; choose a divisor"},
      {"models.0.vocabulary=50k", "\"50k\" is not a whole number"},
      {"techniques=[data]", "unknown technique \"data\"; did you mean \"Data\"?"},
      {"techniques=Zero3", "unknown technique \"Zero3\"; did you mean \"ZeRO-3\"?"},
      {"techniques=[zero 2]", "did you mean \"ZeRO2\" or \"ZeRO-2\"?"},
      {"techniques=[FSDP2]", "did you mean \"FSDP\"?"},
      {"techniques=[Pipeline]", "unknown technique \"Pipeline\"; known are: Data, ZeRO2, Shard, Pipeshard, "},
      {"techniques.Data.microbatches=2", "did you mean \"micro_batches\"?"},
      {"techniques.Data.micro_batches=0", "is out of range; expected a whole number from 1 to 4096"},
      {"techniques.Data.schedule=gpipe", "unknown key \"schedule\" in techniques.Data; known are: "},
      {"techniques.Pipeshard.schedule=1F1B", "did you mean \"1f1b\"?"},
      {"groups=[[gat,amsterdam]]", "there is no VM or GPU \"amsterdam\"; known are: gat, amst, "},
      {"groups=[[gat,gat]]", "a GPU is in one group twice; name each VM or GPU once"},
      {"groups=[[gat/7]]", "there is no VM or GPU \"gat/7\"; did you mean \"gat/0\"?"},
      {"nccl.NCCL_ALGO=ring", "did you mean \"Ring\"?"},
      {"nccl.NCCL_SOCKET_THREADS=4",
       "unknown key \"NCCL_SOCKET_THREADS\" in nccl; did you mean \"NCCL_SOCKET_NTHREADS\"?"},
      {"nccl.NCCL_SOCKET_NTHREADS=100", "is out of range; expected a whole number from 1 to 16"},
      {"software.stack=Eager", "there is no software stack \"Eager\"; did you mean \"eager\"?"},
      {"software.attention=flash2", "did you mean \"flash\"?"},
      {"selection.delta=10%", "expected a number from 1e-09 to 1: 0.1"},
      {"selection.objective=cost", "unknown value \"cost\"; known are: time, gpu_hours, tflops_per_gpu"},
      {"selection.algorithm=best", "unknown value \"best\"; known are: paper, amended"},
  };
}

TEST(Mistake, InAnOverrideIsToldWithItsRemedy) {
  for (const auto& [override, told] : mistakes()) {
    SCOPED_TRACE(override);
    const Finished run = slmsim_run({"run", "scenarios/gat-amst.yaml", "--set", override});
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(error_lines(run.err), testing::ElementsAre(testing::HasSubstr(told)));
  }
}

TEST(Mistake, InACommandIsToldWithItsRemedy) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> kMistakes = {
      {{"help"}, "did you mean \"--help\"?"},
      {{"RUN", "scenarios/gat-amst.yaml"}, "did you mean \"run\"?"},
      {{"maxmodel", "scenarios/gat-amst.yaml"}, "did you mean \"max-model\"?"},
      {{"--verson"}, "did you mean \"--version\"?"},
      {{"run", "scenarios/gat-amst.yml"}, "no such file; did you mean \"scenarios/gat-amst.yaml\"?"},
      {{"run", "scenarios/gat_amst.yaml"}, "no such file; did you mean \"scenarios/gat-amst.yaml\"?"},
      {{"run", "scenarios/gat-amst.yaml", "--tecnique", "Data"}, "did you mean \"--technique\"?"},
      {{"run", "scenarios/gat-amst.yaml", "-t", "zero2"}, "did you mean \"ZeRO2\" or \"ZeRO-2\"?"},
      {{"run", "platforms/gat-amst.yaml"}, "platforms/gat-amst.yaml:2:1: error: this is a platform, and a scenario is"},
      {{"run", "models/gpt2m.yaml"}, "this is a model, and a scenario is expected; a scenario lists it under models"},
      {{"plan", "platforms/gpus/a30.yaml"}, "this is a GPU, and a scenario is expected"},
      {{"report", "platforms/vms/workstation.yaml"}, "this is a VM type, and a scenario is expected"},
      {{"max-model", "scenarios/stacks/eager.yaml"}, "this is a software stack, and a scenario is expected"},
      {{"run", "scenarios/sweeps/latency.yaml"}, "this is a sweep, and a scenario is expected; slmsim sweep runs it"},
      {{"run", "gat-amst", "--set", "training.batch=8", "--set", "training.batch=16"},
       "training.batch is overridden twice; keep one of them"},
      {{"report", "gat-amst", "--set", "training.batch=8", "--set", "training.batch=16"},
       "training.batch is overridden twice; keep one of them"},
      {{"sweep", "scenarios/gat-amst.yaml"}, "the file has no \"axes\"; it is required"},
      {{"sweep", "scenarios/sweeps/latency.yaml", "--shard", "3/2"}, "it reads i/n with i from 1 to n, e.g. 2/8"},
      {{"merge", "README.md", "-o", "never.csv"}, "README.md: error: this is no journal of a sweep"},
      {{"plan", "scenarios/gat-amst.yaml", "--objective", "dollars"}, "give plan.dollars_per_hour.a30"},
      {{"list", "Techniques"}, "did you mean \"techniques\"?"},
      {{"schema", "scenarios"}, "did you mean \"scenario\"?"},
      {{"import", "Neusight", "x.csv", "-o", "y.yaml"}, "did you mean \"neusight\"?"},
      {{"validate", "gpu"}, "gpu needs --reference FOLDER"},
  };
  for (const auto& [words, told] : kMistakes) {
    SCOPED_TRACE(testing::PrintToString(words));
    const Finished run = slmsim_run(words);
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(error_lines(run.err), testing::Contains(testing::HasSubstr(told)));
  }
}

}  // namespace
}  // namespace slmsim
