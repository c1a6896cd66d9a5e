// The verbs of the command line. Each adds its options to the application and, if it was given, runs. Only this folder prints
// errors or decides the exit status: 0 done, 1 nothing fits, 2 bad input or usage, 3 internal error.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include "sim/base/error.h"
#include "sim/crew/journal.h"
#include "sim/crew/ranks.h"
#include "sim/fit/intervals.h"
#include "sim/scenario/scenario.h"

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
// The same where the time ended before it was known whether anything fits.
int stopped_too_early();
// Rewrites CLI11's messages on missing, surplus or mistyped values in this program's words.
std::string plain_words(const std::string& text);

// Calls `read` with each word, and then throws the errors of all.
void read_each(const std::vector<std::string>& words, const std::function<void(const std::string& word)>& read);

// For a numeric option: refuses other values, with the expected range in the message.
CLI::Validator number_within(double low, double high);
inline CLI::Validator number_within(const Range<double>& range) { return number_within(range.low, range.high); }
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
// --time-limit, in seconds.
void add_time_limit(CLI::App& verb, double& limit);
// Words of an option that may be repeated.
CLI::Option* add_words(CLI::App& verb, const char* name, std::vector<std::string>& words, const std::string& about);
// `of`: the result that depends on the seed.
CLI::Option* add_seed(CLI::App& verb, std::uint64_t& seed, const std::string& of);
// --sequence, the training length of a model; 0: not stated.
void add_sequence_option(CLI::App& verb, std::int64_t& sequence);

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

// What commands share: scenarios and intervals by options, output, progress, interruption, parts of a work, other programs.

// A verb's scenarios, and words of its options.
struct ScenarioOptions {
  std::vector<std::string> scenarios;
  std::string output;
  Overrides overrides;
};

// --set, repeatable.
void add_set_option(CLI::App& verb, Overrides& overrides);

// SCENARIO..., --output and --set.
void add_scenario_options(CLI::App& verb, ScenarioOptions& options);

// All scenarios are read before the first is simulated, so that all their errors are reported at once: throws InputError.
std::vector<Scenario> load_all(const ScenarioOptions& options);

// --model, --group and --technique, with commas or repeated.
void add_model_filter(CLI::App& verb, Filter& filter);
void add_filter_options(CLI::App& verb, Filter& filter);

// load_all, reduced to the requested parts. A name that no scenario has is an error that lists the existing names; a scenario
// that lacks it while others have it is skipped with a warning on standard error. `files` are those of the remaining scenarios.
std::vector<Scenario> load_filtered(const ScenarioOptions& options, const Filter& filter,
                                    std::vector<std::string>* files = nullptr);

// The index of an option's word among the known words. Throws InputError with the nearest one.
std::size_t index_of(const std::string& option, const std::string& word, const std::vector<std::string>& known);

// --fitted, --intervals, --level and --seed.
void add_interval_options(CLI::App& verb, IntervalRequest& options);

// Throws InputError where the options contradict each other, or the fit is invalid; a warning on standard error where the fit
// is stale.
Intervals intervals_of(const IntervalRequest& request, const ScenarioOptions& options);

// To standard output, or to `file` if it is not empty: through a temporary file that is renamed when it is complete. A file
// that is not regular, such as a device, is written directly. Throws InputError if it cannot be written.
void write_result(const std::string& text, const std::string& file);

struct Result {
  std::string text, file;
};
// Several at once: either all files are written or none.
void write_results(const std::vector<Result>& results);

// Progress of a verb: on a terminal one line that is overwritten. Where standard error is a file or a pipe nothing, or, for
// work that may take minutes, a separate line every ten seconds.
class ProgressLine {
 public:
  explicit ProgressLine(bool in_logs = false);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  void show(const std::string& text);
  // Before anything else; as a separate line where it is not a terminal.
  void announce(const std::string& text);
  // The same at most five times a second.
  void update(const std::string& text);
  void clear();

 private:
  bool terminal_, in_logs_, any_ = false;
  std::chrono::steady_clock::time_point last_{};
};

// Stops long work: by an interrupt, or after a time limit.

// From here on the first SIGINT or SIGTERM does not end the process, a second one does. The returned function is true after the
// first signal, or `seconds` after this call if they are more than 0.
std::function<bool()> stop_at(double seconds);

// Called after the results are written: ends the process by the signal that arrived, if any, so that the parent process sees
// it.
void end_as_asked();

// --shard i/n: a part of a sweep or of a search, for machines without a connection to each other.
// "2/8"; an empty text is the whole. Throws InputError.
Shard parse_shard(const std::string& text);

// A verb that the ranks of an MPI job run together.
// Errors in files that all ranks read are printed by the first only.
inline int run_as_rank(const std::function<int(const Launch&)>& run) {
  const Launch launch = launch_of_environment();
  if (launch.rank == 0) return run(launch);
  try {
    return run(launch);
  } catch (const InputError&) {
    // mpiexec kills all ranks once one fails: the first rank needs time to print the error.
    std::this_thread::sleep_for(std::chrono::seconds(5));
    return kBadInput;
  }
}

// Standard output of a program, found as a shell would, but without a shell; its standard error is passed on `with_errors`,
// and dropped otherwise. Nothing where the program does not exist or its exit status is not 0.
std::optional<std::string> output_of(const std::vector<std::string>& words, bool with_errors = false);

// A program in the same folder as this one, or else its bare name.
std::string beside_this_program(const std::string& name);

}  // namespace slmsim
