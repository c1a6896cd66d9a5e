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

// For a numeric option: refuses other values, with the expected range in the message.
CLI::Validator number_within(double low, double high);
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

}  // namespace slmsim
