// slmsim check, list and validate: look at files, at what there is, and at how right the predictions are.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/base/suggest.h"
#include "sim/cli/command.h"
#include "sim/cli/output.h"
#include "sim/report/deepspeed_table.h"
#include "sim/report/facts_table.h"
#include "sim/scenario/check.h"
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

std::string check_sweep(const std::string& file) { return fmt::format("sweep of {} points", Sweep(file).points()); }

int check(const std::vector<std::string>& files) {
  std::vector<Error> errors;
  for (const auto& file : files) {
    try {
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
    out += fmt::format("{:<12} {:<32} {:<8} {:>8}  {:>10}  {:>12} fp16\n", name, gpu.title, gpu.architecture,
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
    out += fmt::format("{:<12} {:>5.0f} M parameters, {} layers of {}, {} heads, sequence {}, vocabulary {}\n", name,
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
      out += fmt::format("  {}: {} x {}", vm.name, vm.device_count,
                         platform.devices[static_cast<std::size_t>(vm.first_device)].gpu.name);
    }
    for (const auto& link : platform.links)
      out += fmt::format("  {}: {}", link.name, to_text(link.forward.delay + link.backward.delay));
    out += "\n";
  }
  return out;
}

std::string list_techniques() {
  std::string out;
  for (const auto& spec : technique_table()) out += fmt::format("{:<12} {}\n", spec.name, spec.summary);
  return out;
}

std::string list_scenarios(const fs::path& root) {
  std::string out;
  for (const auto& name : names_in(root / "scenarios"))
    out += fmt::format("{:<12} {}\n", name, load_scenario(root / "scenarios" / (name + ".yaml")).description);
  return out;
}

int list(const std::string& what) {
  static const std::vector<std::string> kThings = {"models", "gpus", "platforms", "scenarios", "techniques"};
  if (std::find(kThings.begin(), kThings.end(), what) == kThings.end()) {
    throw InputError({},
                     fmt::format("there is no list of \"{}\"; {}", what.substr(0, 64), did_you_mean(what, kThings)));
  }
  const fs::path root = what == "techniques" ? fs::path() : root_or_fail();
  write_result(what == "models"      ? list_models(root)
               : what == "gpus"      ? list_gpus(root)
               : what == "platforms" ? list_platforms(root)
               : what == "scenarios" ? list_scenarios(root)
                                     : list_techniques(),
               "");
  return kDone;
}

int validate(const std::string& study, const std::string& reference, const std::string& format,
             const std::string& output) {
  static const std::vector<std::string> kStudies = {"fabric", "deepspeed"};
  if (std::find(kStudies.begin(), kStudies.end(), study) == kStudies.end())
    throw InputError({},
                     fmt::format("there is no study \"{}\"; {}", study.substr(0, 64), did_you_mean(study, kStudies)));
  static const std::vector<std::string> kFormats = {"markdown", "csv"};
  if (std::find(kFormats.begin(), kFormats.end(), format) == kFormats.end())
    throw InputError(
        {}, fmt::format("--format \"{}\" is unknown; {}", format.substr(0, 64), did_you_mean(format, kFormats)));
  const fs::path root = root_or_fail();
  const fs::path file = reference.empty() ? root / "tests/reference" / (study + ".csv") : fs::path(reference);
  const bool csv = format == "csv";
  if (study == "deepspeed") {
    const DeepSpeedValidation validation = validate_deepspeed(root, file);
    write_result(csv ? to_csv(validation) : to_markdown(validation), output);
    return kDone;
  }
  const Validation validation = validate_fabric(root, file);
  write_result(csv ? to_csv(validation) : to_markdown(validation), output);
  return kDone;
}

}  // namespace

Command add_check(CLI::App& app) {
  auto* verb =
      app.add_subcommand("check", "read scenario, sweep, platform, model, GPU and VM files, and tell what is wrong");
  auto files = std::make_shared<std::vector<std::string>>();
  verb->add_option("FILE", *files, "YAML or JSON files")->required();
  verb->footer("\nExample:\n  slmsim check scenarios/*.yaml platforms/gpus/*.yaml");
  return {verb, [files] { return check(*files); }};
}

Command add_list(CLI::App& app) {
  auto* verb = app.add_subcommand("list", "list what there is");
  auto what = std::make_shared<std::string>();
  verb->add_option("WHAT", *what, "models, gpus, platforms, scenarios or techniques")->required();
  return {verb, [what] { return list(*what); }};
}

Command add_validate(CLI::App& app) {
  auto* verb = app.add_subcommand("validate", "compare predictions with a study's published facts");
  struct Options {
    std::string study = "fabric", reference, format = "markdown", output;
  };
  auto options = std::make_shared<Options>();
  verb->add_option("STUDY", options->study, "fabric or deepspeed")->capture_default_str();
  verb->add_option("--reference", options->reference, "table of published facts; default tests/reference/STUDY.csv");
  verb->add_option("--format,-f", options->format, "markdown or csv")->capture_default_str();
  verb->add_option("--output,-o", options->output, "write the result to this file instead of standard output");
  verb->footer("\nExample:\n  slmsim validate fabric --format csv --output facts.csv\n  slmsim validate deepspeed");
  return {verb, [options] { return validate(options->study, options->reference, options->format, options->output); }};
}

}  // namespace slmsim
