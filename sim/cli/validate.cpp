// slmsim validate: accuracy of the predictions on measured steps; on published studies by a program of the tests.
#include <algorithm>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/cli/command.h"
#include "sim/report/report.h"
#include "sim/scenario/data_root.h"

namespace slmsim {
namespace {

constexpr const char* kStudies = "slmsim-validation";

struct ValidateOptions {
  std::string study, measured, gpu, profile, format = "markdown", output;
  std::size_t worst = 0;
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
  write_result(
      options.format == "csv" ? to_csv(comparisons) : to_markdown(comparisons, measured.skipped, options.worst),
      options.output);
  return kDone;
}

// slmsim plot FIGURE FILE...: runs the script of plots/ that draws a figure.

namespace fs = std::filesystem;

constexpr const char* kPython = "/usr/bin/python3";  // the interpreter of Debian's python3-matplotlib

const std::vector<std::string> kFigures = {
    "latency-sweep", "sweep", "technique-comparison", "memory", "breakdown", "link-use", "predicted-measured",
    "gantt",         "job"};

// In the installed data or the source tree; never in the user's own folders, whose programs are not slmsim's.
fs::path script_of(const std::string& figure) {
  std::string name = figure + ".py";
  std::ranges::replace(name, '-', '_');
  for (const auto& root : data_roots("/slmsim")) {
    std::error_code ignored;
    if (fs::path script = root / "plots" / name; fs::exists(script, ignored)) return script;
  }
  throw InputError({}, fmt::format("the script of {} is not installed; it is in plots/ of the source tree", figure));
}

int run_script(const fs::path& script, const std::vector<std::string>& words, const std::string& figure) {
  if (access(kPython, X_OK) != 0)
    throw InputError({}, fmt::format("there is no {}; apt-get install python3-matplotlib", kPython));
  // -B: no byte code beside the scripts.
  std::vector<std::string> all = {kPython, "-B", script.string()};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  argv.reserve(all.size() + 1);
  for (auto& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::error_code unknown;
  const std::string own = fs::read_symlink("/proc/self/exe", unknown).string();
  const pid_t child = fork();
  if (child == 0) {
    setenv("SLMSIM", own.c_str(), 1);  // the script asks it for the looks of techniques
    setenv("SLMSIM_PLOT_NAME", ("slmsim plot " + figure).c_str(), 1);
    execv(kPython, argv.data());
    _exit(kInternal);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return kInternal;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(kInternal);
  return code == kDone || code == kBadInput ? code : kInternal;
}

int plot(const std::string& figure, const std::vector<std::string>& words) {
  return run_script(script_of(figure), words, figure);
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
  verb->add_option("--worst", options->worst, "show only this number of steps, those with the largest errors of time")
      ->check(number_within(1, 1e6));
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
  static constexpr std::string_view kOwn[] = {"--measured", "--gpu", "--profile", "--worst", "--help", "-h"};
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

Command add_plot(CLI::App& app) {
  auto* verb = app.add_subcommand("plot", "draw a figure (SVG, PNG or PDF); needs Debian's python3-matplotlib");
  auto figure = std::make_shared<std::string>();
  choose_from(verb->add_option("FIGURE", *figure, "what to draw"), kFigures, "there is no figure \"{}\"");
  verb->set_help_flag();  // the script's own --help has more
  verb->prefix_command();
  verb->footer(R"(
Arguments after FIGURE are passed to its script; see `slmsim plot FIGURE --help`.

Examples:
  slmsim run scenarios/*.yaml --format csv --output all.csv
  slmsim plot technique-comparison all.csv --model gpt2m -o comparison.svg
  slmsim run scenarios/gat-amst.yaml --trace trace.json
  slmsim plot gantt trace.json -o gantt.png)");
  return {verb, [verb, figure] {
            const auto words = verb->remaining();
            if (!figure->empty()) return plot(*figure, words);
            if (words.empty() || (words.front() != "--help" && words.front() != "-h"))
              throw InputError({}, "FIGURE is required; see slmsim plot --help");
            fmt::print("{}", verb->help("slmsim"));
            return static_cast<int>(kDone);
          }};
}

}  // namespace slmsim
