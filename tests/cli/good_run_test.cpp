// Runs that succeed: every verb and its help, every format, every file that ships, and the statuses 0 and 1.
#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>

#include "tests/cli/prediction.h"

namespace slmsim::good_run_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kScenario = "scenarios/gat-amst.yaml";

RunOutcome expect_done(const std::vector<std::string>& words, const std::string& folder = SLMSIM_SOURCE_DIR) {
  RunOutcome run = slmsim_run(words, folder);
  EXPECT_EQ(run.status, 0) << testing::PrintToString(words) << "\n" << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out, "");
  return run;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// One GPU's memory, on all four of gat-amst.
std::vector<std::string> with_memory(const std::string& size, std::vector<std::string> words) {
  for (const char* gpu : {"gat.gpus.0", "gat.gpus.1", "amst.gpus.0", "amst.gpus.1"}) {
    words.push_back("--set");
    words.push_back(std::string("platform.vms.") + gpu + ".memory=" + size);
  }
  return words;
}

TEST(LinkUse, SaysThatNothingRanWhereNothingDid) {
  const RunOutcome run = slmsim_run(with_memory("1 GiB", {"run", kScenario, "--set", "models=gpt2m", "--link-use"}));
  EXPECT_THAT(run.out, HasSubstr("none: nothing ran, for the reasons above"));
  EXPECT_THAT(run.out, testing::Not(HasSubstr("describes its inside")));
  const RunOutcome ran = expect_done({"run", kScenario, "--set", "models=gpt2m", "--technique", "Data", "--link-use"});
  EXPECT_THAT(ran.out, HasSubstr("none: no VM type of this platform describes its inside"));
}

TEST(Help, OfEachVerbNamesItsOptions) {
  EXPECT_THAT(expect_done({"--help"}).out, HasSubstr("Exit status: 0 done, 1 nothing fits"));
  EXPECT_THAT(expect_done({"run", "--help"}).out, HasSubstr("--technique"));
  EXPECT_THAT(expect_done({"select", "--help"}).out, HasSubstr("--set"));
  EXPECT_THAT(expect_done({"validate", "--help"}).out, HasSubstr("--measured"));
  EXPECT_THAT(expect_done({"check", "--help"}).out, HasSubstr("FILE"));
  EXPECT_THAT(expect_done({"list", "--help"}).out, HasSubstr("techniques"));
  EXPECT_THAT(expect_done({"schema", "--help"}).out, HasSubstr("scenario,model,platform"));
}

TEST(Help, GivesExamplesThatWork) {
  const TemporaryFolder folder;
  for (const char* name : {"models", "platforms", "scenarios", "tests"})
    fs::create_directory_symlink(fs::path(SLMSIM_SOURCE_DIR) / name, folder.file(name));
  for (const std::string verb : {"", "run", "select", "validate", "check", "list", "schema"}) {
    const auto help = verb.empty() ? slmsim_run({"--help"}) : slmsim_run(std::vector<std::string>{verb, "--help"});
    for (const auto& line : lines_of(help.out)) {
      if (!line.starts_with("  slmsim ") || line.starts_with("  slmsim serve"))
        continue;  // that goes on until it is ended
      const RunOutcome run = run_program({"/bin/sh", "-c", SLMSIM_BINARY + line.substr(8)}, folder.file(""));
      EXPECT_EQ(run.status, 0) << line << "\n" << run.err;
    }
  }
}

TEST(Version, IsOneLine) {
  const auto lines = lines_of(expect_done({"--version"}).out);
  ASSERT_EQ(lines.size(), 1);
  EXPECT_THAT(lines[0], testing::MatchesRegex("slmsim [0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(Run, PrintsATable) {
  const std::string out = expect_done({"run", kScenario}).out;
  EXPECT_THAT(out, StartsWith("gat-amst: 20 epochs of 570 sequences, 8 x 1024 tokens per step, 1425 steps"));
  for (const char* word : {"gpt2m", "gpt2l", "gpt2L", "Data", "ZeRO2", "Shard", "Pipeshard", "gat, amst"})
    EXPECT_THAT(out, HasSubstr(word));
  const std::string all = expect_done({"run", kScenario, "--all"}).out;
  for (const char* word : {"gat+amst", "GPU-hours", "TFLOP/s"}) EXPECT_THAT(all, HasSubstr(word));
  EXPECT_EQ(expect_done({"run", kScenario, "--format", "table"}).out, out);
}

TEST(Run, TakesNamesWithCommas) {
  EXPECT_EQ(expect_done({"run", kScenario, "-t", "Data,ZeRO2", "-g", "gat,all", "-m", "gpt2m,gpt2l"}).out,
            expect_done(
                {"run", kScenario, "-t", "Data", "-t", "ZeRO2", "-g", "gat", "-g", "all", "-m", "gpt2m", "-m", "gpt2l"})
                .out);
}

TEST(Run, PrintsCsvWithAsManyCellsInEachLine) {
  const auto lines = lines_of(expect_done({"run", kScenario, "scenarios/tacc-tacc.yaml", "-f", "csv"}).out);
  ASSERT_EQ(lines.size(), 1 + 2 * 3 * 4 * 3);  // a header; scenarios, models, techniques, groups
  EXPECT_THAT(lines[0], StartsWith("scenario,model,technique,group,gpus,status,reason,minutes,iteration_s,"));
  const auto cells = [](const std::string& line) {
    bool quoted = false;
    return std::count_if(line.begin(), line.end(), [&](char c) {
      quoted ^= c == '"';
      return c == ',' && !quoted;
    });
  };
  for (const auto& line : lines) EXPECT_EQ(cells(line), cells(lines[0])) << line;
}

TEST(Run, WritesToAFileWhatItPrintsElsewhere) {
  const TemporaryFolder folder;
  for (const std::string format : {"table", "json", "csv"}) {
    const std::string file = folder.file(format);
    const RunOutcome run = slmsim_run({"run", kScenario, "--format", format, "--output", file});
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(contents(file), slmsim_run({"run", kScenario, "--format", format}).out);
  }
  EXPECT_EQ(slmsim_run({"select", kScenario, "-o", folder.file("select")}).status, 0);
  EXPECT_EQ(contents(folder.file("select")), expect_done({"select", kScenario}).out);
  EXPECT_EQ(folder.count(), 4);  // no temporary file is left
}

TEST(Run, ReplacesTheResultOfAnEarlierRun) {
  const TemporaryFolder folder;
  const std::string file = folder.write("result", std::string(100'000, 'x'));
  EXPECT_EQ(slmsim_run({"run", kScenario, "--output", file}).status, 0);
  EXPECT_THAT(contents(file), StartsWith("gat-amst: "));
}

TEST(Run, PredictsOneTechniqueWhereAsked) {
  const Json run = run_json({kScenario, "--technique", "Shard"});
  for (const auto& p : run.at("predictions")) EXPECT_EQ(p.at("technique"), "Shard");
  EXPECT_EQ(run.at("predictions").size(), 3 * 3);
}

TEST(Run, OverridesWhatTheScenarioSaysAndWhatItLeavesToTheDefault) {
  // 20 epochs of 570 sequences in batches of 16 are 712.5 iterations; the last, half full one counts.
  EXPECT_EQ(run_json({kScenario, "--set", "training.batch=16"}).at("predictions")[0].at("iterations"), 713);
  const Json one_socket = run_json({kScenario, "-t", "Data", "--set", "models=[gpt2m]"});
  const Json four_sockets =
      run_json({kScenario, "-t", "Data", "--set", "models=[gpt2m]", "--set", "nccl={NCCL_NSOCKS_PERTHREAD: 4}"});
  EXPECT_LT(four_sockets.at("predictions")[0].at("iteration_s"), one_socket.at("predictions")[0].at("iteration_s"));
  // The scenario has no section nccl: a value in it can be given all the same.
  const RunOutcome by_path = slmsim_run({"run", kScenario, "-t", "Data", "--set", "models=[gpt2m]", "--set",
                                         "nccl.NCCL_NSOCKS_PERTHREAD=4", "--format", "json"});
  EXPECT_EQ(by_path.status, 0) << by_path.err;
  EXPECT_EQ(Json::parse(by_path.out, nullptr, false), four_sockets);
}

TEST(Run, ReadsAModelOfHuggingFaceWhereAsked) {
  const std::string config = "tests/data/hf/gpt2-medium/config.json";
  for (const std::string& folder : {std::string("./"), std::string(SLMSIM_SOURCE_DIR "/")}) {
    const RunOutcome run = slmsim_run({"run", kScenario, "-t", "Data", "--set", "models=[" + folder + config + "]"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("gpt2-medium (355 M parameters)"));
  }
}

TEST(Run, EndsWithStatusOneWhereNothingFits) {
  const RunOutcome run = slmsim_run(with_memory("1 GiB", {"run", kScenario}));
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, HasSubstr("try other techniques"));
  const RunOutcome json = slmsim_run(with_memory("1 GiB", {"run", kScenario, "--format", "json"}));
  EXPECT_EQ(json.status, 1);
  const Json result = Json::parse(json.out);
  for (const auto& p : result.at("predictions")) EXPECT_EQ(p.at("status"), "oom");
  EXPECT_TRUE(result.at("selection").at("technique").is_null());
  EXPECT_EQ(slmsim_run(with_memory("1 GiB", {"select", kScenario})).status, 1);
}

TEST(Run, EndsWithStatusOneAlsoWhereATraceOfNothingIsAskedFor) {
  const TemporaryFolder folder;
  const RunOutcome run = slmsim_run(with_memory("1 GiB", {"run", kScenario, "--trace", folder.file("trace.json")}));
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("try other techniques"));
}

TEST(Select, TellsBothAlgorithms) {
  const std::string out = expect_done({"select", "scenarios/tacc-tacc.yaml", "--set", "selection.delta=0.05"}).out;
  EXPECT_THAT(out, HasSubstr("paper"));
  EXPECT_THAT(out, HasSubstr("amended"));
}

TEST(List, NamesWhatTheFoldersHold) {
  const fs::path root = SLMSIM_SOURCE_DIR;
  const std::vector<std::pair<std::string, fs::path>> folders = {{"models", root / "models"},
                                                                 {"gpus", root / "platforms/gpus"},
                                                                 {"platforms", root / "platforms"},
                                                                 {"scenarios", root / "scenarios"}};
  for (const auto& [what, folder] : folders) {
    const std::string out = expect_done({"list", what}).out;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_regular_file()) {
        // By the name that the file states, which a file's own name may have to spell otherwise.
        std::ifstream file(entry.path());
        std::string line;
        while (std::getline(file, line) && !line.starts_with("name: ")) continue;
        EXPECT_THAT(out, HasSubstr(line.starts_with("name: ") ? line.substr(6) : entry.path().stem().string()));
      }
    }
  }
  for (const char* technique : {"Data", "ZeRO2", "Shard", "Pipeshard"})
    EXPECT_THAT(expect_done({"list", "techniques"}).out, HasSubstr(technique));
}

// A folder with a model of its own adds to what ships, and its gpt2m is the one that a scenario there names.
TEST(List, NamesWhatShipsBesideTheUsersOwn) {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("models"));
  for (const std::string name : {"gpt2m", "mine"}) {
    folder.write(
        "models/" + name + ".yaml",
        "name: " + name + "\nfamily: gpt2\nlayers: 2\nhidden: 64\nheads: 4\nsequence: 128\nvocabulary: 1000\n");
  }
  EXPECT_EQ(slmsim_run({"list", "gpus"}, folder.file(".")).out, expect_done({"list", "gpus"}).out);
  const std::string models = slmsim_run({"list", "models"}, folder.file(".")).out;
  EXPECT_THAT(models, AllOf(HasSubstr("mine "), HasSubstr("gpt2-xl ")));
  EXPECT_THAT(models.substr(models.find("gpt2m ")), HasSubstr("0 M parameters, 2 layers of 64"));

  // A file of another program is reported, and the list stays complete.
  folder.write("models/other.yaml", "apiVersion: v1\n");
  const RunOutcome beside = slmsim_run({"list", "models"}, folder.file("."));
  EXPECT_EQ(beside.status, 2);
  EXPECT_EQ(beside.out, models);
  EXPECT_THAT(beside.err, HasSubstr("models/other.yaml:1:1: error: other has no \"family\""));
}

TEST(Check, FindsNothingWrongWithWhatShips) {
  std::vector<std::string> words = {"check", "tests/data/hf/gpt2-medium/config.json",
                                    "tests/data/hf/llama-7b/config.json"};
  for (const char* folder : {"models", "platforms", "scenarios"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SLMSIM_SOURCE_DIR) / folder)) {
      // A base to be extended is half a scenario.
      const bool base = entry.path().parent_path().filename() == "base";
      if (entry.is_regular_file() && !base) words.push_back(entry.path());
    }
  }
  const auto lines = lines_of(expect_done(words).out);
  ASSERT_EQ(lines.size(), words.size() - 1);
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_THAT(lines[i], StartsWith(words[i + 1] + ": ok, a "));
}

TEST(Validate, ComparesWithTheStudyFromAnyFolderOfTheProject) {
  EXPECT_EQ(expect_done({"validate"}).out, expect_done({"validate", "fabric"}).out);
  EXPECT_EQ(expect_done({"validate"}, SLMSIM_SOURCE_DIR "/models").out, expect_done({"validate"}).out);
}

TEST(Validate, TellsWhatExplainsMemory) {
  const TemporaryFolder folder;
  const std::string facts = folder.write("fabric.csv",
                                         "slice,gpus,n_gpus,model,technique,minutes,tflops_per_gpu,status\n"
                                         "TACC-TACC,2xRTX,2,gpt2m,Data,,,oom\n"
                                         "TACC-TACC,2xRTX,2,gpt2L,Data,,,ok\n");
  const std::string text = expect_done({"validate", "fabric", "--memory", "--reference", facts}).out;
  EXPECT_NE(text.find("1 of 2 facts agree with one explanation per slice, 1 with one for all"), std::string::npos)
      << text;
  const std::string csv = expect_done({"validate", "--memory", "--reference", facts, "--format", "csv"}).out;
  EXPECT_NE(csv.find("\nTACC-TACC,2,1,"), std::string::npos) << csv;
  EXPECT_NE(slmsim_run({"validate", "job", "--memory"}).err.find("is for fabric"), std::string::npos);
}

// There is no relative error of 0: the difference is shown, and kept out of the mean.
TEST(Validate, JudgesWhatWasMeasuredAsZeroByTheDifference) {
  const TemporaryFolder folder;
  const std::string deepspeed = folder.write("deepspeed.csv",
                                             "config,nodes,model_size_B,metric,value,unit,source\n"
                                             "DDP,1,1.4,throughput,0,TFLOP/s,made up\n"
                                             "DDP,1,1.4,bw_RoCE_avg,0,GB/s,made up\n");
  const std::string text = expect_done({"validate", "deepspeed", "--reference", deepspeed}).out;
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  EXPECT_EQ(text.find("inf "), std::string::npos) << text;
  // One machine has no traffic on RoCE.
  EXPECT_NE(text.find("| bw_RoCE_avg, GB/s | 0 | 0 | +0 (measured is 0: difference) |"), std::string::npos) << text;
  EXPECT_NE(text.find("averages of links: 0 cells"), std::string::npos) << text;
  EXPECT_NE(text.find("; 1 more measured as 0, judged by the difference: at most 0\n"), std::string::npos) << text;
  const std::string csv = expect_done({"validate", "deepspeed", "--reference", deepspeed, "--format", "csv"}).out;
  EXPECT_NE(csv.find("bw_RoCE_avg,GB/s,0,0,\n"), std::string::npos) << csv;

  const std::string fabric = folder.write("fabric.csv",
                                          "slice,gpus,n_gpus,model,technique,minutes,tflops_per_gpu,status,source\n"
                                          "GAT-AMST,2xA30+2xT4,4,gpt2m,Data,0,0,ok,made up\n");
  const std::string facts = expect_done({"validate", "fabric", "--reference", fabric}).out;
  EXPECT_EQ(facts.find("nan"), std::string::npos) << facts;
  EXPECT_EQ(facts.find("inf "), std::string::npos) << facts;
  EXPECT_NE(facts.find("(measured is 0: difference)"), std::string::npos) << facts;
}

// Choosing among a scenario's techniques by name keeps what it says of them.
TEST(GoodRun, NamesOfTechniquesKeepTheirOptions) {
  const auto job = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "run", SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--format", "csv"};
    words.insert(words.end(), more.begin(), more.end());
    return slmsim_run(words).out;
  };
  const std::string chosen = job({"--technique", "Data"});
  EXPECT_EQ(job({"--set", "techniques=[Data]"}), chosen);
  EXPECT_EQ(job({"--set", "techniques=Data"}), chosen);
}

// Both GPUs have one name; a tenth of its rate makes either of them the one that all wait for.
TEST(Run, HeedsTheFiguresOfEachGpuOfOneName) {
  const auto time_with = [](const std::string& slow) {
    std::vector<std::string> words = {kScenario, "--set", "models=gpt2m", "--set", "groups=[gat]", "-t", "Data"};
    if (!slow.empty()) words.insert(words.end(), {"--set", "platform.vms.gat.gpus." + slow + ".peak.fp16=16.5TFLOP/s"});
    return run_json(words).at("predictions").at(0).at("iteration_s").get<double>();
  };
  const double first = time_with("0");
  EXPECT_EQ(time_with("1"), first);
  EXPECT_GT(first, 2 * time_with(""));
}

}  // namespace
}  // namespace slmsim::good_run_test
