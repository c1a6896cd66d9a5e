// Draws random scenarios and holds them to the laws (law.h).
//
//   random_clusters --count 1000            seeds 1 to 1000
//   random_clusters --seed 753 --law engines
//
// Each seed runs in a process of its own, so that whatever ends it is told with its seed, within bounds of processor time and
// address space. A seed that breaks a law leaves its scenario as a file. Ends with 1 where any
// did, or was refused.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/engine/simulate.h"
#include "tests/random/law.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostLinks = 1 << 16;  // for SimGrid, which cannot grow later

struct Options {
  std::uint64_t first = 1, count = 100;
  std::string law, folder = ".";
  unsigned processor_seconds = 300, gibibytes = 4;
  bool print = false, all = false;
};

enum Outcome : int { kHolds = 0, kBroken = 1, kRefused = 2 };

int try_seed(std::uint64_t seed, const Options& options) {
  Drawn drawn;
  drawn.seed = seed;
  drawn.document = draw_scenario(seed);
  try {
    drawn.scenario = scenario_of(drawn.document);
  } catch (const InputError& error) {
    fmt::print("seed {}: refused: {}\n", seed, error.errors().front().text);
    return kRefused;
  }
  reserve_network(kMostLinks);
  Faults faults;
  try {
    drawn.predictions = predict(drawn.scenario, {.advice = seed % 4 == 0});
  } catch (const std::exception& error) {
    faults.push_back(fmt::format("run: {}", error.what()));
  }
  for (const Law& law : laws()) {
    if (!options.law.empty() && options.law != law.name) continue;
    Dice dice(seed ^ (static_cast<std::uint64_t>(&law - laws().data() + 1) << 48));
    if (!options.all && options.law.empty() && !dice.one_in(law.one_in)) continue;
    Faults wrong;
    try {
      law.check(drawn, dice, wrong);
    } catch (const std::exception& error) {
      wrong.push_back(fmt::format("ended with: {}", error.what()));
    }
    for (const auto& one : wrong) faults.push_back(fmt::format("{}: {}", law.name, one));
  }
  for (const auto& fault : faults) fmt::print("seed {}: {}\n", seed, fault);
  if (!faults.empty()) {
    const auto file = std::filesystem::path(options.folder) / fmt::format("random-{}.yaml", seed);
    std::ofstream written(file);
    written << drawn.document.dump(1) << std::endl;
    fmt::print("seed {}: its scenario {} {}\n", seed, written ? "is in" : "could not be written to", file.string());
  }
  return faults.empty() ? kHolds : kBroken;
}

int in_a_process(std::uint64_t seed, const Options& options) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit time{options.processor_seconds, options.processor_seconds};
    setrlimit(RLIMIT_CPU, &time);
#if !defined(__SANITIZE_ADDRESS__)
    const rlim_t bytes = rlim_t{options.gibibytes} << 30;
    const rlimit space{bytes, bytes};
    setrlimit(RLIMIT_AS, &space);
#endif
    const int outcome = try_seed(seed, options);
    std::fflush(nullptr);
    _exit(outcome);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) throw std::runtime_error("no process can be started");
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  fmt::print("seed {}: ended by signal {}; --print shows its scenario\n", seed, WTERMSIG(status));
  return kBroken;
}

int run(const Options& options) {
  std::map<int, std::uint64_t> outcomes;
  for (std::uint64_t seed = options.first; seed < options.first + options.count; ++seed)
    ++outcomes[in_a_process(seed, options)];
  fmt::print("{} scenarios: {} hold, {} break a law, {} are refused\n", options.count, outcomes[kHolds],
             outcomes[kBroken], outcomes[kRefused]);
  // What is refused tests nothing: what is drawn must be valid.
  return outcomes[kBroken] > 0 || outcomes[kRefused] > 0 ? 1 : 0;
}

}  // namespace
}  // namespace slmsim

int main(int argc, char** argv) {
  slmsim::Options options;
  CLI::App app{"Random clusters, and what must hold for each"};
  bool list = false;
  app.add_option("--seed", options.first, "the first seed");
  app.add_option("--count", options.count, "so many seeds");
  app.add_option("--law", options.law, "this law only, on every scenario");
  app.add_option("--out", options.folder, "the folder for scenarios that break a law");
  app.add_option("--seconds", options.processor_seconds, "of a processor, for a seed");
  app.add_option("--gibibytes", options.gibibytes, "of address space, for a seed");
  app.add_flag("--all", options.all, "every law on every scenario, whatever it costs");
  app.add_flag("--print", options.print, "print the scenario of a seed and nothing else");
  app.add_flag("--list", list, "list the laws");
  CLI11_PARSE(app, argc, argv);
  if (list) {
    for (const auto& law : slmsim::laws()) fmt::print("{:<14}{} (1 in {})\n", law.name, law.says, law.one_in);
    return 0;
  }
  if (options.print) {
    fmt::print("{}\n", slmsim::draw_scenario(options.first).dump(1));
    return 0;
  }
  const auto& all = slmsim::laws();
  const bool known = std::any_of(all.begin(), all.end(), [&](const auto& law) { return options.law == law.name; });
  if (!options.law.empty() && !known) {
    fmt::print(stderr, "there is no law \"{}\"; --list names them\n", options.law);
    return 2;
  }
  return slmsim::run(options);
}
