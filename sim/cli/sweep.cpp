// slmsim sweep SWEEP and slmsim merge PART...: one scenario at many points.
#include <chrono>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/sweep/run.h"

namespace slmsim {
namespace {

struct Options {
  std::string sweep, output, shard;
  Overrides overrides;
  std::size_t jobs = 0;
  bool restart = false;
};

class Progress {
 public:
  void operator()(std::uint64_t done, std::uint64_t all, std::uint64_t before) {
    std::string left;
    if (done > before && done < all) {
      const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
      const Seconds rest{passed * static_cast<double>(all - done) / static_cast<double>(done - before)};
      left = ", " + to_text(rest) + " left";
    }
    line_.update(fmt::format("{} of {} points{}", done, all, left));
  }
  void clear() { line_.clear(); }

 private:
  ProgressLine line_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Reports the written files and the outcome: a complete sweep may contain points that failed.
int tell(const SweepOutcome& outcome) {
  if (outcome.rows.empty()) return kDone;  // a part, or another rank
  std::uint64_t all = 0;
  std::string texts;
  for (const auto& [status, count] : outcome.rows) {
    all += count;
    texts += fmt::format("{}{} {}", texts.empty() ? "" : ", ", count, status);
  }
  fmt::print(stderr, "wrote {} and {}: {} rows of {} points: {}\n", outcome.files.csv.string(),
             outcome.files.json.string(), all, outcome.all, texts);
  if (outcome.rows.contains("ok")) return kDone;
  return outcome.rows.contains("oom") || outcome.rows.contains("unsupported") ? kNothingFits : kBadInput;
}

int sweep(const Options& options) {
  SweepOptions run;
  run.shard = parse_shard(options.shard);
  run.output = options.output.empty() ? std::filesystem::path(options.sweep).stem().string() : options.output;
  run.jobs = options.jobs > 0 ? options.jobs : available_cores();
  run.restart = options.restart;
  run.version = SLMSIM_VERSION;
  Progress progress;
  run.progress = [&progress](auto done, auto all, auto before) { progress(done, all, before); };
  Sweep read(options.sweep, options.overrides);
  read.check();
  run.stop = stop_at(0);
  const SweepOutcome outcome = run_sweep(read, run);
  progress.clear();
  if (outcome.complete) return tell(outcome);
  fmt::print(stderr, "slmsim: stopped after {} of {} points; the same command resumes from there ({})\n", outcome.done,
             outcome.all, outcome.files.journal.string());
  end_as_asked();
  return kInternal;
}

int merge(const std::vector<std::string>& parts, const std::string& output) {
  const ResultFiles files = result_files(output, {});
  write_result_files(read_parts({parts.begin(), parts.end()}), files);
  return kDone;
}

}  // namespace

Command add_sweep(CLI::App& app) {
  auto* verb =
      app.add_subcommand("sweep", "predict a scenario at many points, on all cores; resumes after interruption");
  auto options = std::make_shared<Options>();
  verb->add_option("SWEEP", options->sweep, "a file of axes, see scenarios/sweeps/")->required();
  add_output_option(
      *verb, options->output,
      "write FILE.csv and FILE.jsonl; default the sweep's name, in this folder. FILE.journal holds the progress");
  add_words(*verb, "--set", options->overrides, "override a value at every point, see slmsim run; may be repeated");
  verb->add_option("--jobs,-j", options->jobs, "worker processes; default one per core")->check(number_within(1, 4096));
  verb->add_option("--shard", options->shard, "i/n: only part i of n, as FILE.i-of-n.part for slmsim merge");
  verb->add_flag("--restart", options->restart, "discard the progress of an unfinished sweep and start over");
  verb->footer(R"(
Examples:
  slmsim sweep scenarios/sweeps/latency.yaml --output latency.csv
  mpirun -np 4 slmsim sweep scenarios/sweeps/latency.yaml -o latency.csv      (if built with MPI)
  slmsim sweep scenarios/sweeps/latency.yaml -o latency.csv --shard $SLURM_ARRAY_TASK_ID/8     (sbatch --array=1-8)
  slmsim merge latency.*.part -o latency.csv)");
  return {verb, [options] { return run_as_rank([&](const Launch&) { return sweep(*options); }); }};
}

Command add_merge(CLI::App& app) {
  auto* verb = app.add_subcommand("merge", "join the parts that slmsim sweep --shard wrote");
  auto parts = std::make_shared<std::vector<std::string>>();
  auto output = std::make_shared<std::string>();
  verb->add_option("PART", *parts, "all parts of one sweep, in any order")->required();
  add_output_option(*verb, *output, "write FILE.csv and FILE.jsonl")->required();
  verb->footer("\nExample:\n  slmsim merge latency.*.part -o latency.csv");
  return {verb, [parts, output] { return merge(*parts, *output); }};
}

}  // namespace slmsim
