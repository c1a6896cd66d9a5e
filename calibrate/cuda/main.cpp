// slmsim-calibrate: times a GPU's kernels, copies and collectives.
#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cublas_v2.h>
#include <exception>
#include <vector>

#include "calibrate/common/failure.h"
#include "calibrate/common/output.h"
#include "calibrate/common/progress.h"
#include "calibrate/common/text.h"
#include "calibrate/cuda/check.h"
#include "calibrate/cuda/compare.h"
#include "calibrate/cuda/nccl.h"
#include "calibrate/cuda/transfer.h"
#include "calibrate/cuda/workload.h"
#include "calibrate/gpu/option.h"
#include "calibrate/gpu/profile.h"
#include "calibrate/gpu/runner.h"

namespace slmsim::calibrate {
namespace {

using Verb = Options::Verb;
enum Status { kDone = 0, kFailed = 1, kBadUsage = 2, kInternal = 3, kInterrupted = 130 };

volatile std::sig_atomic_t stop_asked = 0;

// A second signal ends the program at once; the journal stays in either case.
void ask_to_stop(int signal) {
  stop_asked = 1;
  std::signal(signal, SIG_DFL);
}
bool stop_is_asked() { return stop_asked != 0; }

std::string library_version() {
  return format("%zu.%zu.%zu", static_cast<std::size_t>(CUBLAS_VER_MAJOR), static_cast<std::size_t>(CUBLAS_VER_MINOR),
                static_cast<std::size_t>(CUBLAS_VER_PATCH));
}

bool wants(const Options& options, Verb verb) { return options.verb == Verb::kAll || options.verb == verb; }

bool wants_family(const Options& options, const std::string& family) {
  if (family == "gemm") return wants(options, Verb::kGemm);
  return wants(options, family.starts_with("adam") ? Verb::kAdam : Verb::kElementwise);
}

bool is_flash(const Kernel& kernel) { return kernel.family() == "flash"; }

std::vector<Unit> kernel_units(const Device& device, const Options& options) {
  auto kernels = read_kernels(options.shapes);
  std::erase_if(kernels, is_flash);  // reported once, in measure_device
  std::erase_if(kernels, [&](const Kernel& kernel) { return !wants_family(options, kernel.family()); });
  std::vector<Unit> units;
  for (const auto& kernel : in_precisions(kernels, options.precisions)) {
    units.push_back({Section::kKernels, to_text(kernel), [&device, &options, kernel](double seconds) {
                       const auto workload = make_workload(device, kernel, options.cublaslt);
                       WorkloadTimer timer(device, *workload);
                       Rules rules = options.rules;
                       rules.time_limit = seconds;
                       const Measurement measured = measure(timer, rules);
                       workload->launch(0);
                       const double error = workload->error();
                       if (error > 1)
                         throw WrongResult(
                             format("the result is off by %.3g times the expected rounding error", error));
                       return kernel_line(kernel, measured, error);
                     }});
  }
  return units;
}

std::vector<Unit> all_units(const Device& device, const Options& options) {
  std::vector<Unit> units;
  const auto append = [&](std::vector<Unit> more) {
    for (auto& unit : more) units.push_back(std::move(unit));
  };
  if (wants(options, Verb::kLaunch)) append(launch_units(device, options.rules));
  if (wants(options, Verb::kCopy)) append(copy_units(device, options.rules));
  if (wants(options, Verb::kPeer)) append(peer_units(device, options.rules));
  if (!options.shapes.empty()) append(kernel_units(device, options));
  return units;
}

Profile profile_of(const Device& device, const Options& options, const std::string& command) {
  Profile profile;
  profile.name = options.name;
  for (const char c : options.name.empty() ? device.title() : std::string()) {
    if (is_name_letter(c) || c == ' ') profile.name += c == ' ' ? '-' : static_cast<char>(std::tolower(c));
  }
  profile.date = now_utc();
  profile.command = command;
  profile.facts = device.facts();
  profile.facts.emplace_back("cublas", library_version());
  profile.facts.emplace_back("library", options.cublaslt ? "cublaslt" : "cublas");
  if (!nccl_version().empty()) profile.facts.emplace_back("nccl", nccl_version());
  return profile;
}

std::string conditions_of(const Profile& profile, const Device& device, const Options& options) {
  std::string text =
      "slmsim-calibrate " SLMSIM_VERSION " " + device.identity() + format(" %g", options.rules.precision);
  for (const auto& [key, value] : profile.facts) text.append(" ").append(key).append("=").append(value);
  return text;
}

int measure_device(const Options& options, const std::string& command) {
  constexpr double kNcclShare = 0.2;  // share of `all`'s time, where there are several GPUs
  check_writable(options.output);
  const int gpus = count_gpus();
  const Device device(options.device);
  const auto units = all_units(device, options);
  Profile profile = profile_of(device, options, command);
  const bool collectives = options.verb == Verb::kAll && gpus > 1 && !nccl_version().empty();

  const std::string file = options.output.empty() ? "slmsim-calibrate.journal" : options.output + ".journal";
  if (options.fresh) std::remove(file.c_str());
  Journal journal(file, conditions_of(profile, device, options));
  if (journal.taken_up() > 0)
    std::fprintf(stderr, "slmsim-calibrate: resuming after %zu points of %s\n", journal.taken_up(), file.c_str());
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  Outcome outcome;
  {
    const ProgressLine line;
    Control control;
    control.time_limit = options.time_limit * (collectives ? 1 - kNcclShare : 1);
    control.most_of_unit = options.rules.time_limit;
    control.now = [] { return WorkloadTimer::seconds(); };
    control.stop = stop_is_asked;
    control.progress = [&](const std::string& what, double share, double left) {
      line.show(format("%3.0f s left  ", left) + what, share);
    };
    outcome = run_units(units, journal, control);
  }
  if (outcome.interrupted) {
    std::fprintf(stderr, "slmsim-calibrate: interrupted; the same command resumes from %s\n", file.c_str());
    return kInterrupted;
  }
  const bool unfinished = outcome.unfinished;
  profile.kernels = std::move(outcome.kernels);
  profile.launches = std::move(outcome.launches);
  profile.transfers = std::move(outcome.transfers);
  profile.left_out = std::move(outcome.left_out);
  const auto asked = read_kernels(options.shapes);
  if (wants(options, Verb::kElementwise) && std::any_of(asked.begin(), asked.end(), is_flash))
    profile.left_out.push_back(std::string("flash-forward, flash-backward: ") + kNoFlash);
  int wrong = outcome.wrong;
  if (collectives) {
    const NcclRun run =
        measure_collectives(options, options.time_limit * kNcclShare, stop_is_asked, [](const auto&) {});
    for (const auto& result : run.results) {
      profile.collectives.push_back(collective_line(result));
      wrong += result.wrong > 0 ? 1 : 0;
    }
    profile.left_out.insert(profile.left_out.end(), run.left_out.begin(), run.left_out.end());
  }
  write_file(options.output, to_yaml(profile));
  if (unfinished) {
    std::fprintf(stderr, "slmsim-calibrate: time limit reached; the same command measures the rest, from %s\n",
                 file.c_str());
  } else {
    journal.remove();
  }
  if (!profile.left_out.empty())
    std::fprintf(stderr, "slmsim-calibrate: %zu points were left out; the profile lists them\n",
                 profile.left_out.size());
  const auto marked = [&](const std::string& mark) {
    std::size_t count = 0;
    for (const auto* lines : {&profile.kernels, &profile.launches, &profile.transfers}) {
      for (const auto& one : *lines) count += one.find(", " + mark + ": ") == std::string::npos ? 0 : 1;
    }
    return count;
  };
  if (const std::size_t count = marked("throttled"); count > 0)
    std::fprintf(stderr, "slmsim-calibrate: the clock was throttled at %zu points\n", count);
  if (const std::size_t count = marked("imprecise"); count > 0)
    std::fprintf(stderr, "slmsim-calibrate: %zu points are less precise than requested\n", count);
  if (wrong > 0) std::fprintf(stderr, "slmsim-calibrate: error: %d results were wrong\n", wrong);
  return wrong > 0 ? kFailed : kDone;
}

int measure_nccl(const Options& options, const std::string& command) {
  check_writable(options.output);
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  bool header = false;
  std::size_t wrong = 0;
  const NcclRun run =
      measure_collectives(options, options.time_limit, stop_is_asked, [&](const CollectiveResult& result) {
        if (!header)
          std::printf("# %d ranks on %d hosts, NCCL %s\n%s", result.ranks, result.hosts, nccl_version().c_str(),
                      table_header().c_str());
        header = true;
        wrong += result.wrong;
        std::fputs(table_line(result).c_str(), stdout);
        std::fflush(stdout);
      });
  if (!run.first) return kDone;
  for (const auto& sentence : run.left_out) std::fprintf(stderr, "slmsim-calibrate: left out: %s\n", sentence.c_str());
  if (!options.output.empty()) {
    const Device device(options.device);
    Profile profile = profile_of(device, options, command);
    for (const auto& result : run.results) profile.collectives.push_back(collective_line(result));
    profile.left_out = run.left_out;
    write_file(options.output, to_yaml(profile));
  }
  if (wrong > 0) std::fprintf(stderr, "slmsim-calibrate: error: %zu elements were wrong\n", wrong);
  return wrong > 0 ? kFailed : kDone;
}

int tell_info() {
  const int gpus = count_gpus();
  for (int i = 0; i < gpus; ++i) {
    const Device device(i);
    std::printf("GPU %d\n", i);
    for (const auto& [key, value] : device.facts()) std::printf("  %-20s %s\n", key.c_str(), value.c_str());
    std::printf("  %-20s %.0f C\n", "temperature", device.nvml().temperature());
  }
  std::printf("cuBLAS %s, NCCL %s\n", library_version().c_str(),
              nccl_version().empty() ? "none" : nccl_version().c_str());
  return kDone;
}

int run(const std::vector<std::string>& words) {
  const Options options = parse_options(words);
  std::string command = "slmsim-calibrate";
  for (const auto& word : words) command += " " + word;
  switch (options.verb) {
    case Verb::kHelp:
      std::fputs(kHelp, stdout);
      return kDone;
    case Verb::kVersion:
      std::printf("slmsim-calibrate %s, cuBLAS %s, NCCL %s\n", SLMSIM_VERSION, library_version().c_str(),
                  nccl_version().empty() ? "none" : nccl_version().c_str());
      return kDone;
    case Verb::kInfo:
      return tell_info();
    case Verb::kNccl:
      return measure_nccl(options, command);
    case Verb::kCompare:
      compare_products(Device(options.device), options);
      return kDone;
    default:
      return measure_device(options, command);
  }
}

}  // namespace
}  // namespace slmsim::calibrate

int main(int argc, char** argv) {
  using namespace slmsim::calibrate;
  const auto fail = [](const char* text, int status) {
    std::fprintf(stderr, "slmsim-calibrate: error: %s\n", text);
    return status;
  };
  try {
    return run({argv + 1, argv + argc});
  } catch (const UsageError& error) {
    return fail(error.what(), kBadUsage);
  } catch (const NoGpu& error) {
    return fail(error.what(), kBadUsage);
  } catch (const GpuError& error) {
    return fail(error.what(), kFailed);
  } catch (const std::exception& error) {
    return fail(error.what(), kInternal);
  }
}
