// Completions and the man page come from the tables of --help: what one has, the others have.
#include <gmock/gmock.h>

#include "tests/cli/process.h"

namespace slmsim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string printed(const std::string& what) {
  const Finished run = slmsim_run({"completion", what});
  EXPECT_EQ(run.status, 0) << run.err;
  return run.out;
}

// The words that --help lists under its subcommands.
std::vector<std::string> verbs() {
  std::vector<std::string> out;
  std::istringstream lines(slmsim_run({"--help"}).out);
  bool begun = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Subcommands:") {
      begun = true;
    } else if (begun && line.starts_with("  ") && line[2] != ' ') {
      out.push_back(line.substr(2, line.find(' ', 2) - 2));
    } else if (begun && line.empty()) {
      break;
    }
  }
  return out;
}

TEST(Completion, KnowsAllVerbsAndOptions) {
  const auto all = verbs();
  EXPECT_GT(all.size(), 15u);
  const std::string bash = printed("bash"), zsh = printed("zsh"), fish = printed("fish"), man = printed("man");
  for (const auto& verb : all) {
    EXPECT_THAT(bash, HasSubstr("    " + verb + ") words=\"")) << verb;
    EXPECT_THAT(zsh, HasSubstr("      " + verb + ")\n      _arguments")) << verb;
    EXPECT_THAT(fish, HasSubstr("-n __fish_use_subcommand -a " + verb + " -d")) << verb;
  }
  EXPECT_THAT(
      man, AllOf(HasSubstr(".SS \"slmsim max-model\"\n"), HasSubstr("\\-\\-time\\-limit"), HasSubstr("\\-\\-fablib")));
  EXPECT_THAT(fish, HasSubstr("'__fish_seen_subcommand_from init' -l force -d"));  // takes no value
}

TEST(Completion, IsBashThatCompletes) {
  const TemporaryFolder folder;
  folder.write("c.bash", printed("bash"));
  const std::string ask = "PATH=$(dirname " SLMSIM_BINARY "):$PATH; source " + folder.file("c.bash") + "; ";
  const auto completed = [&](const std::string& words, int at) {
    return run_program({"/bin/bash", "-c",
                        ask + "COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                            "; _slmsim; echo \"${COMPREPLY[@]}\""})
        .out;
  };
  EXPECT_EQ(completed("slmsim ma", 1), "max-model\n");
  EXPECT_EQ(completed("slmsim plan --time", 2), "--time-limit\n");
  EXPECT_EQ(completed("slmsim run -t Pipe", 3), "Pipeshard\n");
  EXPECT_EQ(completed("slmsim run gat", 2), "gat-amst\n");
}

TEST(Completion, ManPageIsPlainRoff) {
  std::istringstream lines(printed("man"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('.')) continue;
    EXPECT_THAT(line, testing::MatchesRegex("\\.(TH|SH|SS|TP|PP|B|I|IR|nf|fi).*")) << line;
  }
}

}  // namespace
}  // namespace slmsim
