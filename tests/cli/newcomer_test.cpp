// What a newcomer does: slmsim init with a model of Hugging Face's hub, then slmsim run, without an edit between them.
#include <filesystem>
#include <map>
#include <pwd.h>
#include <sys/stat.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/cli/process.h"
#include "tests/cli/refusal.h"
#include "tests/word_name.h"

namespace slmsim::newcomer_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Values that the models' pages on the hub publish.
const std::map<std::string, std::string> kConfigs = {
    {"Llama-3.2-1B",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "head_dim": 64, "hidden_act": "silu",
 "hidden_size": 2048, "intermediate_size": 8192, "max_position_embeddings": 131072, "mlp_bias": false,
 "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8,
 "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 32.0, "original_max_position_embeddings": 8192,
 "rope_type": "llama3"}, "rope_theta": 500000.0, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
 "use_cache": true, "vocab_size": 128256}
)"},
    {"Qwen2.5-0.5B",
     R"({"architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "hidden_act": "silu", "hidden_size": 896,
 "intermediate_size": 4864, "max_position_embeddings": 32768, "max_window_layers": 24, "model_type": "qwen2",
 "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2, "rms_norm_eps": 1e-06,
 "rope_theta": 1000000.0, "sliding_window": 32768, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
 "use_sliding_window": false, "vocab_size": 151936}
)"},
    {"SmolLM2-360M",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "hidden_act": "silu", "hidden_size": 960,
 "intermediate_size": 2560, "max_position_embeddings": 8192, "mlp_bias": false, "model_type": "llama",
 "num_attention_heads": 15, "num_hidden_layers": 32, "num_key_value_heads": 5, "rms_norm_eps": 1e-05,
 "rope_scaling": null, "rope_theta": 100000, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
 "vocab_size": 49152}
)"},
    {"gpt2-medium",
     R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "embd_pdrop": 0.1,
 "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 1024, "n_head": 16, "n_layer": 24,
 "n_positions": 1024, "resid_pdrop": 0.1, "vocab_size": 50257}
)"},
    {"pythia-410m",
     R"({"architectures": ["GPTNeoXForCausalLM"], "hidden_act": "gelu", "hidden_size": 1024, "intermediate_size": 4096,
 "layer_norm_eps": 1e-05, "max_position_embeddings": 2048, "model_type": "gpt_neox", "num_attention_heads": 16,
 "num_hidden_layers": 24, "rotary_emb_base": 10000, "rotary_pct": 0.25, "tie_word_embeddings": false,
 "torch_dtype": "float16", "use_parallel_residual": true, "vocab_size": 50304}
)"}};

class Newcomer : public testing::Test {
 protected:
  // A folder of the hub, beside which init is called.
  void model(const std::string& name) const {
    std::filesystem::create_directory(folder_.file(name));
    folder_.write(name + "/config.json", kConfigs.at(name));
  }
  RunOutcome init(std::vector<std::string> words) const {
    words.insert(words.begin(), "init");
    return slmsim_run(words, folder_.file(""));
  }
  std::string scenario(const std::string& name = "own") const {
    return contents(folder_.file(name + "/scenario.yaml"));
  }
  std::string platform(const std::string& name = "own") const {
    return contents(folder_.file(name + "/platform.yaml"));
  }
  // The pick of the folder's scenario, as "TECHNIQUE, MINUTES > 0".
  void expect_pick(const std::string& name = "own") const {
    const RunOutcome run = slmsim_run({"run", name, "--format", "json"}, folder_.file(""));
    ASSERT_EQ(run.status, 0) << run.err << run.out.substr(0, 2000);
    const auto result = nlohmann::json::parse(run.out);
    const auto& pick = result["selection"];
    ASSERT_FALSE(pick["technique"].is_null()) << scenario(name);
    for (const auto& one : result["predictions"]) {
      if (one["technique"] != pick["technique"] || one["group"] != pick["group"]) continue;
      EXPECT_EQ(one["status"], "ok");
      EXPECT_GT(one["minutes"], 0.0);
    }
  }
  const TemporaryFolder folder_;
};

struct Cluster {
  const char* name;
  std::vector<std::string> words;
};

const std::vector<Cluster> kClusters = {
    {"DeskLabCloud", {"--gpu", "desk=rtx3090", "--gpu", "lab=a5000:2", "--gpu", "cloud=a100-80:2"}},
    {"OneRtx4090", {"--gpu", "rtx4090"}},
    {"EightH100", {"--gpu", "h100:8"}},
    {"T4sAndAV100", {"--gpu", "old=t4:2", "--gpu", "lab=v100"}}};

class NewcomerWith : public Newcomer, public testing::WithParamInterface<std::tuple<Cluster, std::string>> {};

TEST_P(NewcomerWith, GetsATechniqueThatFits) {
  const auto& [cluster, name] = GetParam();
  model(name);
  auto words = cluster.words;
  words.insert(words.end(), {"--model", "./" + name, "own"});
  const RunOutcome run = init(words);
  ASSERT_EQ(run.status, 0) << run.err;
  expect_pick();
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<Cluster, std::string>>& info) {
  std::string out = std::get<0>(info.param).name;
  for (const char c : std::get<1>(info.param)) {
    if (std::isalnum(static_cast<unsigned char>(c))) out += c;
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(, NewcomerWith,
                         testing::Combine(testing::ValuesIn(kClusters),
                                          testing::Values("Llama-3.2-1B", "Qwen2.5-0.5B", "SmolLM2-360M", "gpt2-medium",
                                                          "pythia-410m")),
                         name_of_case);

// From any folder, also where the model's own is gone.
TEST_F(Newcomer, CopiesAModelBesideTheScenario) {
  model("Llama-3.2-1B");
  ASSERT_EQ(init({"--gpu", "a100-80", "--model", "./Llama-3.2-1B", "deep/own"}).status, 0);
  std::filesystem::remove_all(folder_.file("Llama-3.2-1B"));
  const std::string text = scenario("deep/own");
  EXPECT_THAT(text, AllOf(HasSubstr("models: [./Llama-3.2-1B.json]"), HasSubstr("sequences of 2048 tokens"),
                          HasSubstr("131072 at most"), HasSubstr("precision: bf16  # dtype of config.json")));
  const RunOutcome run = slmsim_run({"run", "scenario.yaml"}, folder_.file("deep/own"));
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Llama-3.2-1B"));
}

// On 8 GiB: why the fastest is not the best, and what a GPU alone lacks.
TEST_F(Newcomer, SeesWhyMemoryDecides) {
  const auto run = [&](const std::string& name) {
    model(name);
    EXPECT_EQ(init({"--gpu", "laptop=rtx4060ti", "--force", "--model", "./" + name, "own"}).status, 0);
    return slmsim_run({"run", "own"}, folder_.file("")).out;
  };
  EXPECT_THAT(run("SmolLM2-360M"), HasSubstr("Faster, but at the edge of memory: DDP, FSDP on laptop."));
  EXPECT_THAT(run("Llama-3.2-1B"), AllOf(HasSubstr("\nNO FIT   DDP, FSDP, Pipeshard on laptop"),
                                         Not(HasSubstr("a pipeline needs at least two GPUs"))));
}

TEST_F(Newcomer, StatesABatchSmallerThanAMicroBatch) {
  model("gpt2-medium");
  ASSERT_EQ(init({"--gpu", "a10:3", "--batch", "2", "--model", "./gpt2-medium", "own"}).status, 0);
  EXPECT_THAT(scenario(), HasSubstr("\n  micro_batch: 2 "));
}

TEST_F(Newcomer, NamesModelsInFourWays) {
  model("gpt2-medium");
  for (const char* word : {"gpt2-medium/config.json", "./gpt2-medium", "openai-community/gpt2-medium", "gpt2m"}) {
    SCOPED_TRACE(word);
    const RunOutcome run = init({"--gpu", "a10", "--force", "--model", word, "own"});
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(slmsim_run({"check", "own"}, folder_.file("")).status, 0);
  }
  ASSERT_EQ(init({"--gpu", "a10", "--model", "Qwen/Qwen2.5-0.5B", "hub"}).status, 0);
  EXPECT_THAT(scenario("hub"), HasSubstr("models: [qwen2.5-0.5b]"));
}

TEST_F(Newcomer, LearnsWhereToGetAModel) {
  const auto wrong = [&](const char* word, const char* text) {
    const RunOutcome run = init({"--gpu", "a10", "--model", word, "own"});
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.err, HasSubstr(text));
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.file("own")));
  };
  wrong("HuggingFaceTB/SmolLM2-360M", "hf download HuggingFaceTB/SmolLM2-360M config.json --local-dir SmolLM2-360M");
  wrong("./nothing", "./nothing: error: no such file or folder");
  std::filesystem::create_directory(folder_.file("empty"));
  wrong("./empty", "this folder has no config.json");
}

TEST_F(Newcomer, StatesALength) {
  model("Qwen2.5-0.5B");
  ASSERT_EQ(init({"--gpu", "a100-80", "--model", "Qwen2.5-0.5B", "--sequence", "512", "own"}).status, 0);
  EXPECT_THAT(contents(folder_.file("own/Qwen2.5-0.5B.json")), HasSubstr("\"sequence\": 512"));
  expect_pick();
  // A shipped model, whose learned positions keep their number.
  ASSERT_EQ(init({"--gpu", "a100-80", "--model", "gpt2", "--sequence", "256", "short"}).status, 0);
  EXPECT_THAT(contents(folder_.file("short/gpt2.yaml")),
              AllOf(HasSubstr("sequence: 256"), HasSubstr("positions: 1024")));
  expect_pick("short");
  const RunOutcome longer = init({"--gpu", "a100-80", "--model", "gpt2", "--sequence", "4096", "long"});
  EXPECT_EQ(longer.status, 2);
  EXPECT_THAT(longer.err, HasSubstr("exceeds the 1024 learned positions"));
}

TEST_F(Newcomer, GetsBf16WhereAllGpusHaveIt) {
  model("SmolLM2-360M");
  ASSERT_EQ(init({"--gpu", "t4", "--model", "SmolLM2-360M", "own"}).status, 0);
  EXPECT_THAT(scenario(), HasSubstr("precision: fp16  # dtype of config.json is bfloat16: t4 has no bf16"));
}

TEST_F(Newcomer, PredictsWhatPeopleRunToday) {
  ASSERT_EQ(init({"--gpu", "desk=rtx3090", "--gpu", "lab=a5000:2", "own"}).status, 0);
  EXPECT_THAT(scenario(), AllOf(HasSubstr("  DDP: {}\n"), HasSubstr("  FSDP: {}\n"), HasSubstr("  Pipeshard: {"),
                                HasSubstr("  DiLoCo: {"), HasSubstr("stack: compiled")));
  ASSERT_EQ(init({"--gpu", "a5000:2", "one"}).status, 0);
  EXPECT_THAT(scenario("one"), Not(HasSubstr("DiLoCo")));
  ASSERT_EQ(init({"--gpu", "a5000:2", "--techniques", "study", "study"}).status, 0);
  EXPECT_THAT(scenario("study"), HasSubstr("techniques: [Data, ZeRO2, Shard, Pipeshard]"));
  ASSERT_EQ(init({"--gpu", "a5000:2", "--techniques", "DDP,ZeRO-2", "-t", "FSDP", "named"}).status, 0);
  EXPECT_THAT(scenario("named"), HasSubstr("techniques: [DDP, ZeRO-2, FSDP]"));
}

// Groups of 1, 2 and 3 GPUs: a batch of a multiple of 6.
TEST_F(Newcomer, GetsABatchThatDividesAndFits) {
  ASSERT_EQ(init({"--gpu", "desk=rtx3090", "--gpu", "lab=a5000:2", "own"}).status, 0);
  const std::string text = scenario();
  const int batch = std::stoi(text.substr(text.find("  batch: ") + 9));
  const int micro_batch = std::stoi(text.substr(text.find("  micro_batch: ") + 15));
  EXPECT_EQ(batch % (6 * micro_batch), 0) << text;
  const auto result = nlohmann::json::parse(slmsim_run({"run", "own", "-f", "json"}, folder_.file("")).out);
  for (const auto& one : result["predictions"]) EXPECT_NE(one["status"], "oom") << one.dump();
}

// 35 sequences on one GPU: 5 micro-batches of 7. Groups of 1 and 2: those of 1 compute the same, as 2 cannot divide 35.
TEST_F(Newcomer, GetsMicroBatchesThatDivideItsOwnBatch) {
  ASSERT_EQ(init({"--gpu", "a5000", "--batch", "35", "one"}).status, 0);
  EXPECT_THAT(scenario("one"), HasSubstr("  micro_batch: 7 "));
  ASSERT_EQ(init({"--gpu", "desk=a5000", "--gpu", "lab=a5000", "--batch", "35", "two"}).status, 0);
  EXPECT_THAT(scenario("two"), AllOf(HasSubstr("  micro_batch: 7 "), HasSubstr("some groups cannot divide it evenly")));
  ASSERT_EQ(init({"--gpu", "a5000:2", "--batch", "48", "even"}).status, 0);
  EXPECT_THAT(scenario("even"), HasSubstr("  micro_batch: 8 "));  // 24 for each GPU
}

// An hour of one A100 costs 2 dollars, of two 4; of the machine 3.
TEST_F(Newcomer, StatesPrices) {
  const auto with = [&](const std::string& price) {
    return init({"--gpu", "desk=rtx3090", "--gpu", "cloud=a100-80:2", "--force", "--price", price, "own"});
  };
  ASSERT_EQ(with("a100-80=2").status, 0);
  EXPECT_THAT(platform(), HasSubstr("price_per_hour: {value: 4, provenance: datasheet, source: \"--price\"}"));
  ASSERT_EQ(with("cloud=3").status, 0);
  EXPECT_THAT(platform(), HasSubstr("price_per_hour: {value: 3,"));
  const auto result = nlohmann::json::parse(slmsim_run({"run", "own", "-f", "json"}, folder_.file("")).out);
  for (const auto& one : result["predictions"]) {
    if (one["group"] != nlohmann::json{"cloud"} || one["status"] != "ok") continue;
    EXPECT_NEAR(one["cost"].get<double>(), 3 * one["minutes"].get<double>() / 60, 1e-6);
  }
  // A machine's own price is all of it, in either order.
  for (const std::string both : {"cloud=3,a100-80=2", "a100-80=2,cloud=3"}) {
    const auto comma = both.find(',');
    ASSERT_EQ(init({"--gpu", "desk=rtx3090", "--gpu", "cloud=a100-80:2", "--force", "--price", both.substr(0, comma),
                    "--price", both.substr(comma + 1), "own"})
                  .status,
              0);
    EXPECT_THAT(platform(), HasSubstr("price_per_hour: {value: 3,")) << both;
  }
  EXPECT_THAT(with("clod=3").err, HasSubstr("--price: no machine or GPU is named \"clod\"; did you mean \"cloud\"?"));
  EXPECT_THAT(with("cloud=cheap").err, HasSubstr("dollars per hour are expected, such as cloud=1.99"));
}

TEST_F(Newcomer, ChoosesAStack) {
  ASSERT_EQ(init({"--gpu", "a5000", "--stack", "autocast", "own"}).status, 0);
  EXPECT_THAT(scenario(), AllOf(HasSubstr("stack: autocast"), HasSubstr("gradient_precision: fp32")));
  expect_pick();
  EXPECT_THAT(init({"--gpu", "a5000", "--stack", "compild", "x"}).err, HasSubstr("did you mean \"compiled\"?"));
}

// Triton has no kernels for Pascal.
TEST_F(Newcomer, SeesThatAGpuIsTooOldForAStack) {
  const std::string old = "p100 has compute capability 6.0, and stack compiled needs 7.0";
  EXPECT_THAT(init({"--gpu", "p100:2", "--stack", "compiled", "own"}).out,
              HasSubstr("stack: compiled (" + old + ": its kernels do not run there)"));
  EXPECT_THAT(unwrapped(slmsim_run({"run", "own"}, folder_.file("")).out), HasSubstr("REMARK   " + old));
  EXPECT_THAT(init({"--gpu", "p100:2", "usual"}).out, Not(HasSubstr("stack: compiled")));
  EXPECT_THAT(scenario("usual"), HasSubstr("stack: eager}  # assumed: " + old));
  EXPECT_THAT(slmsim_run({"run", "usual"}, folder_.file("")).out, Not(HasSubstr("software.stack=compiled")));
}

TEST_F(Newcomer, NamesTheFolderOfAScenario) {
  ASSERT_EQ(init({"--gpu", "a5000:2", "own"}).status, 0);
  for (const char* verb : {"run", "check", "select", "explain", "report"}) {
    std::vector<std::string> words = {verb, "own"};
    if (verb == std::string("report")) words.insert(words.end(), {"-o", folder_.file("page.html")});
    const RunOutcome run = slmsim_run(words, folder_.file(""));
    EXPECT_EQ(run.status, 0) << verb << run.err;
  }
}

TEST_F(Newcomer, IsToldWhereAMachineIsNamedByAColon) {
  const RunOutcome run = init({"--gpu", "desk:rtx3090", "own"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("did you mean \"desk=rtx3090\"?"));
  EXPECT_THAT(init({"--gpu", "desk:rtx3090:2", "own"}).err, HasSubstr("did you mean \"desk=rtx3090:2\"?"));
}

// Root may write anywhere, so that another user has to try.
TEST_F(Newcomer, IsToldWhereNothingCanBeWritten) {
  const std::string closed = folder_.file("closed");
  ASSERT_EQ(mkdir(closed.c_str(), 0700), 0);
  std::vector<std::string> words = {SLMSIM_BINARY, "init", "--gpu", "rtx3090", closed + "/x"};
  if (geteuid() == 0) {
    chmod(folder_.file("").c_str(), 0755);
    if (!getpwnam("nobody") || !std::filesystem::exists("/usr/bin/setpriv")) GTEST_SKIP() << "needs setpriv and nobody";
    const std::vector<std::string> as = {"/usr/bin/setpriv", "--reuid=65534", "--clear-groups"};
    words.insert(words.begin(), as.begin(), as.end());
  } else {
    chmod(closed.c_str(), 0500);
  }
  const RunOutcome run = run_program(words, "/");
  EXPECT_EQ(run.status, 2) << run.err;
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("closed/x: error: "), HasSubstr("Permission denied"), Not(HasSubstr("internal"))));
  const std::string file = folder_.write("file", "");
  EXPECT_THAT(init({"--gpu", "rtx3090", "file"}).err, HasSubstr("is not a folder"));
  EXPECT_THAT(init({"--gpu", "rtx3090", "file/x"}).err, HasSubstr("is not a folder"));
}

// script(1) of bsdutils, which Debian always has, makes the terminal.
TEST_F(Newcomer, IsAskedAgainWithTheReason) {
  folder_.write("nvidia-smi", "#!/bin/sh\nexit 9\n");
  chmod(folder_.file("nvidia-smi").c_str(), 0700);
  const std::string answers =
      "rtx9999\\na10:2\\nt4\\nlab=t4\\nthirty\\n28\\n12ms\\nfast\\n1Gbps\\nmine\\npair\\nlab=a10\\n-"
      "\\ngpt9\\ngpt2m\\nmany\\n16\\n";
  const RunOutcome done =
      run_program({"/bin/sh", "-c",
                   "printf '" + answers + "' | PATH=" + folder_.file("") +
                       ":$PATH script -qec '" SLMSIM_BINARY " init " + folder_.file("mine") + "' /dev/null"});
  ASSERT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("there is no GPU \"rtx9999\""), HasSubstr("NAME=TYPE:COUNT is expected"),
                              HasSubstr("\"28\" has no unit"), HasSubstr("\"mine\" is none of path (all"),
                              HasSubstr("\"lab\" is named already"), HasSubstr("there is no model \"gpt9\""),
                              HasSubstr("\"many\" is not a number of sequences")));
  EXPECT_THAT(platform("mine"), AllOf(HasSubstr("rtt: {value: 12 ms"), HasSubstr("bandwidth: {value: 1 Gbps")));
  EXPECT_THAT(scenario("mine"), HasSubstr("batch: 16"));
}

// A card of 24 GiB that holds 22 GiB with the next larger micro-batch: too near to the edge for a first answer.
TEST_F(Newcomer, GetsAMicroBatchThatLeavesRoomInMemory) {
  for (const char* model : {"gpt2m", "smollm-360m", "llama-160m"}) {
    ASSERT_EQ(init({"--gpu", "desk=rtx3090", "--model", model, model}).status, 0) << model;
    const auto json = nlohmann::json::parse(slmsim_run({"run", folder_.file(model), "--format", "json"}).out);
    for (const auto& p : json["predictions"]) {
      EXPECT_TRUE(p["status"] != "ok" || p["fit"] == "fits") << model << p["technique"];
    }
  }
}

}  // namespace
}  // namespace slmsim::newcomer_test
