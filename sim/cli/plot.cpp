// slmsim plot FIGURE FILE...: runs the script of plots/ that draws a figure.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/cli/command.h"
#include "sim/scenario/data_root.h"

namespace slmsim {
namespace {

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
