// Completions and the man page come from the tables of --help: what one has, the others have.
#include <algorithm>

#include <gmock/gmock.h>

#include "tests/cli/process.h"

namespace slmsim::completion_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string printed(const std::string& what) {
  const RunOutcome run = slmsim_run({"completion", what});
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
  const std::string bash = printed("bash"), man = printed("man");
  for (const auto& verb : all) EXPECT_THAT(bash, HasSubstr("    " + verb + ") words=\"")) << verb;
  EXPECT_THAT(
      man, AllOf(HasSubstr(".SS \"slmsim max-model\"\n"), HasSubstr("\\-\\-time\\-limit"), HasSubstr("\\-\\-fablib")));
}

// A command line, and its last word as bash completes it: a command, an option, a technique in three forms, a
// scenario, a model, a format, and what a command itself takes. All are the only ones that begin so.
struct Line {
  const char *words, *last;
};
constexpr Line kLines[] = {{"slmsim ma", "max-model"},
                           {"slmsim plan --time", "--time-limit"},
                           {"slmsim run -t Pipe", "Pipeshard"},
                           {"slmsim run --technique ZeRO-3-C", "ZeRO-3-CPU"},
                           {"slmsim run gat-am", "gat-amst"},
                           {"slmsim explain xe8545-nvme-g", "xe8545-nvme-g"},
                           {"slmsim run --model llama-16", "llama-160m"},
                           {"slmsim run --format js", "json"},
                           {"slmsim plan --format mark", "markdown"},
                           {"slmsim list tech", "techniques"},
                           {"slmsim validate --format mark", "markdown"},
                           {"slmsim validate deep", "deepspeed"},
                           {"slmsim shapes tinyl", "tinyllama-1.1b"}};

std::string with_program() { return "PATH=$(dirname " SLMSIM_BINARY "):$PATH; "; }

TEST(Completion, WorksInBash) {
  const TemporaryFolder folder;
  folder.write("c.bash", printed("bash"));
  const auto completed = [&](const std::string& words, int at) {
    return run_program({"/bin/bash", "-c",
                        with_program() + "source " + folder.file("c.bash") + "; COMP_WORDS=(" + words +
                            "); COMP_CWORD=" + std::to_string(at) + "; _slmsim; echo \"${COMPREPLY[@]}\""})
        .out;
  };
  for (const Line& line : kLines) {
    const std::string words = line.words;
    EXPECT_EQ(completed(words, static_cast<int>(std::count(words.begin(), words.end(), ' '))),
              std::string(line.last) + "\n")
        << words;
  }
  // bash cuts words at "=".
  EXPECT_EQ(completed("slmsim run --technique = Pipe", 4), "Pipeshard\n");
  EXPECT_THAT(completed("slmsim run --technique =", 3), HasSubstr("Pipeshard"));
}

// Words that are offered are taken.
TEST(Completion, OffersWhatIsUnderstood) {
  for (const char* what : {"models", "gpus", "platforms", "scenarios", "stacks", "techniques", "formats"})
    EXPECT_EQ(slmsim_run({"list", what}).status, 0) << what;
  for (const char* what : {"bash", "man"}) EXPECT_EQ(slmsim_run({"completion", what}).status, 0) << what;
  EXPECT_THAT(slmsim_run({"run", "--help"}).out, HasSubstr("--format {table,json,csv}"));
  EXPECT_THAT(printed("man"), HasSubstr("{table,json,markdown}"));
  const std::pair<std::string, std::vector<std::string>> kFormats[] = {{"run", {"table", "json", "csv"}},
                                                                       {"explain", {"table", "json"}},
                                                                       {"max-model", {"table", "json"}},
                                                                       {"plan", {"table", "json", "markdown"}}};
  for (const auto& [verb, formats] : kFormats) {
    for (const auto& format : formats)
      EXPECT_THAT(slmsim_run({verb, "no-such.yaml", "--format", format}).err, Not(HasSubstr("--format"))) << verb;
  }
}

TEST(Completion, ManPageIsPlainRoff) {
  std::istringstream lines(printed("man"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('.')) continue;
    EXPECT_THAT(line, testing::MatchesRegex("\\.(TH|SH|SS|TP|PP|B|I|IR|nf|fi).*")) << line;
  }
}

}  // namespace
}  // namespace slmsim::completion_test
