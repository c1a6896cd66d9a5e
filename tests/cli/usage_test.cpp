// Command lines that no verb can run: words, options, overrides and places to write to.
#include "tests/cli/refusal.h"

namespace slmsim::usage_test {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

struct WrongUse {
  Words arguments;
  std::string blamed;  // the text before the error, with its line and column if there are any
  std::string text;
};

constexpr const char* kScenario = "scenarios/gat-amst.yaml";

WrongUse usage(Words arguments, std::string text) { return {std::move(arguments), "slmsim", std::move(text)}; }

WrongUse set(const std::string& override, const std::string& blamed, std::string text) {
  return {{"run", kScenario, "--set", override}, blamed, std::move(text)};
}

std::vector<WrongUse> wrong_uses() {
  const std::string key_value = "an override has the form KEY=VALUE";
  return {
      usage({}, "see slmsim --help"),
      usage({"rnu", kScenario}, "unknown command \"rnu\"; did you mean \"run\"?"),
      usage({"frobnicate"},
            "unknown command \"frobnicate\"; known are: run, select, explain, sweep, merge, validate, check, list, "
            "plot, report, shapes, plan, max-model, schema, import, init, completion"),
      usage({""}, "unknown command \"\""),
      usage({"--frobnicate"}, "--frobnicate"),
      usage({"run"}, "SCENARIO is required"),
      usage({"select"}, "SCENARIO is required"),
      usage({"explain"}, "SCENARIO is required"),
      usage({"explain", kScenario, "--format", "csv"}, "\"csv\" is unknown; known are: table, json"),
      usage({"explain", kScenario, "--technique", "Pipeshart"},
            "\"Pipeshart\" is unknown; did you mean \"Pipeshard\"?"),
      usage({"check"}, "FILE is required"),
      usage({"list"}, "WHAT is required"),
      usage({"list", "gpu"}, "there is no list of \"gpu\"; did you mean \"gpus\"?"),
      usage({"list", "gpus", "extra"}, "extra"),
      usage({"schema"}, "a schema describes one kind of file; name one of scenario, model, "),
      usage({"schema", "scenarios"}, "there is no schema of \"scenarios\"; did you mean \"scenario\"?"),
      usage({"schema", "gpu", "--format", "yaml"}, "\"yaml\" is unknown; known are: json, markdown"),
      usage({"schema", "gpu", "vm"}, "vm"),
      usage({"shapes", "gpt2m", "--format", "json", "--batch", "8"}, "--batch is for csv"),
      usage({"plan", kScenario, "--restart"}, "--restart needs --journal FILE"),
      usage({"import", "csv", "a.csv", "--shapes", "b.csv"}, "--shapes is for nsys"),
      usage({"import", "csv", "a.csv", "--rows", "0"}, "--rows"),
      usage({"validate", "--worst", "-1"}, "--worst"),
      usage({"validate", "--measured", "steps.json"}, "--measured needs --gpu"),
      usage({"validate", "--gpu", "h200"}, "--gpu and --profile are for --measured FILE"),
      usage({"validate", "deepspeed", "--set", "training.batch=8"}, "--set is for fabric"),
      usage({"validate", "fabrik"}, "there is no study \"fabrik\"; did you mean \"fabric\"?"),
      usage({"run", kScenario, "--fromat", "json"},
            "unknown option \"--fromat\" of slmsim run; did you mean \"--format\"?"),
      usage({"run", kScenario, "--fromat=json"},
            "unknown option \"--fromat\" of slmsim run; did you mean \"--format\"?"),
      usage({"run", kScenario, "--format", "xml"}, "\"xml\" is unknown; known are: table, json, csv"),
      usage({"run", kScenario, "--format", "jsno"}, "\"jsno\" is unknown; did you mean \"json\"?"),
      usage({"run", kScenario, "--format"}, "--format"),
      usage({"run", kScenario, "--technique", "data"}, "\"data\" is unknown; did you mean \"Data\"?"),
      usage({"run", kScenario, "--technique", "ZeRO-3"},
            "gat-amst has no technique \"ZeRO-3\"; it has Data, ZeRO2, Shard, Pipeshard; add it under techniques"),
      usage({"explain", kScenario, "-t", "ZeRO-3"}, "it has Data, ZeRO2, Shard, Pipeshard"),
      usage({"max-model", kScenario, "-t", "DDP"}, "gat-amst has no technique \"DDP\""),
      usage({"run", kScenario, "--model", "gpt2x"}, "gat-amst has no model \"gpt2x\"; it has gpt2m"),
      usage({"run", kScenario, "--group", "gat+utah"}, "gat-amst has no group \"gat+utah\""),
      usage({"completion"}, "WHAT is required"),
      usage({"completion", "tcsh"}, "completion \"tcsh\" is unknown; known are: bash, man"),
      usage({"run", kScenario, "--technique", "Horovod"}, "\"Horovod\" is unknown; known are: Data, ZeRO2, "),
      usage({"run", kScenario, "--seed", "7"}, "--seed needs --intervals"),
      usage({"plan", kScenario, "--seed=7"}, "unknown option \"--seed\" of slmsim plan; "),
      usage({"run", kScenario, "--output"}, "--output"),
      usage({"select", kScenario, "--format", "json"}, "--format"),

      {{"run", "no-such.yaml"}, "no-such.yaml", "no such file"},
      {{"run", kScenario, "no-such.yaml"}, "no-such.yaml", "no such file"},
      {{"run", "no-such-folder/x.yaml"}, "no-such-folder/x.yaml", "no such file"},
      {{"run", "scenarios"}, "scenarios", "this is a folder; name a file in it"},
      {{"run", std::string(5000, 'x')}, std::string(600, 'x') + ": error", "no such file"},
      {{"check", "no-such.yaml"}, "no-such.yaml", "no such file"},
      {{"explain", "no-such.yaml"}, "no-such.yaml", "no such file"},
      {{"explain", kScenario, "-t", "Data", "--output", "/no/such/place"}, "/no/such/place", "cannot be written there"},
      {{"validate", "--reference", "no-such.csv"}, "no-such.csv", "no such file"},

      {{"run", kScenario, "--output", "/no/such/place"}, "/no/such/place", "cannot be written there"},
      {{"run", kScenario, "--trace", "/no/such/place"}, "/no/such/place", "cannot be written there"},
      {{"select", kScenario, "--output", "/no/such/place"}, "/no/such/place", "cannot be written there"},
      {{"schema", "gpu", "--output", "/no/such/place"}, "/no/such/place", "cannot be written there"},
      {{"validate", "--output", "/no/such/place"}, "/no/such/place", "cannot be written there"},

      set("training.batch", "--set:1:1", key_value),
      set("=8", "--set:1:1", key_value),
      set("training.batch=", "--set:1:1", "an override without a value; its form is KEY=VALUE"),
      set("training.bacth=8", "--set:1:1", "unknown key \"bacth\" in training; did you mean \"batch\"?"),
      set("trainign.batch=8", "--set:1:1", "did you mean \"training\"?"),
      set("platform.links.van.rtt=1ms", "--set:1:1", "there is no link \"van\" to override; known are: wan"),
      set("training.epochs.value.x=8", "--set:1:1", "a single value; it has no keys below it"),
      set("models.0.name.x=8", "--set:1:1", "a single value; it has no keys below it"),
      set("models.7=gpt2m", "--set:1:1", "there is no \"7\" to override; "),
      set("training.batch=0", "--set training.batch=0:1:1", "is out of range"),
      set("training.batch=[8]", "--set training.batch=[8]:1:1", "training.batch is a list; a single value is expected"),
      set("platform.links.wan.rtt=103", "--set platform.links.wan.rtt=103:1:1", "\"103\" has no unit"),
      set("models=[gpt2m", "--set models=[gpt2m:1", "not valid YAML"),
      set("models=[a, *b]", "--set models=[a, *b]:1:5", "not valid YAML: the referenced anchor is not defined"),
      set("platform.vms.gat.gpus.0=h1000", "--set platform.vms.gat.gpus.0=h1000:1:1",
          "there is no GPU \"h1000\"; list them by slmsim list gpus"),
  };
}

TEST(CommandLine, RefusesWhatItCannotRun) {
  for (const auto& [arguments, blamed, text] : wrong_uses()) {
    SCOPED_TRACE(testing::PrintToString(arguments).substr(0, 200));
    expect_refused(arguments, blamed, {{"*", text}});
    // A command line that names no place to write must leave none behind with one either.
    const bool has_place = std::find(arguments.begin(), arguments.end(), "/no/such/place") != arguments.end();
    if (!arguments.empty() && !has_place && arguments.back() != "--output" && arguments.back() != "--format")
      expect_no_file_written(arguments);
  }
}

TEST(CommandLine, LeavesNothingBehindWhereOneOfTwoFilesCannotBeWritten) {
  const TemporaryFolder folder;
  const Words words = {"run", kScenario, "--trace", folder.file("trace.json"), "--output", "/no/such/place"};
  EXPECT_EQ(slmsim_run(words).status, 2);
  EXPECT_EQ(folder.count(), 0);
}

TEST(CommandLine, KeepsAFileThatItCannotReplace) {
  const TemporaryFolder folder;
  const std::string kept = folder.write("result", "old");
  EXPECT_EQ(slmsim_run({"run", "tests/bad/empty.yaml", "--output", kept}).status, 2);
  EXPECT_EQ(contents(kept), "old");
  EXPECT_EQ(folder.count(), 1);
}

TEST(CommandLine, DoesNotReplaceAFolderByAResult) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("result"));
  expect_refused({"run", kScenario, "--output", folder.file("result")}, folder.file("result"),
                 {{"", "this is a folder; name a file in it"}});
  EXPECT_EQ(folder.count(), 1);
}

TEST(CommandLine, SaysSoWhereStandardOutputIsFull) {
  const Words words = {"/bin/sh", "-c", SLMSIM_BINARY " run scenarios/gat-amst.yaml >/dev/full"};
  const RunOutcome run = run_program(words);
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err, "");
}

TEST(CommandLine, SaysSoWhereWhatItPrintsPieceByPieceIsLost) {
  for (const char* command : {"check scenarios/gat-amst.yaml", "--help", "run --help"}) {
    const RunOutcome run = run_program({"/bin/sh", "-c", std::string(SLMSIM_BINARY) + " " + command + " >/dev/full"});
    EXPECT_EQ(run.status, 2) << command;
    EXPECT_NE(run.err, "") << command;
  }
}

TEST(CommandLine, RefusesTwoResultsInOneFile) {
  const TemporaryFolder folder;
  const std::string file = folder.file("x"), same = folder.file("./x");
  expect_refused({"run", kScenario, "--technique", "Data", "--output", file, "--trace", same}, same,
                 {{"", "two results would be written there"}});
  EXPECT_EQ(folder.count(), 0);
}

TEST(CommandLine, DoesNotReplaceItsInputByAResult) {
  const TemporaryFolder folder;
  const std::string config = R"({"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2, "vocab_size": 100})";
  const std::string file = folder.write("config.json", config);
  expect_refused({"shapes", file, "--format", "json", "--output", file}, file,
                 {{"", "this is an input of the command; name another file for the result"}});
  EXPECT_EQ(contents(file), config);
}

TEST(CommandLine, WritesTheFileThatALinkNames) {
  const TemporaryFolder folder;
  const std::string file = folder.write("old.csv", "old"), link = folder.file("link.csv"),
                    none = folder.file("none.csv");
  std::filesystem::create_symlink("old.csv", link);
  std::filesystem::create_symlink("new.csv", none);
  for (const std::string& one : {link, none}) {
    EXPECT_EQ(slmsim_run({"run", kScenario, "-t", "Data", "-g", "gat", "-m", "gpt2m", "-o", one}).status, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(one));
  }
  EXPECT_EQ(contents(file).substr(0, 9), "scenario,");
  EXPECT_EQ(contents(folder.file("new.csv")), contents(file));
}

// A shell's "> FILE" stays what it is, and gets the text.
TEST(CommandLine, WritesToStandardOutputByItsName) {
  const TemporaryFolder folder;
  const std::string file = folder.file("f");
  const std::string command = std::string(SLMSIM_BINARY) + " list stacks > " + file + " && " + SLMSIM_BINARY +
                              " shapes gpt2m -f json -o /dev/stdout >> " + file;
  const RunOutcome run = run_program({"/bin/sh", "-c", command});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(std::filesystem::is_symlink("/dev/stdout"));
  EXPECT_EQ(contents(file), slmsim_run({"list", "stacks"}).out + slmsim_run({"shapes", "gpt2m", "-f", "json"}).out);
}

TEST(CommandLine, SaysSoWhereAFileMayNotBeSoLarge) {
  const TemporaryFolder folder;
  const RunOutcome run =
      run_program({"/bin/sh", "-c",
                   std::string("ulimit -f 1; exec ") + SLMSIM_BINARY + " shapes gpt2m -o " + folder.file("large.csv")});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("the result cannot be written there"));
  EXPECT_EQ(folder.count(), 0);
}

TEST(CommandLine, TakesTheFormatFromTheEndingOfTheOutput) {
  const TemporaryFolder folder;
  const auto run_into = [&](const std::string& file) {
    const RunOutcome run =
        slmsim_run({"run", kScenario, "-t", "Data", "-g", "gat", "-m", "gpt2m", "-o", folder.file(file)});
    EXPECT_EQ(run.status, 0) << run.err;
    return contents(folder.file(file));
  };
  EXPECT_EQ(run_into("o.json").substr(0, 1), "{");
  EXPECT_EQ(run_into("o.csv").substr(0, 9), "scenario,");
  EXPECT_EQ(run_into("o.txt").substr(0, 9), "gat-amst:");
  expect_refused({"run", kScenario, "--format", "csv", "-o", folder.file("other.json")}, "slmsim",
                 {{"", "--format csv contradicts --output"}});
  EXPECT_EQ(slmsim_run({"run", kScenario, "-t", "Data", "--format", "json", "-o", folder.file("same.json")}).status, 0);
}

TEST(CommandLine, PrintsNoControlCharactersOfAFileOrAWord) {
  const TemporaryFolder folder;
  const std::string file = folder.write("x.yaml", "extends: \"\\e[31m\\r\\a\\x9b\"\n\"na\\bme\": \"\\e]0;title\\a\"\n");
  for (const Words& words :
       {Words{"run", file}, Words{"run", "\x1b[31m"}, Words{"\x1b[31mrun"},
        Words{"run", kScenario, "--set", "\x1b[31m=1"}, Words{"run", kScenario, "--format", "\x1b[31m"}}) {
    const RunOutcome run = slmsim_run(words);
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.err.find_first_of("\x1b\r\a\b"), std::string::npos) << run.err;
  }
}

}  // namespace
}  // namespace slmsim::usage_test
