#include "sim/cli/program.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"
#include "sim/base/work.h"
#include "sim/cli/command.h"

namespace slmsim {
namespace {

constexpr const char* kExamples = R"(
Examples:
  slmsim run scenarios/gat-amst.yaml
  slmsim run scenarios/gat-amst.yaml --set platform.links.wan.rtt=57.4ms
  slmsim run scenarios/*.yaml --format csv --output all.csv
  slmsim select scenarios/tacc-tacc.yaml
  slmsim explain scenarios/gat-amst.yaml --technique Data
  slmsim sweep scenarios/sweeps/latency.yaml --output latency.csv
  slmsim plan scenarios/gat-amst.yaml --set models=gpt2m
  slmsim validate fabric
  slmsim max-model scenarios/xe8545-1.yaml
  slmsim list gpus
  slmsim shapes gpt2m --output gpt2m.csv
  slmsim schema scenario --output scenario.schema.json
  slmsim init --gpu rtx3090:2 mine
  slmsim serve

Exit status: 0 done, 1 nothing fits, 2 bad input or usage, 3 internal error.)";

// CLI11 would only report an unexpected word.
std::string misspelt_verb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return "";
  static const std::vector<std::string> kOptions = {"--help", "-h", "--version"};
  if (argv[1][0] == '-') {
    if (std::ranges::find(kOptions, argv[1]) != kOptions.end()) return "";
    return fmt::format("unknown option \"{}\"; {}", std::string_view(argv[1]).substr(0, 64),
                       did_you_mean(argv[1], kOptions));
  }
  std::vector<std::string> verbs;
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) verbs.push_back(verb->get_name());
  if (std::ranges::find(verbs, argv[1]) != verbs.end()) return "";
  // "slmsim help" means --help.
  std::vector<std::string> words = verbs;
  if (that_contain(argv[1], verbs).empty()) words.insert(words.end(), kOptions.begin(), kOptions.end());
  return fmt::format("unknown command \"{}\"; {}", std::string_view(argv[1]).substr(0, 64),
                     did_you_mean(argv[1], words));
}

// The same for an option that the verb lacks; empty where the word is no option.
std::string unknown_option(const CLI::App& app) {
  for (const auto* verb : app.get_subcommands()) {
    std::vector<std::string> known;
    for (const auto* option : verb->get_options()) {
      for (const auto& name : option->get_lnames()) known.push_back("--" + name);
      for (const auto& name : option->get_snames()) known.push_back("-" + name);
    }
    for (const auto& word : verb->remaining()) {
      if (word.size() < 2 || word[0] != '-') continue;
      const std::string option = word.substr(0, word.find('=')).substr(0, 64);
      return fmt::format("unknown option \"{}\" of slmsim {}; {}", option, verb->get_name(),
                         did_you_mean(option, known));
    }
  }
  return "";
}

// ": gpus, models" for a required word that is missing and has choices; else empty.
std::string missing_choices(const CLI::App& app) {
  for (const auto* verb : app.get_subcommands()) {
    for (const auto* option : verb->get_options()) {
      const auto choices = choices_of(*option);
      if (option->get_required() && option->count() == 0 && !choices.empty())
        return fmt::format(": {}", fmt::join(choices, ", "));
    }
  }
  return "";
}

std::string help_of(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? "slmsim --help" : fmt::format("slmsim {} --help", verbs.front()->get_name());
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"Predicts how long pretraining a language model takes on a cluster of few, mixed, distant GPUs",
               "slmsim"};
  app.set_version_flag("--version", "slmsim " SLMSIM_VERSION);
  app.footer(kExamples);
  app.require_subcommand(1);
  const std::array commands = {add_run(app),        add_select(app),   add_explain(app), add_sweep(app),
                               add_merge(app),      add_validate(app), add_check(app),   add_list(app),
                               add_plot(app),       add_report(app),   add_shapes(app),  add_plan(app),
                               add_max_model(app),  add_schema(app),   add_import(app),  add_init(app),
                               add_completion(app), add_fit(app),      add_next(app),    add_serve(app)};
  if (const std::string text = misspelt_verb(app, argc, argv); !text.empty()) return usage_error(text);
  if (is_of_studies(argc, argv)) return validate_studies(argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    const std::string text = unknown_option(app);
    return usage_error(text.empty() ? fmt::format("{}; see {}", error.what(), help_of(app)) : text);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const std::string choices = error.get_name() == "RequiredError" ? missing_choices(app) : "";
    return usage_error(fmt::format("{}{}; see {}", plain_words(error.what()), choices, help_of(app)));
  }
  for (const auto& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return kBadInput;
}

}  // namespace

int run_program(int argc, char** argv) {
  keep_memory();
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit of its size is an error of its writing
  return exit_status_of([&] { return parse_and_run(argc, argv); });
}

}  // namespace slmsim
