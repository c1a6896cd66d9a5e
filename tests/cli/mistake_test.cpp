// Common mistakes: each is reported with its cause and its correction.
#include <set>

#include "tests/cli/bad_hardware.h"
#include "tests/cli/bad_path.h"
#include "tests/cli/bad_reference.h"
#include "tests/cli/bad_scenario.h"
#include "tests/cli/bad_sweep.h"
#include "tests/cli/bad_text.h"

namespace slmsim::mistake_test {
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
      {"training.optimizer=adamw", "known are: adam, "},
      {"training.optimizer=Adam8bit", "did you mean \"adam8bit\"?"},
      {"training.batches=8", "unknown key \"batches\" in training; did you mean \"batch\"?"},
      {"training.sequence_length=8",
       "unknown key \"sequence_length\" in training; the length of a sequence is a key of the model, e.g. --set "
       "models.0.sequence=1024"},
      {"training.max_seq_len=8",
       "unknown key \"max_seq_len\" in training; the length of a sequence is a key of the model"},
      {"training.seq_length=8", "the length of a sequence is a key of the model"},
      {"training.global_batch_size=8", "did you mean \"batch\"?"},
      {"training.per_device_train_batch_size=8", "did you mean \"micro_batch\"?"},
      {"training.gradient_checkpointing=yes", "did you mean \"rematerialisation\"?"},
      {"training.recompute=yes", "did you mean \"rematerialisation\"?"},
      {"training.batch_size=8",
       "unknown key \"batch_size\" in training; \"batch\" counts the sequences of all GPUs, "
       "\"micro_batch\" those that one GPU computes at once"},
      {"training.max_steps=300", "unknown key \"max_steps\" in training; state samples: the steps times the batch"},
      {"training.learning_rate=1e-4", "it changes neither time nor memory; leave it out"},
      {"training.precision=bfloat16", "unknown value \"bfloat16\"; did you mean \"bf16\"?"},
      {"training.tokens=20B", "\"20B\" is not a number; expected a number from 1 to 1e+18: 2e+10"},
      {"batch=8", "unknown key \"batch\"; did you mean \"training.batch\"?"},
      {"precision=bf16", "did you mean \"training.precision\"?"},
      {"stack=eager", "did you mean \"software.stack\"?"},
      {"models.0.vocab_size=50000", "unknown key \"vocab_size\" in models.0; did you mean \"vocabulary\"?"},
      {"models.0.n_layer=12", "did you mean \"layers\"?"},
      {"models.0.hidden_size=1024", "did you mean \"hidden\"?"},
      {"models.0.seq_length=8", "unknown key \"seq_length\" in models.0; did you mean \"sequence\"?"},
      {"platform.links.wan.rtt=103m", "has the unit \"m\"; did you mean \"103 ms\" or \"min\"?"},
      {"platform.links.wan.rtt=103MS", "did you mean \"103 ms\"?"},
      {"platform.links.wan.rtt=-1ms", "is out of range; expected 100 ns to 10 s"},
      {"platform.links.wan.bandwidth=10", "has no unit; expected a rate such as \"100 Gbps\""},
      {"platform.links.wan.bandwidth=10Gb", "did you mean \"10 Gbps\"?"},
      {"platform.links.wan.bandwidth=10GB", "did you mean \"10 GB/s\"?"},
      {"platform.links.wan.bandwidth=10gbps", "did you mean \"10 Gbps\"?"},
      {"platform.links.wan.bandwidth=10GBit/s", "did you mean \"10 Gbit/s\"?"},
      {"platform.links.wan.bandwidth=0Gbps", "is out of range; expected 125 B/s to "},
      {"platform.links.wan.loss=2", "is out of range; expected a number from 0 to 0.5"},
      {"platform.links.wan.loss=0.1%", "expected a number from 0 to 0.5: 0.001"},
      {"platform.links.wan.los=0.1", "unknown key \"los\" in platform.links.wan; did you mean \"loss\"?"},
      {"platform.links.wam.rtt=10ms", "there is no link \"wam\" to override; did you mean \"wan\"?"},
      {"platform.link.wan.rtt=10ms", "there is no \"link.wan.rtt\" to override; did you mean \"links\"?"},
      {"platform.vms.gat.gpus=[h100-80]", "there is no GPU \"h100-80\"; did you mean \"h100\"?"},
      {"platform.vms.gat.gpus=[a31]", "there is no GPU \"a31\"; list them by slmsim list gpus, or state "},
      {"platform.vms.gat.gpus=[a100]",
       "did you mean \"a100-40\" or \"a100-64\" or \"a100-80\" or \"a100-pcie\" or \"a100-pcie40\"?"},
      {"platform.vms.gat.gpus=[RTX 4090]", "did you mean \"rtx4090\"?"},
      {"platform.vms.gat.gpus=[H-100]", "did you mean \"h100\"?"},
      {"platform.vms.gat.gpus=rtx4090:2",
       "there is no GPU \"rtx4090:2\"; a list names each GPU: [rtx4090, rtx4090, ...]"},
      {"platform.vms.gat.gpus=[2x a30]", "a list names each GPU: [a30, a30, ...]"},
      {"platform.vms.gat.gpus=[]", "platform.vms.gat.gpus is empty; list at least one"},
      {"platform.vms.gat.gpus=2",
       "there is no GPU \"2\"; list them by slmsim list gpus, or state architecture, multiprocessors, memory, "},
      {"platform.vms.gat.site=Gat", "there is no site \"Gat\"; did you mean \"gat\"?"},
      {"platform.vms.gat.type=fabric_vm", "there is no VM type \"fabric_vm\"; did you mean \"fabric-vm\"?"},
      {"platform.vms.gat.type.nic=25", "has no unit; expected a rate such as \"100 Gbps\""},
      {"platform.vms.gat.gpus.0.memory=24", "has no unit; expected a size such as \"24 GiB\""},
      {"platform.vms.gat.gpus.0.memory=24G", "did you mean \"24 GB\" or \"GiB\"?"},
      {"platform.vms.gat.gpus.0.memory=24gib", "did you mean \"24 GiB\"?"},
      {"platform.vms.gat.gpus.0.peak.fp16=165", "has no unit; expected a rate such as \"65 TFLOP/s\""},
      {"platform.vms.gat.gpus.0.peak.fp16=165TFLOPS", "did you mean \"165 TFLOP/s\"?"},
      {"platform.vms.gat.gpus.0.peak.fp17=165TFLOP/s",
       "unknown key \"fp17\" in platform.vms.gat.gpus.0.peak; known are: bf16, fp16, fp32, tf32"},
      {"platform.vms.gat.type.tcp.congestion=reno", "did you mean \"net.ipv4.tcp_congestion_control\"?"},
      {"models=GPT2M", "there is no model \"GPT2M\"; did you mean \"gpt2m\"?"},
      {"models='gpt2, gpt2m'", "there is no model \"gpt2, gpt2m\"; did you mean [gpt2, gpt2m]?"},
      {"models=meta-llama/Llama-3.2-1B", "there is no file meta-llama/Llama-3.2-1B; did you mean \"llama-3.2-1b\"?"},
      {"models=HuggingFaceTB/SmolLM2-360M",
       "get its config.json: hf download HuggingFaceTB/SmolLM2-360M config.json --local-dir SmolLM2-360M"},
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
      {"techniques='DDP, FSDP'", "unknown technique \"DDP, FSDP\"; did you mean [DDP, FSDP]?"},
      {"techniques=[FSDP2]", "unknown technique \"FSDP2\"; known are: "},
      {"techniques=[Pipeline]", "unknown technique \"Pipeline\"; known are: Data, ZeRO2, Shard, Pipeshard, "},
      {"techniques.Data.microbatches=2", "did you mean \"micro_batches\"?"},
      {"techniques.Data.micro_batches=0", "is out of range; expected a whole number from 1 to 4096"},
      {"techniques.Data.schedule=gpipe", "unknown key \"schedule\" in techniques.Data; known are: "},
      {"techniques.Pipeshard.schedule=1F1B", "did you mean \"1f1b\"?"},
      {"groups=[[gat,amsterdam]]", "there is no VM, GPU or site \"amsterdam\"; known are: gat, amst, "},
      {"groups=[[gat,gat]]", "a GPU is in one group twice; name each VM, GPU or site once"},
      {"groups=[[gat/7]]", "there is no VM, GPU or site \"gat/7\"; known are: gat, amst, "},
      {"nccl.NCCL_ALGO=ring", "did you mean \"Ring\"?"},
      {"nccl.NCCL_ALGO=^Tree", "unknown value \"^Tree\"; one of auto, Ring, Tree"},
      {"nccl.NCCL_PROTO='LL,Simple'", "unknown value \"LL,Simple\"; one of auto, LL, LL128, Simple is expected"},
      {"nccl.NCCL_SOCKET_THREADS=4",
       "unknown key \"NCCL_SOCKET_THREADS\" in nccl; did you mean \"NCCL_SOCKET_NTHREADS\"?"},
      {"nccl.NCCL_SOCKET_NTHREADS=100", "is out of range; expected a whole number from 1 to 16"},
      {"software.stack=Eager", "there is no software stack \"Eager\"; did you mean \"eager\"?"},
      {"software.attention=flash2", "known are: "},
      {"selection.delta=10%", "expected a number from 1e-09 to 1: 0.1"},
      {"selection.objective=cost", "unknown value \"cost\"; known are: time, gpu_hours, tflops_per_gpu"},
      {"selection.algorithm=best", "unknown value \"best\"; known are: paper, amended"},
  };
}

TEST(Mistake, InAnOverrideIsToldWithItsRemedy) {
  for (const auto& [override, told] : mistakes()) {
    SCOPED_TRACE(override);
    const RunOutcome run = slmsim_run({"run", "scenarios/gat-amst.yaml", "--set", override});
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(error_lines(run.err), testing::ElementsAre(testing::HasSubstr(told)));
  }
}

using Command = std::pair<std::vector<std::string>, std::string>;  // words, cause and remedy

std::vector<Command> commands() {
  return {
      {{"help"}, "did you mean \"--help\"?"},
      {{"RUN", "scenarios/gat-amst.yaml"}, "did you mean \"run\"?"},
      {{"maxmodel", "scenarios/gat-amst.yaml"}, "did you mean \"max-model\"?"},
      {{"--verson"}, "did you mean \"--version\"?"},
      {{"run", "scenarios/gat-amst.yml"}, "no such file; did you mean \"scenarios/gat-amst.yaml\"?"},
      {{"run", "scenarios/gat_amst.yaml"}, "no such file; did you mean \"scenarios/gat-amst.yaml\"?"},
      {{"run", "scenarios/gat-amst.yaml", "--tecnique", "Data"}, "did you mean \"--technique\"?"},
      {{"run", "scenarios/gat-amst.yaml", "-t", "FSDP"},
       "has no technique \"FSDP\"; it has Data, ZeRO2, Shard, Pipeshard; add it under techniques, or by --set "
       "'techniques=[Data, ZeRO2, Shard, Pipeshard, FSDP]'"},
      {{"run", "scenarios/gat-amst.yaml", "-t", "Data,zero2"}, "did you mean \"ZeRO2\" or \"ZeRO-2\"?"},
      {{"run", "scenarios/gat-amst.yaml", "-t", "zero2"}, "did you mean \"ZeRO2\" or \"ZeRO-2\"?"},
      {{"run", "platforms/gat-amst.yaml"}, "platforms/gat-amst.yaml:2:1: error: this is a platform, but a scenario is"},
      {{"run", "models/gpt2m.yaml"}, "this is a model, but a scenario is expected; a scenario lists it under models"},
      {{"plan", "platforms/gpus/a30.yaml"}, "this is a GPU, but a scenario is expected"},
      {{"report", "platforms/vms/workstation.yaml"}, "this is a VM type, but a scenario is expected"},
      {{"max-model", "scenarios/stacks/eager.yaml"}, "this is a software stack, but a scenario is expected"},
      {{"run", "scenarios/sweeps/latency.yaml"}, "this is a sweep, but a scenario is expected; slmsim sweep runs it"},
      {{"run", "gat-amst", "--set", "training.batch=8", "--set", "training.batch=16"},
       "training.batch is overridden twice; keep one of them"},
      {{"run", "gat-amst", "--set", "training.epochs=1", "--set", "training.tokens=1e9"},
       "training.tokens excludes training.epochs; leave one out"},
      {{"run", "gat-amst", "--set", "training.micro_batch=1", "--set", "training.gradient_accumulation=2"},
       "training.gradient_accumulation excludes training.micro_batch; leave one out"},
      {{"report", "gat-amst", "--set", "training.batch=8", "--set", "training.batch=16"},
       "training.batch is overridden twice; keep one of them"},
      {{"sweep", "scenarios/gat-amst.yaml"}, "the file has no \"axes\"; it is required"},
      {{"sweep", "scenarios/sweeps/latency.yaml", "--shard", "3/2"}, "i/n with i from 1 to n is expected, e.g. 2/8"},
      {{"merge", "README.md", "-o", "never.csv"}, "README.md: error: not a journal of a sweep"},
      {{"plan", "scenarios/gat-amst.yaml", "--objective", "dollars"}, "give plan.dollars_per_hour.a30"},
      {{"list"}, "WHAT is required: models, gpus, platforms, "},
      {{"init", "--gpu", "a10", "--sequence", "0", "never"}, "expected one from 1 to 4194304"},
      {{"list", "Techniques"}, "did you mean \"techniques\"?"},
      {{"schema", "scenarios"}, "did you mean \"scenario\"?"},
      {{"import", "Neusight", "x.csv", "-o", "y.yaml"}, "did you mean \"neusight\"?"},
      {{"validate", "gpu"}, "gpu needs --reference FOLDER"},
      {{"init", "--gpu", "a10x2", "never"}, "there is no GPU \"a10x2\"; did you mean \"a10:2\"?"},
      {{"init", "--gpu", "2xA10", "never"}, "did you mean \"a10:2\"?"},
      {{"init", "--gpu", "desk=4 x RTX 3090", "never"}, "did you mean \"rtx3090:4\"?"},
      {{"init", "--gpu", "2:rtx3090", "never"}, "there is no GPU \"2\"; did you mean \"rtx3090:2\"?"},
      {{"init", "--gpu", "desk=a10", "--price", "desk=2", "--price", "desk=3", "never"},
       "--price states desk twice; state it once"},
      {{"init", "--gpu", "desk=a10", "--site", "desk=x", "--site", "desk=y", "never"},
       "--site states desk twice; state it once"},
      {{"init", "--gpu", "a10", "--model", "bert-base-uncased", "never"},
       "or get its config.json: hf download bert-base-uncased config.json --local-dir bert-base-uncased"},
      {{"init", "--gpu", "a10:0", "never"},
       "--gpu \"a10:0\" names no GPU; expected TYPE:COUNT with a count of 1 or more"},
      {{"init", "--gpu", "a10:-1", "never"}, "\"-1\" is not a number of GPUs; expected a whole number from 1 to 1024"},
      {{"init", "--gpu", "a100:2", "never"},
       "did you mean \"a100-40\" or \"a100-64\" or \"a100-80\" or \"a100-pcie\" or \"a100-pcie40\"?"},
      {{"init", "--gpu", "a10", "--batch", "0", "never"}, "\"0\" is out of range; expected one from 1 to 1e+06"},
      {{"init", "--gpu", "a10", "--token", "abc", "never"}, "--token is for measuring the path to --peer NAME=ADDRESS"},
      {{"init", "--gpu", "a=a10", "--gpu", "b=a10", "--link", "a-b=28ms", "never"},
       "SITE,SITE=RTT[,RATE[,WHOSE]] is expected"},
      {{"init", "--gpu", "a=a10", "--gpu", "b=a10", "--link", "a,b=28", "never"},
       "\"28\" has no unit; expected a time such as"},
      {{"init", "--gpu", "a=a10", "--gpu", "b=a10", "--link", "a,c=28ms", "never"},
       "there is no site \"c\"; known are: a, b"},
      {{"init", "--gpu", "a=a10", "--gpu", "b=a10", "--link", "a,b=28ms,1GBps", "never"}, "did you mean \"1 GB/s\"?"},
      {{"init", "--gpu", "a=a10", "--gpu", "b=a10", "--link", "a,b=-28ms,1Gbps", "never"},
       "--link: \"-28ms\" is out of range; expected 100 ns to 10 s, such as 28 ms"},
      {{"init", "--gpu", "a=a10", "--gpu", "b=a10", "--link", "a,b=28ms,0Gbps", "never"},
       "--link: \"0Gbps\" is out of range; expected 1 kbps to 800 Tbps"},
      {{"init", "--gpu", "a10", "--model", "llama-3.2-1B", "never"}, "did you mean \"llama-3.2-1b\"?"},
      {{"init", "--gpu", "a10", "--technique", "zero2", "never"}, "did you mean \"ZeRO2\" or \"ZeRO-2\"?"},
      {{"init", "--gpu", "desk=a10", "--vm-type", "dsk=workstation", "never"},
       "there is no machine \"dsk\"; did you mean \"desk\"?"},
      {{"init", "--gpu", "desk=a10", "--vm-type", "desk=workstaton", "never"}, "did you mean \"workstation\"?"},
      {{"init", "--gpu", "desk=a10", "--site", "desk", "never"}, "NAME=SITE is expected"},
      {{"init", "--gpu", "a10", "--name", "my cluster", "never"}, "--name: letters, digits and - _ . are expected"},
      {{"init", "--fablib", "tests/import/inventory/files/slice.json", "never"},
       "which hold no nodes; export it by slice.save"},
      {{"init", "--ansible", "tests/import/inventory/files/ssh_config", "never"},
       "is not a variable; the form is KEY=VALUE"},
      {{"init", "--ssh", "README.md", "never"}, "there is no Host in it; a block begins with Host NAME"},
      {{"init", "--gpu", "a=t4", "--gpu", "b=t4", "--link", "a,a=3ms", "--model", "gpt2m", "never"},
       "--link \"a,a=3ms\" names one site twice; a link joins two sites"},
      {{"init", "--gpu", "a=t4", "--gpu", "b=t4", "--link", "a,b=3ms", "--link", "b,a=4ms", "--model", "gpt2m",
        "never"},
       "--link states the path between b and a twice; state it once"},
      {{"init", "--gpu", "a=t4", "--gpu", "b=t4", "--site", "a=x", "--link", "a,b=3ms", "--model", "gpt2m", "never"},
       "--link: there is no site \"a\"; the machine of that name is at site x"},
      {{"init", "--gpu", "a=t4:two", "--model", "gpt2m", "never"}, "expected a whole number from 1 to 1024"},
      {{"run", "gat-amst", "--all", "--format", "csv"}, "--all is for the table; leave it or --format csv out"},
      {{"run", "gat-amst", "--steps", "-o", "never.json"}, "--steps is for the table; leave it or --format json out"},
      {{"run", "gat-amst", "-o", "never.html"},
       "--output never.html: slmsim run writes table, json, csv; slmsim report writes a page"},
      {{"explain", "gat-amst", "-o", "never.csv"}, "--output never.csv: slmsim explain writes table or json"},
      {{"report", "gat-amst", "-o", "never.json"}, "--output never.json: slmsim report writes a page, such as "},
      {{"plan", "gat-amst", "--objective", "speed"},
       "known are: time, gpu_hours, dollars, cost, energy, deadline, p90"},
      {{"plan", "scenarios/gat-amst.yaml", "--objective", "cost"}, "gat states no price_per_hour"},
      {{"plan", "scenarios/gat-amst.yaml", "--objective", "deadline"}, "the objective deadline needs job.lease"},
      {{"plan", "scenarios/gat-amst.yaml", "--objective", "p90"}, "the objective p90 is for whole jobs"},
      {{"plan", "gat-amst", "--list", "0"},
       "--list: \"0\" is out of range; expected one from 1 to 100; see slmsim plan --help"},
      {{"plan", "gat-amst", "--effort", "high"},
       "--effort: \"high\" is not a number; expected one from 1e-06 to 1e+06"},
      {{"plan", "gat-amst", "--time-limit", "5min"},
       "--time-limit: \"5min\" is not a number; expected one from 0 to 1e+07"},
      {{"plan", "gat-amst", "-t", "Data", "-t", "ZeRO2"}, "--technique is given 2 times; give it once"},
      {{"plan", "gat-amst", "-t", "Data,ZeRO2"}, "--technique \"Data,ZeRO2\" is unknown; name one"},
      {{"run", "gat-amst", "--format", "csv,json"}, "--format \"csv,json\" is unknown; name one"},
      {{"plan", "gat-amst", "--group", "gat"}, "unknown option \"--group\" of slmsim plan; known are: "},
      {{"plan", "gat-amst", "--set", "plan.allow=[tcp,ncl]"}, "\"ncl\" is unknown; did you mean \"nccl\"?"},
      {{"fit", "gat-amst"}, "--measured is required; see slmsim fit --help"},
      {{"next", "gat-amst", "--sure", "95"}, "--sure: \"95\" is out of range; expected one from 0.5 to 0.999"},
      {{"run", "gat-amst", "--trace"}, "--trace needs a value; see slmsim run --help"},
      {{"run", "gat-amst", "--intervals", "--seed", "x"}, "--seed: \"x\" is not a number"},
      {{"run", "gat-amst", "--intervals", "--seed", "-1"},
       "--seed: \"-1\" is out of range; expected one from 0 to 1e+18"},
      {{"next", "gat-amst", "--seed", "18446744073709551616"}, "is out of range; expected one from 0 to 1e+18"},
      {{"sweep", "scenarios/sweeps/latency.yaml", "--jobs", "many"},
       "\"many\" is not a number; expected one from 1 to 4096"},
      {{"serve", "--host", "8.8.8.8", "--port", "0"}, "--host 8.8.8.8: this machine has no such address"},
      {{"check", "scenarios"}, "this is a folder; name a file in it"},
      {{"max-model", "gat-amst", "-g", "nowhere"}, "gat-amst has no group \"nowhere\"; it has gat+amst, gat, amst"},
      {{"run", "gat-amst", "--fitted", "no-such.yaml"}, "no-such.yaml: error: no such file"},
  };
}

TEST(Mistake, InACommandIsToldWithItsRemedy) {
  for (const auto& [words, told] : commands()) {
    SCOPED_TRACE(testing::PrintToString(words));
    const RunOutcome run = slmsim_run(words);
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(error_lines(run.err), testing::Contains(testing::HasSubstr(told)));
  }
}

// A model's JSON or a table of measurements, with what is wrong in it.
struct WrongFile {
  std::string text, told;
};

std::vector<WrongFile> models() {
  const std::string sizes =
      "\"hidden_size\": 2048, \"num_hidden_layers\": 16, \"intermediate_size\": 8192, \"vocab_size\": 128256, "
      "\"max_position_embeddings\": 2048";
  return {{"{}", ":1:1: error: models.0 has no \"model_type\", which names the family in Hugging Face's config.json"},
          {"{\"architectures\": [\"LlamaForCausalLM\"]}", "has no \"model_type\""},
          {"[1, 2]", "models.0 is a list; a map of keys and values is expected"},
          {"{\"model_type\": \"llama\", \"hidden_size\": 2049}",
           "32 heads do not divide the hidden size 2049; choose a divisor"},
          {"{\"model_type\": \"Llama\", \"num_attention_heads\": 32, " + sizes + "}", "did you mean \"llama\"?"},
          {"{\"model_type\": \"llama\", \"num_attention_heads\": 33, " + sizes + "}",
           "33 heads do not divide the hidden size 2048; choose a divisor"},
          {"{\"model_type\": \"llama\", \"num_attention_heads\": 32, \"num_key_value_heads\": 5, " + sizes + "}",
           "5 key-value heads do not divide 32 heads; choose a divisor"},
          {"{\"model_type\": \"mamba\"}", "\"mamba\" is a state-space or recurrent model, which is not modelled"},
          {"{\"model_type\": \"gpt_neoz\"}", "\"gpt_neoz\" is not modelled; describe its layers in a model file"},
          {"{\"model_type\": \"gpt2\", \"n_embd\": 768, \"n_layer\": 12, \"n_head\": 12, \"n_positions\": 1024, "
           "\"vocab_size\": 50257, \"activation_function\": \"swishy\"}",
           "did you mean \"swish\"?"}};
}

std::vector<WrongFile> tables() {
  const std::string head = "model,technique,group,what,value\n";
  return {{head + "gpt2m,Data,gat+amst,iteration,58.1\n",
           ":2:1: error: value: \"58.1\" has no unit; expected a time such as"},
          {head + "gpt2,Data,gat,iteration,58.1 s\n", "model: the scenario has no \"gpt2\"; known are: gpt2m"},
          {head + "gpt2m,data,gat,iteration,58.1 s\n", "did you mean \"Data\"?"},
          {head + "gpt2m,Data,utah,iteration,58.1 s\n",
           "group: the scenario has no \"utah\"; known are: gat+amst, gat, amst"},
          {head + "gpt2m,Data,gat,step,1.1 s\n", "what: unknown \"step\"; known are: job, iteration"},
          {head + "gpt2m,Data,gat,fits,true\n", "fits is yes or no"},
          {head + "gpt2m,Data,gat,iteration,-1 s\n", "\"-1 s\" is out of range"},
          {head + "gpt2m,Data,gat,tflops_per_gpu,lots\n", "\"lots\" is no number"},
          {head + "gpt2m,Data,gat,peak_memory,12\n", "has no unit; expected a size such as"},
          {head + "gpt2m,Data,gat,log,no-such.log\n", "no-such.log: no such file"},
          {head + "gpt2m;Data;gat;iteration;1 s\n", ":2:1: error: 1 cells; the header names 5; commas separate cells"},
          {head + "gpt2m,Data,gat,iteration\n", "4 cells; the header names 5"},
          {"model,technique,group,value\ngpt2m,Data,gat,1 s\n", "no column \"what\"; a table such as"},
          {"", "the file is empty; a table such as"},
          {"model;technique;group;what;value\n", "no column \"model\"; commas separate cells, not tabs or semicolons"},
          {"model\ttechnique\tgroup\twhat\tvalue\n", "commas separate cells, not tabs or semicolons"},
          {"Model,technique,group,what,value\n", "no column \"model\"; \"Model\" must be in these letters"},
          {std::string("m\0o\0", 4), "not a text file in UTF-8; a table such as"},
          {head + "gpt2m,Data,gat,iteration,\"1,5 s\"\n", "\"1,5 s\" has a comma; write a point for decimals"}};
}

void expect_told(const std::vector<std::string>& words, const std::string& file, const WrongFile& wrong) {
  SCOPED_TRACE(wrong.text);
  const RunOutcome run = slmsim_run(words);
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  const auto lines = error_lines(run.err);
  EXPECT_THAT(lines, testing::Contains(testing::HasSubstr(wrong.told)));
  EXPECT_THAT(lines, testing::Each(testing::HasSubstr(file)));
}

TEST(Mistake, InAModelsJsonIsToldWithItsPlace) {
  const TemporaryFolder folder;
  for (const auto& wrong : models()) {
    const std::string file = folder.write("config.json", wrong.text);
    expect_told({"run", "gat-amst", "--set", "models=[" + file + "]"}, file, wrong);
  }
}

TEST(Mistake, InATableOfMeasurementsIsToldWithItsPlace) {
  const TemporaryFolder folder;
  for (const auto& wrong : tables()) {
    const std::string file = folder.write("runs.csv", wrong.text);
    expect_told({"fit", "gat-amst", "--measured", file, "-o", folder.file("never.yaml")}, file,
                {wrong.text, wrong.told});
  }
}

// Each with its cause and what would be right: what is expected or known, or what to do.
TEST(Mistake, AreTestedByTheHundreds) {
  std::set<std::string> all;
  for (const auto& one : mistakes()) all.insert(one.override);
  for (const auto& one : commands()) all.insert(testing::PrintToString(one.first));
  for (const auto& one : models()) all.insert(one.text);
  for (const auto& one : tables()) all.insert(one.text);
  std::size_t in_files = 0;
  for (const auto& part : {bad_text_cases(), bad_key_cases(), bad_value_cases(), bad_reference_cases(),
                           bad_model_cases(), bad_platform_cases(), bad_path_cases(), bad_sweep_cases()}) {
    for (const auto& one : part) {
      for (const auto& error : one.errors)
        in_files += all.insert(one.file + ":" + error.where + " " + error.text).second ? 1 : 0;
    }
  }
  RecordProperty("distinct_mistakes", static_cast<int>(all.size()));
  EXPECT_GE(all.size(), 300);
  EXPECT_GE(all.size() - in_files, 130);  // as people make them, beside the files of tests/bad
}

}  // namespace
}  // namespace slmsim::mistake_test
