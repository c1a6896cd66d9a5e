// slmsim check and list: check files, and list names.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "sim/base/name_in.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/compute/operator_graph.h"
#include "sim/fit/measured_step.h"
#include "sim/import/measurement/format.h"
#include "sim/import/measurement/imported_profile.h"
#include "sim/report/report.h"
#include "sim/scenario/data_root.h"
#include "sim/scenario/kind.h"
#include "sim/scenario/scenario.h"
#include "sim/sweep/sweep.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

fs::path root_or_fail() {
  const auto roots = data_roots(fs::current_path() / "x");
  if (roots.empty()) throw InputError({}, "no folder with models/ or platforms/ here or above; go to one");
  return roots.front();
}

std::string check_sweep(const std::string& file) {
  Sweep sweep(file);
  // Where both ends are invalid, a value's unit or range is, and all values between would be too.
  const std::string first = sweep.problem_at(0), last = sweep.problem_at(sweep.points() - 1);
  if (!first.empty() && !last.empty())
    throw InputError(Place{std::make_shared<Source>(Source{file, ""}), 0, 0},
                     fmt::format("the first and the last point are invalid: {}", first));
  return fmt::format("sweep of {} points", sweep.points());
}

// Checks the scenario of a folder, or the files of one that calibrate/run_on_gpu.sh fills.
void check_folder(const fs::path& folder) {
  bool any = false;
  // A folder of `slmsim init`: the scenario names the platform.
  if (const std::string scenario = scenario_file(folder.string()); scenario != folder.string()) {
    fmt::print("{}: ok, a {}\n", scenario, check_file(scenario));
    return;
  }
  const auto report = [&](const char* name, const auto& kind) {
    std::error_code ignored;
    const fs::path file = folder / name;
    if (!fs::exists(file, ignored)) return;
    any = true;
    fmt::print("{}: ok, a {}\n", file.string(), kind(file));
  };
  report("gpu.yaml", [](const fs::path& file) { return check_file(file.string()); });
  report("flash.csv", [](const fs::path& file) {
    return fmt::format("table of {} kernels", points_of(gather(import_format("csv"), {file.string()}, {}).points));
  });
  report("steps.json", [](const fs::path& file) {
    const MeasuredSteps steps = read_measured_steps(file);
    return fmt::format("list of {} measured steps, {} of them not compared", steps.steps.size() + steps.skipped.size(),
                       steps.skipped.size());
  });
  if (!any)
    throw InputError(Place{std::make_shared<Source>(Source{folder.string(), ""}), 0, 0},
                     "this is a folder; name a file in it, or a folder with scenario.yaml, or with gpu.yaml, flash.csv "
                     "or steps.json of calibrate/run_on_gpu.sh");
}

int check(const std::vector<std::string>& files) {
  std::vector<Error> errors;
  for (const auto& file : files) {
    try {
      std::error_code ignored;
      if (fs::is_directory(file, ignored)) {
        check_folder(file);
        continue;
      }
      const std::string kind = is_sweep(file) ? check_sweep(file) : check_file(file);
      fmt::print("{}: ok, a {}\n", file, kind);
    } catch (const InputError& error) {
      errors.insert(errors.end(), error.errors().begin(), error.errors().end());
    }
  }
  if (!errors.empty()) throw InputError(std::move(errors));
  return kDone;
}

std::string list_gpus(const fs::path& root) {
  std::string out;
  for (const auto& name : names_in(root / "platforms/gpus")) {
    Reading reading;
    const Gpu gpu = read_gpu(read_yaml(root / "platforms/gpus" / (name + ".yaml")), name, reading);
    reading.check();
    out += fmt::format("{:<12} {:<32} {:<8} {:>8}  {:>10}  {:>12} fp16\n", name, printable(gpu.title), gpu.architecture,
                       to_text(gpu.memory), to_text(gpu.memory_bandwidth), to_text(gpu.peak[0]));
  }
  return out;
}

std::string list_models(const fs::path& root) {
  std::string out;
  for (const auto& name : names_in(root / "models")) {
    Reading reading;
    const auto m = read_transformer(read_yaml(root / "models" / (name + ".yaml")), name, name, reading);
    reading.check();
    out += fmt::format("{:<14} {:>5.0f} M parameters, {} layers of {}, {} heads, sequence {}, vocabulary {}\n", m.name,
                       parameter_count(build_operator_graph(m)) / 1e6, m.layers, m.hidden, m.heads, m.sequence,
                       m.vocabulary);
  }
  return out;
}

std::string list_platforms(const fs::path& root) {
  std::string out;
  for (const auto& name : names_in(root / "platforms")) {
    Reading reading;
    const Platform platform = read_platform(link_platform(root / "platforms" / (name + ".yaml")), name, reading);
    reading.check();
    out += fmt::format("{:<12}", name);
    for (const auto& vm : platform.vms) {
      out += fmt::format("  {}: {} x {}", vm.name, vm.device_count, platform.devices[vm.first_device].gpu.name);
    }
    for (const auto& link : platform.links)
      out += fmt::format("  {}: {}", link.name, to_text(link.forward.delay + link.backward.delay));
    out += "\n";
  }
  return out;
}

std::string list_scenarios(const fs::path& root) {
  std::string out;
  for (const auto& name : names_in(root / "scenarios"))
    out +=
        fmt::format("{:<12} {}\n", name, printable(load_scenario(root / "scenarios" / (name + ".yaml")).description));
  return out;
}

std::string list_stacks(const fs::path& root) {
  std::string out;
  for (const auto& name : names_in(root / kStackFile.folder)) {
    Reading reading;
    Software stack;
    read_stack(read_yaml(root / kStackFile.folder / (name + ".yaml")), "", reading, stack);
    reading.check();
    out += fmt::format("{:<15} {}; attention {}, {} per operator on the host\n", name, printable(stack.title),
                       name_in(attention_kernel_names(), stack.attention), to_text(stack.host.forward));
  }
  return out;
}

std::string list_formats(const fs::path&) {
  std::string out;
  for (const auto& format : import_formats())
    out += fmt::format("{:<15} {}\n{:<15} {}\n", format.name, format.about, "", format.columns);
  return out;
}

std::string list_techniques(const fs::path&) { return to_technique_table(); }

struct Listing {
  const char* what;
  std::string (*text)(const fs::path& root);
  bool of_files = true;
};
constexpr Listing kListings[] = {{"models", list_models},         {"gpus", list_gpus},
                                 {"platforms", list_platforms},   {"scenarios", list_scenarios},
                                 {"stacks", list_stacks},         {"techniques", list_techniques, false},
                                 {"formats", list_formats, false}};

int list(const std::string& what, const std::string& format) {
  const auto* found = std::ranges::find_if(kListings, [&](const Listing& listing) { return listing.what == what; });
  const bool json = format == "json";
  if (json && found->text != list_techniques) throw InputError({}, "only techniques are listed as JSON");
  write_result(json ? to_technique_json() : found->text(found->of_files ? root_or_fail() : fs::path()), "");
  return kDone;
}

}  // namespace

Command add_check(CLI::App& app) {
  auto* verb = app.add_subcommand("check", "check scenario, sweep, platform, model, GPU and VM files for errors");
  auto files = std::make_shared<std::vector<std::string>>();
  verb->add_option("FILE", *files, "YAML or JSON files")->required();
  verb->footer("\nExample:\n  slmsim check scenarios/*.yaml platforms/gpus/*.yaml");
  return {verb, [files] { return check(*files); }};
}

Command add_list(CLI::App& app) {
  auto* verb = app.add_subcommand("list", "list available models, GPUs and other inputs");
  auto what = std::make_shared<std::string>();
  auto format = std::make_shared<std::string>("table");
  std::vector<std::string> things;
  for (const auto& listing : kListings) things.emplace_back(listing.what);
  choose_from(verb->add_option("WHAT", *what, "names to list; formats: that import reads"), things,
              "there is no list of \"{}\"")
      ->required();
  add_format_option(*verb, *format, {"table", "json"},
                    "format; json: only of techniques, with their options and how figures draw them");
  verb->footer("\nExamples:\n  slmsim list gpus\n  slmsim list techniques --format json");
  return {verb, [what, format] { return list(*what, *format); }};
}

}  // namespace slmsim
