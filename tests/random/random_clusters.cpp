// Draws random scenarios and holds them to the laws (law.h).
//
//   random_clusters --count 1000            seeds 1 to 1000
//   random_clusters --seed 753 --law engines
//
// Each seed runs in a process of its own, so that any failure is reported with its seed, within bounds of processor time and
// address space. Shared data are made once before. A seed that breaks a law leaves its scenario as a file. Ends with 1
// where any did, or was refused. Prints for each law its number of scenarios, their processor time, and the longest.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tests/random/law.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostLaws = 32;

struct Options {
  std::uint64_t first = 1, count = 100;
  std::vector<std::string> laws;
  std::string folder = ".";
  unsigned processor_seconds = 300, gibibytes = 4;
  double minutes = 0;
  bool print = false, all = false;
};

enum Outcome : int { kHolds = 0, kBroken = 1, kRefused = 2 };

// Results of the processes of the seeds, in memory that they share.
struct Tally {
  std::uint64_t scenarios = 0, broken = 0, slowest_seed = 0;
  double seconds = 0, slowest = 0;  // of a processor
};
using Tallies = std::array<Tally, kMostLaws>;

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool asked_for(const Law& law, const Options& options, CaseDice& dice) {
  if (!options.laws.empty()) return std::find(options.laws.begin(), options.laws.end(), law.name) != options.laws.end();
  return options.all || dice.one_in(law.one_in);
}

int try_seed(std::uint64_t seed, const Options& options, Tallies& tallies) {
  RandomCase drawn;
  drawn.seed = seed;
  drawn.document = draw_scenario(seed);
  try {
    drawn.scenario = scenario_of(drawn.document);
  } catch (const InputError& error) {
    fmt::print("seed {}: refused: {}\n", seed, error.errors().front().text);
    return kRefused;
  }
  Faults faults;
  try {
    drawn.predictions = predict(drawn.scenario, {.advice = seed % 4 == 0});
  } catch (const std::exception& error) {
    faults.push_back(fmt::format("run: {}", error.what()));
  }
  for (std::size_t number = 0; number < laws().size(); ++number) {
    const Law& law = laws()[number];
    const std::uint64_t own = seed ^ (static_cast<std::uint64_t>(number + 1) << 48);
    CaseDice dice(own), choice(~own);  // what a law draws is the same whichever laws are asked for
    if (!asked_for(law, options, choice)) continue;
    Faults wrong;
    const double begun = processor_time();
    Tally& tally = tallies[number];
    ++tally.scenarios;
    try {
      law.check(drawn, dice, wrong);
    } catch (const std::exception& error) {
      wrong.push_back(fmt::format("ended with: {}", error.what()));
    }
    const double took = processor_time() - begun;
    tally.seconds += took;
    if (took > tally.slowest) tally.slowest = took, tally.slowest_seed = seed;
    if (!wrong.empty()) ++tally.broken;
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

int in_a_process(std::uint64_t seed, const Options& options, Tallies& tallies) {
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
    const int outcome = try_seed(seed, options, tallies);
    std::fflush(nullptr);
    _exit(outcome);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) throw std::runtime_error("no process can be started");
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  fmt::print("seed {}: ended by signal {}; --print shows its scenario\n", seed, WTERMSIG(status));
  return kBroken;
}

void print_tallies(const Tallies& tallies) {
  for (std::size_t number = 0; number < laws().size(); ++number) {
    const Tally& tally = tallies[number];
    if (tally.scenarios == 0) continue;
    fmt::print("law {:<12} {:>7} scenarios, {} break it, {:.1f} s of a processor, at most {:.2f} s (seed {})\n",
               laws()[number].name, tally.scenarios, tally.broken, tally.seconds, tally.slowest, tally.slowest_seed);
  }
}

int run(const Options& options) {
  void* shared = mmap(nullptr, sizeof(Tallies), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no memory can be shared");
  auto& tallies = *new (shared) Tallies();
  // Trees of keys and shipped files are read once, not by each seed's process.
  draw_scenario(options.first);
  describe_options();
  const auto begun = std::time(nullptr);
  std::map<int, std::uint64_t> outcomes;
  std::uint64_t seed = options.first;
  for (; seed < options.first + options.count; ++seed) {
    if (options.minutes > 0 && static_cast<double>(std::time(nullptr) - begun) >= options.minutes * 60) break;
    ++outcomes[in_a_process(seed, options, tallies)];
  }
  print_tallies(tallies);
  fmt::print("{} scenarios from seed {}: {} hold, {} break a law, {} are refused\n", seed - options.first,
             options.first, outcomes[kHolds], outcomes[kBroken], outcomes[kRefused]);
  // A refused scenario tests nothing: drawn scenarios must be valid.
  return outcomes[kBroken] > 0 || outcomes[kRefused] > 0 ? 1 : 0;
}

}  // namespace
}  // namespace slmsim

int main(int argc, char** argv) {
  slmsim::Options options;
  CLI::App app{"Random clusters, and what must hold for each"};
  bool list = false;
  app.add_option("--seed", options.first, "the first seed");
  app.add_option("--count", options.count, "number of seeds");
  app.add_option("--law", options.laws, "this law only, or these, on every scenario");
  app.add_option("--minutes", options.minutes, "no seed is begun after so long");
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
  for (const auto& name : options.laws) {
    if (std::any_of(all.begin(), all.end(), [&](const auto& law) { return name == law.name; })) continue;
    fmt::print(stderr, "there is no law \"{}\"; --list names them\n", name);
    return 2;
  }
  return slmsim::run(options);
}
