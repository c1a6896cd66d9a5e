// The documentation shows between markers exactly the program's current output.
#include <cmath>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/report/report.h"
#include "tests/named.h"
#include "tests/validation/tables.h"

namespace slmsim::docs_test {
namespace {

const std::filesystem::path kRoot = SLMSIM_SOURCE_DIR;

// Text of a page between the markers of a part.
std::string part_of(const std::string& page, const std::string& part) {
  std::stringstream text;
  text << std::ifstream(kRoot / page).rdbuf();
  const std::string all = text.str(), begin = "<!-- " + part + " -->\n", end = "<!-- /" + part + " -->";
  const auto first = all.find(begin), last = all.find(end);
  EXPECT_TRUE(first < last && last != std::string::npos) << page << " has no part " << part;
  return first < last ? all.substr(first + begin.size(), last - first - begin.size()) : "";
}

// A command and what it prints, as code.
std::string as_code(const std::string& command, const std::string& printed) {
  std::string out;
  std::istringstream lines("$ build/slmsim " + command + "\n" + printed);
  for (std::string line; std::getline(lines, line);) {
    line = "    " + line;
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

// The lines of a study's facts that sum up its errors, as the README has them.
std::string accuracy_of(const std::string& study, const std::string& facts) {
  std::string out;
  std::istringstream lines(facts);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("mean absolute error") == std::string::npos) continue;
    if (line.starts_with("- ")) line.erase(0, 2);
    out += "- **" + study + "**, " + line + (line.ends_with('.') ? "\n" : ".\n");
  }
  return out;
}

constexpr const char* kHow = "run scripts/update-docs.sh";

TEST(Docs, ShowWhatExplainPrints) {
  const Overrides overrides = {"models=gpt2m", "groups=all"};
  ExplainResult result{load_scenario(kRoot / "scenarios/gat-amst.yaml", overrides), {}};
  ExplainOptions options;
  options.only = named("Data");
  options.reload = [&](Overrides more) {
    more.insert(more.begin(), overrides.begin(), overrides.end());
    return load_scenario(kRoot / "scenarios/gat-amst.yaml", more);
  };
  result.explanations = explain(result.scenario, options);
  EXPECT_EQ(part_of("docs/commands/explain.md", "example-explain"),
            as_code("explain scenarios/gat-amst.yaml --set models=gpt2m --set groups=all --technique Data",
                    to_explanation_table({result})))
      << kHow;
}

TEST(Docs, ShowWhatTheReadmesExamplePrints) {
  RunResult result;
  result.scenario = load_scenario(kRoot / "scenarios/gat-amst.yaml", {"models=gpt2m"});
  result.predictions = predict(result.scenario);
  result.selections = select_techniques(result.scenario, result.predictions, Algorithm::kAmended);
  TableOptions options;
  options.verdicts =
      verdicts_of(result, verdict_options_of(ScenarioFile(kRoot / "scenarios/gat-amst.yaml"), {"models=gpt2m"}));
  options.scenario = "scenarios/gat-amst.yaml";
  EXPECT_EQ(part_of("README.md", "example"),
            as_code("run scenarios/gat-amst.yaml --set models=gpt2m", to_table(result, options)))
      << kHow;
}

TEST(Docs, ShowTheFactsThatValidatePrints) {
  const std::string fabric = to_markdown(validate_fabric(kRoot, kRoot / "tests/reference/fabric.csv"));
  const std::string deepspeed = to_markdown(validate_deepspeed(kRoot, kRoot / "tests/reference/deepspeed.csv"));
  EXPECT_EQ(part_of("docs/validation/fabric.md", "facts"), fabric) << kHow;
  EXPECT_EQ(part_of("docs/validation/deepspeed.md", "deepspeed"), deepspeed) << kHow;
  EXPECT_EQ(part_of("docs/validation/job.md", "jobs"), to_markdown(validate_jobs(kRoot / "tests/reference/job.csv")))
      << kHow;
  EXPECT_EQ(part_of("README.md", "accuracy"),
            accuracy_of("FABRIC study", fabric) + accuracy_of("DeepSpeed study", deepspeed))
      << kHow;
}

// docs/validation/steps.md: an H100 and an H200, from their data sheets and with their profiles.
TEST(Docs, ShowWhatValidatePrintsOfMeasuredSteps) {
  constexpr std::size_t kShown = 10;
  for (const bool profiled : {false, true}) {
    std::vector<std::optional<double>> times, memories;
    for (const auto& [gpu, host] : {std::pair<std::string, std::string>{"h100", "3.0"}, {"h200", "2.2"}}) {
      const MeasuredSteps measured = read_measured_steps(kRoot / "tests/reference" / gpu);
      std::vector<Override> overrides;
      if (!profiled) overrides.push_back(parse_override("platform.vms.vm.type.host=" + host));
      const auto steps = compare_steps(measured.steps, gpu, profiled ? gpu : "", overrides);
      EXPECT_EQ(part_of("docs/validation/steps.md", "steps-" + gpu + (profiled ? "-profile" : "")),
                to_markdown(steps, measured.skipped, kShown))
          << kHow;
      for (const auto& step : steps) {
        times.push_back(step.time_error());
        memories.push_back(step.memory_error());
      }
    }
    EXPECT_LE(summary_of_errors(times).median, 0.06) << profiled;
    EXPECT_LE(summary_of_errors(memories).median, 0.005) << profiled;
    EXPECT_LE(summary_of_errors(memories).worst, 0.1) << profiled;
  }
  constexpr std::size_t kFamilies = 16;
  const MeasuredSteps measured = read_measured_steps(kRoot / "tests/reference/h200/families");
  const auto steps = compare_steps(measured.steps, "h200", "", {parse_override("platform.vms.vm.type.host=2.5")});
  EXPECT_EQ(part_of("docs/validation/steps.md", "families"), to_markdown(steps, measured.skipped, kFamilies)) << kHow;
}

// Llamas that the GPU binds, batches of four sequences and more: written out in Python they take a fifth longer than their
// products and fused kernels.
TEST(MeasuredLlamas, AreWithinATenthWhereTheGpuBinds) {
  const MeasuredSteps measured = read_measured_steps(kRoot / "tests/reference/h100");
  int llamas = 0;
  for (const auto& step :
       compare_steps(measured.steps, "h100", "", {parse_override("platform.vms.vm.type.host=3.0")})) {
    const bool llama = step.measured.model.find("lla") != std::string::npos;
    if (!llama || step.measured.batch < 4 || !step.time_error()) continue;
    EXPECT_LE(std::abs(*step.time_error()), 0.1) << step.measured.title;
    if (!step.measured.checkpoints) {
      EXPECT_LE(std::abs(*step.memory_error()), 0.01) << step.measured.title;
    }
    ++llamas;
  }
  EXPECT_GE(llamas, 7);
}

}  // namespace
}  // namespace slmsim::docs_test
