// A plan as files for other programs: what they say, and what they cannot.
#include "sim/technique/export/export.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "sim/predict/predict.h"

namespace slmsim::export_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::filesystem::path kRoot = SLMSIM_SOURCE_DIR;

// A technique on the groups and with the settings that are overridden.
struct Example {
  explicit Example(Overrides overrides) {
    overrides.insert(overrides.begin(), "models=gpt2m");
    setup.scenario = load_scenario(kRoot / "scenarios/utah-gpn.yaml", overrides);
    setup.group = setup.scenario.groups.front();
    setup.options = setup.scenario.techniques.front();
    const auto predictions = predict(setup.scenario);
    plan = predictions.front().plan.value();
  }
  ExportRequest request() const { return {setup, setup.scenario.models.front(), plan}; }
  RunSetup setup;
  Plan plan;
};

std::string file_of(const Export& exported, const std::string& name) {
  for (const auto& file : exported.files) {
    if (file.name == name) return file.text;
  }
  return "";
}

TEST(Export, GivesZero2ToDeepSpeed) {
  // 8 sequences over 4 GPUs in 2 micro-batches: 1 per GPU and micro-batch.
  const Example e(
      {"groups=[[utah, gpn]]", "techniques={ZeRO2: {micro_batches: 2, gradient_collective: reduce-scatter}}"});
  const Export out = export_deepspeed(e.request());
  EXPECT_THAT(out.cannot, IsEmpty());
  const auto json = nlohmann::json::parse(file_of(out, "deepspeed.json"));
  EXPECT_EQ(json["train_batch_size"], 8);
  EXPECT_EQ(json["train_micro_batch_size_per_gpu"], 1);
  EXPECT_EQ(json["gradient_accumulation_steps"], 2);
  EXPECT_EQ(json["zero_optimization"]["stage"], 2);
  EXPECT_EQ(json["zero_optimization"]["reduce_scatter"], true);
  EXPECT_EQ(json["fp16"]["enabled"], true);
  EXPECT_EQ(file_of(out, "hostfile"), "utah slots=2\ngpn slots=2\n");
  EXPECT_THAT(file_of(out, "deepspeed.sh"), HasSubstr("--include=\"utah:0,1@gpn:0,1\""));
}

TEST(Export, NamesTheTypeOfGradientsOnlyWhereItIsNotTheTrainings) {
  const auto type = [](const std::string& precision, const std::string& gradients) {
    const Example e({"groups=[[utah, gpn]]", "techniques={ZeRO-2: {micro_batches: 2}}",
                     "training.precision=" + precision, "training.gradient_precision=" + gradients});
    const auto json = nlohmann::json::parse(file_of(export_deepspeed(e.request()), "deepspeed.json"));
    return json.contains("communication_data_type") ? json["communication_data_type"].get<std::string>() : "";
  };
  // DeepSpeed spells it "bfp16" before 0.14.1 and "bf16" since (pull request 5297).
  EXPECT_EQ(type("bf16", "bf16"), "");
  EXPECT_EQ(type("fp16", "fp16"), "");
  EXPECT_EQ(type("fp32", "fp32"), "");
  EXPECT_EQ(type("bf16", "fp32"), "fp32");
}

// In elements, where they are not DeepSpeed's own defaults.
TEST(Export, GivesDeepSpeedTheSizesThatThePlanCounts) {
  const auto zero = [](const std::string& technique, const std::string& sizes) {
    const Example e({"groups=[[utah, gpn]]", "techniques={" + technique + ": {micro_batches: 2}}",
                     "software.framework={" + sizes + "}"});
    return nlohmann::json::parse(file_of(export_deepspeed(e.request()), "deepspeed.json"))["zero_optimization"];
  };
  const auto three = zero("ZeRO-3", "reduce_bucket: 1e8, live_parameters: 4e8");
  EXPECT_EQ(three["reduce_bucket_size"], 100'000'000);
  EXPECT_EQ(three["stage3_max_live_parameters"], 400'000'000);
  const auto two = zero("ZeRO-2", "allgather_bucket: 2e8");
  EXPECT_EQ(two["allgather_bucket_size"], 200'000'000);
  EXPECT_FALSE(two.contains("reduce_bucket_size"));
}

// Weights in 16 bits are DeepSpeed's and a model's own; under autocast they are in fp32.
TEST(Export, SaysInWhichPrecisionWeightsAre) {
  const auto of = [](const std::string& technique, const std::string& stack) {
    return Example({"groups=[[utah, gpn]]", "techniques={" + technique + ": {micro_batches: 2}}",
                    "training.precision=fp16",
                    "training.gradient_precision=" + std::string(stack == "autocast" ? "fp32" : "fp16"),
                    "software.stack=" + stack});
  };
  const auto fp16 = [&](const std::string& stack) {
    const Export out = export_deepspeed(of("ZeRO-1", stack).request());
    return nlohmann::json::parse(file_of(out, "deepspeed.json"))["fp16"]["enabled"].get<bool>();
  };
  EXPECT_TRUE(fp16("eager"));
  EXPECT_FALSE(fp16("autocast"));
  const auto script = [&](const std::string& stack) {
    return file_of(*export_torch(of("DDP", stack).request()), "torch.py");
  };
  EXPECT_THAT(script("eager"), HasSubstr("\nmodel.to(torch.float16)\n"));
  EXPECT_THAT(script("autocast"), HasSubstr("torch.autocast(\"cuda\", torch.float16)"));
  EXPECT_THAT(export_accelerate(of("DDP", "eager").request()).notes, Contains(HasSubstr("keeps fp32 weights")));
  EXPECT_THAT(export_accelerate(of("DDP", "autocast").request()).notes, Not(Contains(HasSubstr("keeps fp32 weights"))));
}

// runtime/engine.py asserts it for optimizers that are not in ZERO_SUPPORTED_OPTIMIZERS.
TEST(Export, AllowsZeroAnOptimizerThatDeepSpeedHasNotTested) {
  const auto allowed = [](const std::string& optimizer) {
    const Example e(
        {"groups=[[utah, gpn]]", "techniques={ZeRO-2: {micro_batches: 2}}", "training.optimizer=" + optimizer});
    return nlohmann::json::parse(file_of(export_deepspeed(e.request()), "deepspeed.json"))
        .contains("zero_allow_untested_optimizer");
  };
  EXPECT_TRUE(allowed("sgd"));
  EXPECT_FALSE(allowed("adam"));
}

TEST(Export, GivesPlansToAccelerate) {
  const auto exported = [](const std::string& technique) {
    return export_accelerate(Example({"groups=[[utah, gpn]]", "techniques=" + technique}).request());
  };
  const Export ddp = exported("{DDP: {micro_batches: 2}}");
  ASSERT_THAT(ddp.cannot, IsEmpty());
  for (const char* line : {"distributed_type: MULTI_GPU\n", "num_machines: 2\n", "num_processes: 4\n",
                           "mixed_precision: fp16\n", "compute_environment: LOCAL_MACHINE\n"})
    EXPECT_THAT(file_of(ddp, "accelerate.yaml"), HasSubstr(line));
  EXPECT_THAT(ddp.notes, Contains("Accelerator(gradient_accumulation_steps=2)"));
  EXPECT_THAT(file_of(ddp, "accelerate.sh"), HasSubstr("--machine_rank 1 --main_process_ip HOST"));
  const std::string fsdp = file_of(exported("{FSDP: {strategy: hybrid_shard}}"), "accelerate.yaml");
  for (const char* line : {"distributed_type: FSDP\n", "  fsdp_sharding_strategy: HYBRID_SHARD\n",
                           "  fsdp_offload_params: false\n", "  fsdp_version: 1\n"})
    EXPECT_THAT(fsdp, HasSubstr(line));
  const std::string zero = file_of(exported("{ZeRO-3: {}}"), "accelerate.yaml");
  for (const char* line : {"distributed_type: DEEPSPEED\n", "  deepspeed_config_file: deepspeed.json\n",
                           "  zero3_init_flag: true\n", "  deepspeed_multinode_launcher: standard\n"})
    EXPECT_THAT(zero, HasSubstr(line));
  // Its DeepSpeed plugin takes the precision from DeepSpeed's file.
  EXPECT_THAT(zero, Not(HasSubstr("mixed_precision")));
  EXPECT_THAT(exported("{Pipeshard: {}}").cannot, Contains(HasSubstr("PipelineModule")));
  EXPECT_THAT(
      export_accelerate(Example({"groups=[[utah, gpn/0]]", "techniques={Data: {micro_batches: 1}}"}).request()).cannot,
      Contains(HasSubstr("different numbers of GPUs")));
}

TEST(Export, TellsWhatDeepSpeedCannot) {
  EXPECT_THAT(export_deepspeed(Example({"groups=[[utah, gpn]]", "techniques={Pipeshard: {}}"}).request()).cannot,
              Contains(HasSubstr("PipelineModule")));
  EXPECT_THAT(
      export_deepspeed(
          Example({"groups=[[utah, gpn]]", "techniques={Data: {micro_batches: 1, hierarchical: yes}}"}).request())
          .cannot,
      Contains(HasSubstr("inside VMs first")));
  EXPECT_THAT(
      export_deepspeed(Example({"groups=[[utah, gpn/0]]", "techniques={Data: {micro_batches: 1}}"}).request()).cannot,
      Contains(HasSubstr("different numbers of sequences")));  // 8 over 3
}

TEST(Export, GivesDegreesToMegatron) {
  // Two stages of two GPUs each, tensor degree 2: one replica; 24 layers, 12 each.
  const Example e({"groups=[[utah, gpn]]", "techniques={Pipeshard: {micro_batches: 4, stages: 2, tensor: 2}}",
                   "training.rematerialisation=yes"});
  const Export out = export_megatron(e.request());
  ASSERT_THAT(out.cannot, IsEmpty());
  const std::string text = file_of(out, "megatron.sh");
  for (const char* word :
       {"--pipeline-model-parallel-size 2", "--tensor-model-parallel-size 2", "--micro-batch-size 2",
        "--global-batch-size 8", "--num-layers 24", "--hidden-size 1024", "--num-attention-heads 16", "--fp16",
        "--recompute-granularity full", "--nnodes 2 --nproc-per-node 2", "--master-addr utah"})
    EXPECT_THAT(text, HasSubstr(word));
}

TEST(Export, GivesTheLayersOfAModelToMegatron) {
  const auto exported = [](const std::string& model, const std::string& precision) {
    const Example e({"groups=[[utah, gpn]]", "techniques={Pipeshard: {micro_batches: 4, stages: 2, tensor: 2}}",
                     "models=[" + model + "]", "models.0.layers=2", "training.precision=" + precision});
    return export_megatron(e.request());
  };
  const Export llama = exported("llama-3.2-1b", "bf16");
  ASSERT_THAT(llama.cannot, IsEmpty());
  const std::string text = file_of(llama, "megatron.sh");
  for (const char* word :
       {"--disable-bias-linear", "--swiglu", "--normalization RMSNorm", "--position-embedding-type rope",
        "--group-query-attention", "--num-query-groups 8", "--bf16", "--hidden-dropout 0"})
    EXPECT_THAT(text, HasSubstr(word));
  for (const char* word : {"--fp16", "--untie-embeddings", "--add-qkv-bias", "--kv-channels"})
    EXPECT_THAT(text, testing::Not(HasSubstr(word)));
  EXPECT_THAT(file_of(exported("qwen2.5-0.5b", "fp16"), "megatron.sh"), HasSubstr("--add-qkv-bias"));
  const std::string gpt2 = file_of(exported("gpt2-medium", "fp16"), "megatron.sh");
  for (const char* word : {"--disable-bias-linear", "--swiglu", "--normalization", "rope", "--hidden-dropout"})
    EXPECT_THAT(gpt2, testing::Not(HasSubstr(word)));
  EXPECT_THAT(exported("pythia-160m", "fp16").cannot, Contains(HasSubstr("read the same stream")));
}

TEST(Export, TellsWhatMegatronCannot) {
  EXPECT_THAT(export_megatron(Example({"groups=[[utah, gpn]]", "techniques={Shard: {}}"}).request()).cannot,
              Contains(HasSubstr("integer program")));
  EXPECT_THAT(export_megatron(
                  Example({"groups=[[utah, gpn]]", "techniques={Pipeshard: {stages: 4, schedule: gpipe}}"}).request())
                  .cannot,
              Contains(HasSubstr("1F1B")));
  const auto layers = [](const std::string& setting) {
    const Example e({"groups=[[utah, gpn]]", "techniques={Pipeshard: {micro_batches: 4, stages: 2, tensor: 2}}",
                     "models=[llama-160m]", "models.0." + setting});
    return export_megatron(e.request()).cannot;
  };
  EXPECT_THAT(layers("family=olmo2"),
              testing::IsSupersetOf({HasSubstr("norms after attention"), HasSubstr("norms over all heads")}));
  EXPECT_THAT(layers("family=cohere"), Contains(HasSubstr("layer norms without a shift")));
  EXPECT_THAT(layers("window=256"), Contains(HasSubstr("layers with different windows")));
  EXPECT_THAT(layers("classes=2"), Contains(HasSubstr("a head of classes")));
}

// On a node that describes its inside.
struct NodeExample {
  explicit NodeExample(const std::string& technique, const std::string& options, Overrides more = {}) {
    more.push_back(fmt::format("techniques={{{}: {}}}", technique, options));
    setup.scenario = load_scenario(kRoot / "scenarios/xe8545-1.yaml", more);
    setup.group = setup.scenario.groups.front();
    setup.options = setup.scenario.techniques.front();
    plan = predict(setup.scenario).front().plan.value();
  }
  ExportRequest request() const { return {setup, setup.scenario.models.front(), plan}; }
  RunSetup setup;
  Plan plan;
};

TEST(Export, GivesOffloadToDeepSpeed) {
  const NodeExample host("ZeRO-2-CPU", "{}");
  const auto json = nlohmann::json::parse(file_of(export_deepspeed(host.request()), "deepspeed.json"));
  EXPECT_EQ(json["zero_optimization"]["stage"], 2);
  EXPECT_EQ(json["zero_optimization"]["offload_optimizer"]["device"], "cpu");
  EXPECT_FALSE(json["zero_optimization"].contains("offload_param"));
  EXPECT_EQ(json["train_micro_batch_size_per_gpu"], 16);  // 64 sequences over 4 GPUs at once
  const NodeExample drives("Infinity-P", "{}");
  const auto all = nlohmann::json::parse(file_of(export_deepspeed(drives.request()), "deepspeed.json"));
  EXPECT_EQ(all["zero_optimization"]["stage"], 3);
  EXPECT_EQ(all["zero_optimization"]["offload_optimizer"]["device"], "nvme");
  EXPECT_EQ(all["zero_optimization"]["offload_param"]["device"], "nvme");
  EXPECT_THAT(export_deepspeed(NodeExample("DDP", "{}").request()).cannot, Contains(HasSubstr("PyTorch's own")));
}

TEST(Export, GivesItsOwnTechniqueToMegatron) {
  // 26 layers over 2 stages of 13 chunks: a layer each.
  const NodeExample e(
      "Megatron",
      "{tensor: 2, pipeline: 2, chunks: 13, micro_batches: 4, sequence_parallel: yes, recompute: selective}");
  const Export out = export_megatron(e.request());
  ASSERT_THAT(out.cannot, IsEmpty());
  const std::string text = file_of(out, "megatron.sh");
  for (const char* word : {"--pipeline-model-parallel-size 2", "--num-layers-per-virtual-pipeline-stage 1",
                           "--sequence-parallel", "--tensor-model-parallel-size 2", "--micro-batch-size 16",
                           "--global-batch-size 64", "--num-layers 26", "--recompute-granularity selective"})
    EXPECT_THAT(text, HasSubstr(word));
  EXPECT_THAT(file_of(export_megatron(NodeExample("DDP", "{}").request()), "megatron.sh"),
              HasSubstr("--overlap-grad-reduce"));
  EXPECT_THAT(export_megatron(NodeExample("ZeRO-3", "{}").request()).cannot, Contains(HasSubstr("DeepSpeed's")));
}

TEST(Export, GivesItsOwnTechniquesToPyTorch) {
  const NodeExample fsdp("FSDP", "{strategy: shard_grad_op, backward_prefetch: backward_post, micro_batches: 4}");
  const auto out = export_torch(fsdp.request());
  ASSERT_TRUE(out);
  ASSERT_THAT(out->cannot, IsEmpty());
  for (const char* word : {"ShardingStrategy.SHARD_GRAD_OP", "BackwardPrefetch.BACKWARD_POST", "forward_prefetch=False",
                           "limit_all_gathers=True", "CPUOffload(False)", "param_dtype=torch.float16",
                           "# 4 sequences for each GPU at a time", "model.no_sync()"})  // 64 over 4 GPUs, in 4 parts
    EXPECT_THAT(file_of(*out, "torch.py"), HasSubstr(word));
  EXPECT_THAT(file_of(*out, "torchrun.sh"),
              HasSubstr("CUDA_VISIBLE_DEVICES=0,1,2,3 torchrun --nnodes=1 --node-rank=0 --nproc-per-node=4"));
  const auto groups = export_torch(NodeExample("FSDP", "{strategy: hybrid_shard, shard: 2}").request());
  ASSERT_TRUE(groups);
  EXPECT_THAT(file_of(*groups, "torch.py"),
              HasSubstr("device_mesh=torch.distributed.init_device_mesh(\"cuda\", (2, 2))"));
  const auto grid = export_torch(NodeExample("FSDP", "{tensor: 2}").request());
  ASSERT_TRUE(grid);
  EXPECT_THAT(grid->cannot, Contains(HasSubstr("torchtitan")));
  EXPECT_THAT(export_accelerate(NodeExample("FSDP", "{tensor: 2}").request()).cannot,
              Contains(HasSubstr("without tensor parallelism")));
  const auto ddp = export_torch(NodeExample("DDP", "{bucket: 50 MiB, buffers: 1 MiB}").request());
  ASSERT_TRUE(ddp);
  EXPECT_THAT(file_of(*ddp, "torch.py"), HasSubstr("bucket_cap_mb=50, broadcast_buffers=True"));
  EXPECT_FALSE(export_torch(NodeExample("ZeRO-3", "{}").request()));
}

TEST(Export, RegistersHooksThatCompressGradients) {
  const auto torch = [](const char* options, const char* file = "torch.py") {
    const auto out = export_torch(NodeExample("DDP", options).request());
    return out ? file_of(*out, file) : "";
  };
  EXPECT_THAT(torch("{}"), Not(HasSubstr("register_comm_hook")));
  EXPECT_THAT(torch("{compress: powersgd, rank: 4, warm_up: 20}"),
              HasSubstr("matrix_approximation_rank=4, start_powerSGD_iter=20"));
  EXPECT_THAT(torch("{compress: int8}"), HasSubstr("model.register_comm_hook(None, compress.hook)"));
  EXPECT_THAT(torch("{compress: int8}", "compress.py"), HasSubstr("/ 127"));
  EXPECT_THAT(torch("{compress: int4}", "compress.py"), HasSubstr("/ 7"));
  EXPECT_THAT(torch("{compress: topk, density: 0.02}", "compress.py"), HasSubstr("DENSITY = 0.02"));
  EXPECT_THAT(export_megatron(NodeExample("DDP", "{compress: int8}").request()).cannot,
              Contains(HasSubstr("gradients are compressed")));
}

TEST(Export, GivesOneBitAdamToDeepSpeed) {
  const Export out = export_deepspeed(NodeExample("OneBitAdam", "{warm_up: 7}").request());
  ASSERT_THAT(out.cannot, IsEmpty());
  const auto json = nlohmann::json::parse(file_of(out, "deepspeed.json"));
  EXPECT_EQ(json["optimizer"]["type"], "OneBitAdam");
  EXPECT_EQ(json["optimizer"]["params"]["freeze_step"], 7);
  EXPECT_EQ(json["zero_optimization"]["stage"], 0);
}

TEST(Export, GivesTheScheduleWithMoreInFlightToAlpa) {
  const auto alpa = [](const char* options) {
    return export_alpa(
        Example({"groups=[[utah, gpn]]", fmt::format("techniques={{Pipeshard: {{{}}}}}", options)}).request());
  };
  EXPECT_THAT(file_of(alpa("ahead: 1"), "alpa.py"), HasSubstr("pipeline_schedule=\"1f1b_overlap_friendly\""));
  EXPECT_THAT(alpa("ahead: 2").cannot, Contains(HasSubstr("choose ahead 1")));
  EXPECT_THAT(alpa("schedule: zb-h1").cannot, Contains(HasSubstr("gradients of weights")));
  EXPECT_THAT(alpa("order: deepspeed").cannot, Contains(HasSubstr("the order of its messages differs")));
}

TEST(Export, GivesAZeroBubbleScheduleToPyTorch) {
  // Two GPUs of one VM: a stage each; ZB-H1 of 2 micro-batches.
  const Example e({"groups=[utah]", "techniques={Pipeshard: {schedule: zb-h1, micro_batches: 2}}"});
  const auto out = export_torch(e.request());
  ASSERT_TRUE(out);
  ASSERT_THAT(out->cannot, IsEmpty());
  EXPECT_EQ(file_of(*out, "schedule.csv"), "0F0,0F1,0I0,0W0,0I1,0W1\n1F0,1I0,1F1,1I1,1W0,1W1\n");
  EXPECT_THAT(file_of(*out, "torch.py"), HasSubstr("PipelineStage(module, rank, 2, device)"));
  EXPECT_FALSE(export_torch(Example({"groups=[utah]", "techniques={Pipeshard: {}}"}).request()));
}

TEST(Export, GivesManualStagesToAlpa) {
  const Example e({"groups=[[gpn, utah]]", "techniques={Pipeshard: {micro_batches: 4, schedule: gpipe}}",
                   "models.0={name: m, family: gpt2, hidden: 64, heads: 2, layers: 4, sequence: 8, vocabulary: 64}"});
  const std::string text = file_of(export_alpa(e.request()), "alpa.py");
  EXPECT_THAT(text, HasSubstr("num_micro_batches=4"));
  EXPECT_THAT(text, HasSubstr("pipeline_schedule=\"gpipe\""));
  EXPECT_THAT(text, HasSubstr("layer_num=4"));
  EXPECT_THAT(text, HasSubstr("forward_stage_layer_ids=[[0, 1], [2, 3]]"));
  EXPECT_THAT(text, HasSubstr("submesh_physical_shapes=[(1, 2), (1, 2)]"));
  EXPECT_THAT(text, HasSubstr("gpn: GPUs 0,1; utah: GPUs 0,1"));
}

TEST(Export, GivesNcclItsEnvironmentAndKernelsTheirSettings) {
  const Example e({"groups=[[utah]]", "techniques={Data: {}}", "nccl={NCCL_SOCKET_NTHREADS: 4, NCCL_ALGO: Tree}",
                   "platform.vms.utah.type.tcp.net.ipv4.tcp_rmem=64MiB"});
  const Export out = export_environment(e.request());
  EXPECT_THAT(file_of(out, "nccl.sh"), HasSubstr("export NCCL_ALGO=Tree\nexport NCCL_SOCKET_NTHREADS=4\n"));
  EXPECT_THAT(file_of(out, "sysctl-utah.conf"), HasSubstr("net.ipv4.tcp_rmem = 4096 131072 67108864\n"));
}

TEST(Export, ListsItsFilesAndReasons) {
  const auto files = export_plan(Example({"groups=[[utah, gpn]]", "techniques={Shard: {}}"}).request(), "title");
  EXPECT_EQ(files.front().name, "README.txt");
  EXPECT_THAT(files.front().text,
              testing::AllOf(HasSubstr("title\n"), HasSubstr("DeepSpeed:\n  cannot:"), HasSubstr("Alpa:\n  alpa.py")));
}

TEST(Export, GivesRoundsToTorchft) {
  const Example streaming({"groups=[[utah, gpn]]",
                           "techniques={StreamingDiLoCo: {inner_steps: 100, fragments: 4, delay: 5, format: fp8, "
                           "replica: vm, micro_batches: 2}}"});
  const auto out = export_torchft(streaming.request());
  ASSERT_TRUE(out);
  EXPECT_THAT(out->cannot, IsEmpty());
  const std::string code = file_of(*out, "torchft_exchange.py");
  for (const char* word :
       {"sync_every=100", "fragment_sync_delay=5", "should_quantize=True", "range(4)", "nesterov=True"})
    EXPECT_THAT(code, HasSubstr(word));
  const std::string script = file_of(*out, "torchft.sh");
  EXPECT_THAT(script, HasSubstr("--min_replicas 2"));
  EXPECT_THAT(script, HasSubstr("# on gpn\nTORCHFT_LIGHTHOUSE=http://LIGHTHOUSE:29510 CUDA_VISIBLE_DEVICES=0,1 "
                                "REPLICA_GROUP_ID=1 NUM_REPLICA_GROUPS=2 torchrun --nnodes=1 --nproc_per_node=2"));
  const Example average({"groups=[[utah, gpn]]", "techniques={LocalSGD: {inner_steps: 10, micro_batches: 2}}"});
  EXPECT_THAT(file_of(*export_torchft(average.request()), "torchft_exchange.py"), HasSubstr("LocalSGD(manager, model"));
}

TEST(Export, TellsWhatTorchftCannot) {
  const Example e({"groups=[[utah, gpn]]", "techniques={DiLoCo: {inner_steps: 10, format: int4, micro_batches: 2}}"});
  EXPECT_THAT(export_torchft(e.request())->cannot, Contains(HasSubstr("int4 is exchanged")));
  // Techniques that exchange at every step have no torchft export.
  EXPECT_FALSE(export_torchft(Example({"groups=[utah]", "techniques={Data: {micro_batches: 1}}"}).request()));
}

}  // namespace
}  // namespace slmsim::export_test
