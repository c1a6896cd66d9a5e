// slmsim: predicts which pretraining technique to use, on which GPUs, and how long it takes.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <limits>
#include <new>
#include <regex>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/quantity.h"
#include "sim/base/suggest.h"
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

int usage_error(const std::string& text) {
  fmt::print(stderr, "slmsim: error: {}\n", printable(text));
  return kBadInput;
}

// CLI11 would only report an unexpected word.
std::string misspelt_verb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return "";
  static const std::vector<std::string> kOptions = {"--help", "-h", "--version"};
  if (argv[1][0] == '-') {
    if (std::find(kOptions.begin(), kOptions.end(), argv[1]) != kOptions.end()) return "";
    return fmt::format("unknown option \"{}\"; {}", std::string_view(argv[1]).substr(0, 64),
                       did_you_mean(argv[1], kOptions));
  }
  std::vector<std::string> verbs;
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) verbs.push_back(verb->get_name());
  if (std::find(verbs.begin(), verbs.end(), argv[1]) != verbs.end()) return "";
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

std::string help_of(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? "slmsim --help" : fmt::format("slmsim {} --help", verbs.front()->get_name());
}

// Rewrites CLI11's messages on missing, surplus or mistyped values in this program's words.
std::string plain_words(const std::string& text) {
  static const std::pair<std::regex, const char*> kForms[] = {
      {std::regex("Could not convert: (\\S+) = (.*)"), "$1: \"$2\" is not a number"},
      {std::regex("(\\S+): [0-9]+ required .* missing"), "$1 needs a value"},
      {std::regex("(\\S+): At Most 1 required but received ([0-9]+)"), "$1 is given $2 times; give it once"}};
  for (const auto& [form, words] : kForms) {
    if (std::regex_match(text, form)) return std::regex_replace(text, form, words);
  }
  return text;
}

// Takes memory from the system in large blocks and keeps it, instead of returning it and clearing it anew for each iteration: a
// tenth of a small run's time, a twentieth of a large one's.
void keep_memory() {
#ifdef __GLIBC__
  mallopt(M_TOP_PAD, 16 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value that it accepts
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

int run(int argc, char** argv) {
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    const std::string text = unknown_option(app);
    return usage_error(text.empty() ? fmt::format("{}; see {}", error.what(), help_of(app)) : text);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return usage_error(fmt::format("{}; see {}", plain_words(error.what()), help_of(app)));
  }
  for (const auto& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return kBadInput;
}

}  // namespace

CLI::Validator number_within(double low, double high) {
  const auto check = [low, high](const std::string& word) -> std::string {
    const auto number = parse_number(word);
    if (number && *number >= low && *number <= high) return "";
    return fmt::format("\"{}\" is {}; expected one from {:g} to {:g}", printable(word).substr(0, 64),
                       number ? "out of range" : "not a number", low, high);
  };
  return CLI::Validator(check, fmt::format("in [{:g} - {:g}]", low, high));
}

CLI::Option* add_seed(CLI::App& verb, std::uint64_t& seed, const std::string& of) {
  return verb.add_option("--seed", seed, of)->check(number_within(0, 1e18))->capture_default_str();
}

}  // namespace slmsim

int main(int argc, char** argv) {
  try {
    slmsim::keep_memory();
    const int status = slmsim::run(argc, argv);
    // Buffered output may not have reached a full disk or a closed pipe.
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    throw slmsim::InputError({}, "standard output cannot be written");
  } catch (const slmsim::InputError& error) {
    for (const auto& one : error.errors()) fmt::print(stderr, "{}\n", to_string(one));
    return slmsim::kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "slmsim: error: more memory than there is; fewer micro-batches, GPUs or layers need less, so does a "
               "smaller batch\n");
    return slmsim::kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "slmsim: internal error: {}\n", error.what());
    return slmsim::kInternal;
  }
}
