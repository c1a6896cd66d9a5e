// slmsim validate: accuracy of the predictions on measured steps; on published studies by a program of the tests.
#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <unistd.h>

#include "sim/base/error.h"
#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/report/report.h"
#include "sim/scenario/link.h"

namespace slmsim {
namespace {

constexpr const char* kStudies = "slmsim-validation";

struct ValidateOptions {
  std::string study, measured, gpu, profile, format = "markdown", output;
  Overrides overrides;
};

int validate_steps(const ValidateOptions& options) {
  if (!options.study.empty()) throw InputError({}, "--measured FILE is compared alone, without a STUDY");
  if (options.measured.empty()) throw InputError({}, "--gpu and --profile are for --measured FILE");
  if (options.gpu.empty())
    throw InputError({}, "--measured needs --gpu, the name of platforms/gpus or file of the GPU that was measured");
  const MeasuredSteps measured = read_measured_steps(options.measured);
  std::vector<Override> overrides;
  for (const auto& text : options.overrides) overrides.push_back(parse_override(text));
  const auto comparisons = compare_steps(measured.steps, options.gpu, options.profile, overrides);
  write_result(options.format == "csv" ? to_csv(comparisons) : to_markdown(comparisons, measured.skipped),
               options.output);
  return kDone;
}

}  // namespace

Command add_validate(CLI::App& app) {
  auto* verb = app.add_subcommand("validate", "compare predictions with measured steps");
  auto options = std::make_shared<ValidateOptions>();
  choose_from(
      verb->add_option("STUDY", options->study, "a published study, where the tests are built (slmsim-validation)"),
      {"fabric", "deepspeed", "gpu", "wan", "job", "runs", "far-apart"}, "there is no study \"{}\"");
  verb->add_option(
      "--measured", options->measured,
      "training steps as calibrate/reference/torch_step.py writes them: a file (JSON) or a folder with steps.json");
  verb->add_option("--gpu", options->gpu, "the measured GPU, a name of platforms/gpus or a file");
  verb->add_option("--profile", options->profile, "the GPU's profile, a name of platforms/profiles or a file");
  verb->add_option("--set", options->overrides, "override a value, e.g. software.kernel_launch=8us");
  add_format_option(*verb, options->format, {"markdown", "csv"});
  add_output_option(*verb, options->output);
  verb->footer(
      "\nExample:\n  slmsim validate --measured tests/data/steps/made-up.json --gpu h200\n\n"
      "Published studies (fabric, deepspeed, gpu, wan, job, runs, far-apart) are compared by slmsim-validation, which "
      "the tests' build\n"
      "makes beside this program: slmsim validate deepspeed runs it, slmsim-validation --help has its options.");
  return {verb, [options] { return validate_steps(*options); }};
}

bool is_of_studies(int argc, char** argv) {
  const std::span words(argv, static_cast<std::size_t>(argc));
  static constexpr std::string_view kOwn[] = {"--measured", "--gpu", "--profile", "--help", "-h"};
  return argc > 1 && std::string_view(words[1]) == "validate" &&
         std::none_of(words.begin() + 2, words.end(), [](std::string_view word) {
           return std::ranges::find(kOwn, word.substr(0, word.find('='))) != std::end(kOwn);
         });
}

int validate_studies(char** argv) {
  execv(beside_this_program(kStudies).c_str(), argv + 1);
  throw InputError({}, std::string("validate needs --measured FILE, and --gpu; published studies are compared by ") +
                           kStudies + ", which the tests' build makes: scripts/test.sh");
}

}  // namespace slmsim
