// slmsim init: from machines to a platform and a scenario that run.
#include <filesystem>
#include <sys/stat.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/process.h"
#include "tests/cli/refusal.h"

namespace slmsim::init_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kFiles = SLMSIM_SOURCE_DIR "/tests/import/inventory/files/";

// Checks and runs the files that init wrote; returns the run's table.
std::string run_what_was_written(const std::string& folder) {
  const RunOutcome check = slmsim_run({"check", folder + "/platform.yaml", folder + "/scenario.yaml"});
  EXPECT_EQ(check.status, 0) << check.err;
  const RunOutcome run = slmsim_run({"run", folder + "/scenario.yaml", "-t", "DDP", "--all", "--assumed"});
  EXPECT_EQ(run.status, 0) << run.err;
  return unwrapped(run.out);
}

TEST(Init, WritesWhatRuns) {
  const TemporaryFolder folder;
  const std::string out = folder.file("mine");
  const RunOutcome run = slmsim_run({"init", "--gpu", "desk=rtx3090", "--gpu", "rented=a100-40:2", "--link",
                                     "desk,rented=28ms,1Gbps", "--batch", "24", "-m", "gpt2m", out});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("2 machines, 3 GPUs, 2 sites\n"), HasSubstr("\nassumed: desk is a workstation"),
                             HasSubstr("\nnext: slmsim run " + out + "/scenario.yaml\n")));
  EXPECT_THAT(contents(out + "/platform.yaml"),
              HasSubstr("rtt: {value: 28 ms, provenance: measured, source: \"--link\"}"));
  const std::string table = run_what_was_written(out);
  EXPECT_THAT(table, HasSubstr("desk+rented"));
  EXPECT_THAT(table, Not(HasSubstr("rtt 28 ms")));
}

// A rate for all traffic and the rate of each connection are not the same; which of them was stated is in the file.
TEST(Init, WritesWhoseARateIs) {
  for (const auto& [link, line] : std::vector<std::pair<std::string, std::string>>{
           {"a,b=28ms,1Gbps", "    bandwidth_of: path  # assumed: "},
           {"a,b=28ms,1Gbps,path", "    bandwidth_of: path\n"},
           {"a,b=28ms,1Gbps,connection", "    bandwidth_of: connection\n"}}) {
    SCOPED_TRACE(link);
    const TemporaryFolder folder;
    const std::string out = folder.file("mine");
    const RunOutcome run = slmsim_run({"init", "--gpu", "a=a10", "--gpu", "b=a10", "--link", link, out});
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(contents(out + "/platform.yaml"), HasSubstr(line));
    const bool assumed = line.find("assumed") != std::string::npos;
    EXPECT_EQ(run.out.find("rate of all traffic together") != std::string::npos, assumed) << run.out;
    EXPECT_THAT(run_what_was_written(out), HasSubstr("a+b"));
  }
}

// A workstation's card of 1 Gbps would limit a link of 10 Gbps, which a machine that is alone at its end carries.
TEST(Init, TakesTheNetworkCardThatALinkNeeds) {
  for (const auto& [rate, expected] : {std::pair{"10Gbps", true}, {"1Gbps", false}}) {
    const TemporaryFolder folder;
    const std::string out = folder.file("mine");
    const RunOutcome run = slmsim_run(
        {"init", "--gpu", "a=rtx3090", "--gpu", "b=rtx3090", "--link", fmt::format("a,b=1ms,{}", rate), out});
    ASSERT_EQ(run.status, 0) << run.err;
    const bool said =
        run.out.find("assumed: a has a network card of 10 Gbps, since its link to b carries that") != std::string::npos;
    EXPECT_EQ(said, expected) << run.out;
    EXPECT_EQ(contents(out + "/platform.yaml").find("nic: {value: 10 Gbps") != std::string::npos, expected);
    EXPECT_THAT(run_what_was_written(out), HasSubstr("a+b"));
  }
}

TEST(Init, WritesASliceOfFabric) {
  for (const std::string& file :
       {std::string("context.json"), std::string("slice.txt"), std::string("slice.graphml")}) {
    SCOPED_TRACE(file);
    const TemporaryFolder folder;
    const RunOutcome run = slmsim_run({"init", "--fablib", kFiles + file, folder.file("slice")});
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("2 machines, 3 GPUs, 2 sites"), HasSubstr("remark: head has no GPU")));
    EXPECT_THAT(contents(folder.file("slice/platform.yaml")),
                AllOf(HasSubstr("type: fabric-slice\n"), HasSubstr("nic: {value: 25 Gbps, provenance: datasheet")));
    EXPECT_THAT(run_what_was_written(folder.file("slice")), HasSubstr("gpu-a+gpu-b"));
  }
}

TEST(Init, TakesGpusOfTheCommandLineOverTheFiles) {
  const TemporaryFolder folder;
  const RunOutcome run =
      slmsim_run({"init", "--fablib", kFiles + "context.json", "--gpu", "gpu-a=a30:3", folder.file("slice")});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(contents(folder.file("slice/platform.yaml")),
              AllOf(HasSubstr("gpus: [a30, a30, a30]"), HasSubstr("gpus: [t4]"), Not(HasSubstr("rtx6000"))));
}

TEST(Init, WritesInventories) {
  for (const auto& [option, file] : {std::pair{"--ansible", "inventory.ini"},
                                     {"--ansible", "inventory.yaml"},
                                     {"--ansible", "hostfile"},
                                     {"--ssh", "ssh_config"}}) {
    SCOPED_TRACE(file);
    const TemporaryFolder folder;
    const RunOutcome run = slmsim_run({"init", option, kFiles + file, folder.file("mine")});
    ASSERT_EQ(run.status, 0) << run.err;
    run_what_was_written(folder.file("mine"));
  }
}

TEST(Init, TakesTheHostfilesCountOfGpusOfTheCommandLine) {
  const TemporaryFolder folder;
  const std::string hosts = folder.write("hosts", "n1 slots=2\nn2\n");
  for (const auto& [gpu, written] : {std::pair("a10", "[a10, a10]"), {"a10:3", "[a10, a10, a10]"}}) {
    const RunOutcome run = slmsim_run({"init", "--ansible", hosts, "--gpu", gpu, "--force", folder.file("mine")});
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(contents(folder.file("mine/platform.yaml")), HasSubstr(fmt::format("gpus: {}\n", written))) << gpu;
  }
}

TEST(Init, WritesOverNothingUnlessForced) {
  const TemporaryFolder folder;
  const std::string kept = folder.write("platform.yaml", "old");
  expect_refused({"init", "--gpu", "a10", folder.file(".")}, folder.file("./platform.yaml"),
                 {{"", "already exists; give --force"}});
  EXPECT_EQ(contents(kept), "old");
  EXPECT_EQ(folder.count(), 1);
  EXPECT_EQ(slmsim_run({"init", "--gpu", "a10", "--force", folder.file(".")}).status, 0);
  EXPECT_THAT(contents(kept), HasSubstr("gpus: [a10]"));
}

TEST(Init, WritesNothingWhereAnythingIsWrong) {
  const TemporaryFolder folder;
  const std::string out = folder.file("mine");
  const std::pair<std::vector<std::string>, std::string> kWrong[] = {
      {{"--gpu", "a11"}, "--gpu: error: there is no GPU \"a11\"; list them by slmsim list gpus"},
      {{"--gpu", "a10:x"}, "\"x\" is not a number of GPUs"},
      {{"--gpu", "a10", "--model", "gpt9"}, "there is no model \"gpt9\""},
      {{"--gpu", "a10", "--technique", "Zero2"}, "did you mean \"ZeRO2\""},
      {{"--gpu", "a10", "--vm-type", "here=works"}, "there is no VM type \"works\"; did you mean \"workstation\"?"},
      {{"--gpu", "a10", "--vm-type", "her=workstation"}, "there is no machine \"her\"; did you mean \"here\"?"},
      {{"--gpu", "a=a10", "--gpu", "b=a10", "--link", "a,c=1ms"}, "--link: there is no site \"c\""},
      {{"--gpu", "a=a10", "--gpu", "b=a10", "--gpu", "c=a10", "--site", "a=campus", "--site", "b=campus", "--site",
        "c=cloud", "--link", "moon,cloud=1ms"},
       "--link: there is no site \"moon\"; known are: campus, cloud"},
      {{"--gpu", "a=a10", "--gpu", "b=a10", "--link", "a,b=1"}, "--link: \"1\" has no unit"},
      {{"--gpu", "a=a10", "--gpu", "b=a10", "--link", "a,b=1ms,1Gbps,flow"},
       "\"flow\" is none of path (all traffic together), pair (each two machines) and connection"},
      {{"--gpu", "a=a10", "--gpu", "b=a10", "--link", "a=1ms"}, "SITE,SITE=RTT[,RATE[,WHOSE]] is expected"},
      {{"--fablib", kFiles + "slice.json"}, "slice.json:1:1: error: these are a slice's own attributes"},
      {{"--fablib", kFiles + "slice.txt", "--ssh", kFiles + "ssh_config"}, "give one of --fablib, --ansible and --ssh"},
      {{"--fablib", folder.write("hosts.ini", "[lab]\nnode gpus=a10\n")}, "there are no nodes with sites in it"},
      {{"--ansible", "no-such.ini"}, "no-such.ini: error: no such file"},
      {{"--gpu", "a10", "--batch", "-1"}, "out of range; expected one from 1 to 1e+06"},
  };
  for (const auto& [words, text] : kWrong) {
    std::vector<std::string> all = {"init"};
    all.insert(all.end(), words.begin(), words.end());
    all.push_back(out);
    const RunOutcome run = slmsim_run(all);
    EXPECT_EQ(run.status, 2) << text;
    EXPECT_THAT(run.err, HasSubstr(text));
    EXPECT_FALSE(std::filesystem::exists(out)) << text;
  }
}

// Programs of the test's own in place of those of the system.
class InitWithPrograms : public testing::Test {
 protected:
  void program(const std::string& name, const std::string& text) {
    const std::string file = folder_.write(name, "#!/bin/sh\n" + text);
    chmod(file.c_str(), 0700);
  }
  RunOutcome run(const std::string& words, const std::string& before = "") {
    const std::string path = "PATH=" + folder_.file("") + ":$PATH ";
    return run_program({"/bin/sh", "-c", before + path + SLMSIM_BINARY " init " + words + " " + folder_.file("mine")});
  }
  const TemporaryFolder folder_;
};

TEST_F(InitWithPrograms, AsksTheDriverForGpus) {
  program("nvidia-smi", "echo 'Tesla T4'\necho 'Tesla T4'\n");
  const RunOutcome done = run("");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(contents(folder_.file("mine/platform.yaml")), HasSubstr("gpus: [t4, t4]"));
}

TEST_F(InitWithPrograms, TakesLimitsOfPower) {
  program("nvidia-smi", "printf 'NVIDIA GeForce RTX 3090, 280.00 W, 350.00 W\\n%.0s' 1 2\n");
  const RunOutcome done = run("");
  ASSERT_EQ(done.status, 0) << done.err;
  const std::string platform = contents(folder_.file("mine/platform.yaml"));
  EXPECT_THAT(platform, HasSubstr("power_limit: {value: 280 W, provenance: measured, source: \"nvidia-smi\"}"));
  EXPECT_THAT(platform, HasSubstr("gpus: [rtx3090, rtx3090]"));
  EXPECT_THAT(run_what_was_written(folder_.file("mine")), HasSubstr("rtx3090 is limited to 280 W of 350 W"));
}

TEST_F(InitWithPrograms, TakesNoLimitThatIsNone) {
  for (const char* told : {"Tesla T4, 70.00 W, 70.00 W", "Tesla T4, [N/A], [N/A]", "Tesla T4, 60.00 W, [N/A]"}) {
    program("nvidia-smi", fmt::format("echo '{}'\n", told));
    ASSERT_EQ(run("").status, 0) << told;
    EXPECT_THAT(contents(folder_.file("mine/platform.yaml")), Not(HasSubstr("power_limit"))) << told;
    std::filesystem::remove_all(folder_.file("mine"));
  }
}

TEST_F(InitWithPrograms, SaysSoWhereLimitsOfPowerDiffer) {
  program("nvidia-smi", "echo 'Tesla T4, 60.00 W, 70.00 W'\necho 'Tesla T4, 70.00 W, 70.00 W'\n");
  const RunOutcome done = run("");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out + done.err, HasSubstr("have different power limits"));
  EXPECT_THAT(contents(folder_.file("mine/platform.yaml")), Not(HasSubstr("power_limit:")));
}

// A probe in place of slmsim-netprobe's 90 s: it writes a profile that was measured over an emulated path.
TEST_F(InitWithPrograms, TakesThePathThatAPeerWasProbedOver) {
  program("slmsim-netprobe",
          "while [ \"$1\" != -o ]; do shift; done\n"
          "cp " SLMSIM_SOURCE_DIR "/tests/data/path/emulated-20ms-300mbps.yaml \"$2\"\n");
  const std::string beside = folder_.file("slmsim");  // the probe is looked for beside the program
  std::filesystem::copy_file(SLMSIM_BINARY, beside);
  const RunOutcome done = run_program({beside, "init", "--gpu", "rtx3090", "--gpu", "lab=a30:2", "--peer",
                                       "lab=192.0.2.7", "--token", "0123456789abcdef", folder_.file("mine")});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(contents(folder_.file("mine/path-lab.yaml")),
            contents(SLMSIM_SOURCE_DIR "/tests/data/path/emulated-20ms-300mbps.yaml"));
  EXPECT_THAT(contents(folder_.file("mine/platform.yaml")), HasSubstr("path: ./path-lab.yaml"));
  EXPECT_THAT(run_what_was_written(folder_.file("mine")), HasSubstr("RTT 20"));
}

TEST_F(InitWithPrograms, SaysSoWhereTheDriverNamesAnotherGpu) {
  program("nvidia-smi", "echo 'NVIDIA Z9000'\n");
  const RunOutcome done = run("");
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("nvidia-smi reports a \"NVIDIA Z9000\", which is not in platforms/gpus"));
}

TEST_F(InitWithPrograms, SaysSoWhereThereIsNoGpu) {
  program("nvidia-smi", "exit 9\n");
  const RunOutcome done = run("");
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("no machine is named, and nvidia-smi finds no GPU here"));
}

// script(1) of bsdutils, which Debian always has, makes the terminal.
TEST_F(InitWithPrograms, AsksOnATerminal) {
  program("nvidia-smi", "exit 9\n");
  const std::string answers = "a10:2\nlab=t4\n12ms\n1Gbps\nconnection\n-\ngpt2m\n16\n";
  const RunOutcome done =
      run_program({"/bin/sh", "-c",
                   "printf '" + answers + "' | PATH=" + folder_.file("") +
                       ":$PATH script -qec '" SLMSIM_BINARY " init " + folder_.file("mine") + "' /dev/null"});
  ASSERT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("GPUs of this machine, as TYPE:COUNT"));
  const std::string platform = contents(folder_.file("mine/platform.yaml"));
  EXPECT_THAT(platform, AllOf(HasSubstr("gpus: [a10, a10]"), HasSubstr("gpus: [t4]"), HasSubstr("rtt: {value: 12 ms"),
                              HasSubstr("bandwidth: {value: 1 Gbps"), HasSubstr("bandwidth_of: connection\n")));
  EXPECT_THAT(contents(folder_.file("mine/scenario.yaml")), HasSubstr("batch: 16  # sequences per iteration"));
}

}  // namespace
}  // namespace slmsim::init_test
