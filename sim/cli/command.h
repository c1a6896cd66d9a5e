// The verbs of the command line. Each adds its options to the application and, if it was given, runs. Only this folder prints
// errors or decides the exit status: 0 done, 1 nothing fits, 2 bad input or usage, 3 internal error.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace slmsim {

enum ExitStatus { kDone = 0, kNothingFits = 1, kBadInput = 2, kInternal = 3 };

struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

// Runs a program and turns its exceptions into messages on standard error and an exit status: InputError 2, others 3.
int exit_status_of(const std::function<int()>& program);
// Prints a message on wrong words and returns kBadInput.
int usage_error(const std::string& text);
// Rewrites CLI11's messages on missing, surplus or mistyped values in this program's words.
std::string plain_words(const std::string& text);

// For a numeric option: refuses other values, with the expected range in the message.
CLI::Validator number_within(double low, double high);
// Limits an option to these words, which --help, completions and the man page list. `refusal` has {} for another word, such as
// "there is no list of \"{}\""; default: it is unknown.
CLI::Option* choose_from(CLI::Option* option, const std::vector<std::string>& words, const std::string& refusal = "");
// The words of such an option; empty for others.
std::vector<std::string> choices_of(const CLI::Option& option);

// --format, one of these words. Without it, the ending of --output decides (.json, .csv, .md); throws InputError where the two
// contradict each other.
void add_format_option(CLI::App& verb, std::string& format, const std::vector<std::string>& words,
                       const std::string& about = "format of the result");
// --output.
CLI::Option* add_output_option(CLI::App& verb, std::string& output,
                               const std::string& about = "write the result to this file instead of standard output");
// `of`: the result that depends on the seed.
CLI::Option* add_seed(CLI::App& verb, std::uint64_t& seed, const std::string& of);

Command add_run(CLI::App& app);
Command add_select(CLI::App& app);
Command add_explain(CLI::App& app);
Command add_sweep(CLI::App& app);
Command add_merge(CLI::App& app);
Command add_validate(CLI::App& app);
Command add_check(CLI::App& app);
Command add_list(CLI::App& app);
Command add_plot(CLI::App& app);
Command add_report(CLI::App& app);
Command add_shapes(CLI::App& app);
Command add_plan(CLI::App& app);
Command add_max_model(CLI::App& app);
Command add_schema(CLI::App& app);
Command add_import(CLI::App& app);
Command add_init(CLI::App& app);
Command add_completion(CLI::App& app);
Command add_fit(CLI::App& app);
Command add_next(CLI::App& app);
Command add_serve(CLI::App& app);

// Whether these words are `validate` without measured steps: of the published studies, which a program beside this one compares.
bool is_of_studies(int argc, char** argv);
// Becomes that program; throws InputError where it was not built.
int validate_studies(char** argv);

}  // namespace slmsim
