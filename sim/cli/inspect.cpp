// slmsim check and list: check files, and list names.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/base/text.h"
#include "sim/cli/command.h"
#include "sim/compute/operator_graph.h"
#include "sim/import/measurement/imported_profile.h"
#include "sim/platform/path.h"
#include "sim/report/file_keys.h"
#include "sim/report/report.h"
#include "sim/scenario/data_root.h"
#include "sim/scenario/kind.h"
#include "sim/sweep/sweep.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

// A row for each file of a folder below those with models/ or platforms/, by name. Where some cannot be read, their errors end the
// command after the rows of the others.
template <class Row>
int list_files(const std::string& folder, Row row) {
  const auto roots = data_roots(fs::current_path() / "x");
  if (roots.empty()) throw InputError({}, "no folder with models/ or platforms/ here or above; go to one");
  std::vector<std::string> files;
  for (const auto& file : files_below(roots, folder)) files.push_back(file.string());
  std::ranges::sort(files, {}, [](const std::string& file) { return fs::path(file).stem(); });
  std::string out;
  try {
    read_each(files, [&](const std::string& file) { out += row(fs::path(file).stem().string(), file); });
  } catch (const InputError&) {
    write_result(out, "");
    throw;
  }
  write_result(out, "");
  return kDone;
}

std::string check_sweep(const std::string& file) {
  Sweep sweep(file);
  sweep.check();
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
    throw InputError(whole_of(folder.string()),
                     "this is a folder; name a file in it, or a folder with scenario.yaml, or with gpu.yaml, flash.csv "
                     "or steps.json of calibrate/run_on_gpu.sh");
}

int check(const std::vector<std::string>& files) {
  read_each(files, [](const std::string& file) {
    std::error_code ignored;
    if (fs::is_directory(file, ignored)) return check_folder(file);
    const std::string kind = is_sweep(file) ? check_sweep(file) : check_file(file);
    fmt::print("{}: ok, a {}\n", file, kind);
  });
  return kDone;
}

std::string row_of_gpu(const std::string& name, const std::string& file) {
  Reading reading;
  const Gpu gpu = read_gpu(read_yaml(file), name, reading);
  reading.check();
  return fmt::format("{:<12} {:<32} {:<8} {:>8}  {:>10}  {:>12} fp16\n", name, printable(gpu.title), gpu.architecture,
                     to_text(gpu.memory), to_text(gpu.memory_bandwidth), to_text(gpu.peak[0]));
}

std::string row_of_model(const std::string& name, const std::string& file) {
  Reading reading;
  const auto m = read_transformer(read_yaml(file), name, name, reading);
  reading.check();
  return fmt::format("{:<14} {:>5.0f} M parameters, {} layers of {}, {} heads, sequence {}, vocabulary {}\n", m.name,
                     parameter_count(build_operator_graph(m)) / 1e6, m.layers, m.hidden, m.heads, m.sequence,
                     m.vocabulary);
}

std::string row_of_platform(const std::string& name, const std::string& file) {
  Reading reading;
  const Platform platform = read_platform(link_platform(file), name, reading);
  reading.check();
  std::string out = fmt::format("{:<12}", name);
  for (const auto& vm : platform.vms)
    out += fmt::format("  {}: {} x {}", vm.name, vm.device_count, platform.devices[vm.first_device].gpu.name);
  for (const auto& link : platform.links)
    out += fmt::format("  {}: {}", link.name, to_text(link.forward.delay + link.backward.delay));
  return out + "\n";
}

std::string row_of_scenario(const std::string& name, const std::string& file) {
  return fmt::format("{:<12} {}\n", name, printable(load_scenario(file).description));
}

std::string row_of_stack(const std::string& name, const std::string& file) {
  Reading reading;
  Software stack;
  read_stack(read_yaml(file), "", reading, stack);
  reading.check();
  const bool counted = stack.kernels[static_cast<std::size_t>(KernelPart::kProduct)].has_value();
  return fmt::format("{:<15} {}; attention {}, {} per {} on the host\n", name, printable(stack.title),
                     name_in(attention_kernel_names(), stack.attention), to_text(stack.host.forward),
                     counted ? "launch" : "operator");
}

int list_formats() {
  std::string out;
  for (const auto& format : import_formats())
    out += fmt::format("{:<15} {}\n{:<15} {}\n", format.name, format.about, "", format.columns);
  write_result(out, "");
  return kDone;
}

int list_techniques() {
  write_result(to_technique_table(), "");
  return kDone;
}

struct Listing {
  const char* what;
  int (*print)();
};
constexpr Listing kListings[] = {{"models", [] { return list_files(kModelFile.folder, row_of_model); }},
                                 {"gpus", [] { return list_files(kGpuFile.folder, row_of_gpu); }},
                                 {"platforms", [] { return list_files(kPlatformFile.folder, row_of_platform); }},
                                 {"scenarios", [] { return list_files("scenarios", row_of_scenario); }},
                                 {"stacks", [] { return list_files(kStackFile.folder, row_of_stack); }},
                                 {"techniques", list_techniques},
                                 {"formats", list_formats}};

int list(const std::string& what, const std::string& format) {
  const auto* found = std::ranges::find_if(kListings, [&](const Listing& listing) { return listing.what == what; });
  if (format != "json") return found->print();
  if (found->print != list_techniques) throw InputError({}, "only techniques are listed as JSON");
  write_result(to_technique_json(), "");
  return kDone;
}

// slmsim schema: the keys of the user's files, for editors and as a reference.

struct SchemaOptions {
  std::string file, format = "json", output;
};

struct FileReader {
  const char* name;
  const char* title;
  const char* about;
  Reader read;
};

// Every file that another one may name, and those that commands take.
const std::vector<FileReader>& file_readers() {
  static const std::vector<FileReader> kReaders = {
      {"scenario", "scenario", "Input of `slmsim run` and most other commands: a job on a cluster.", describe_scenario},
      {kModelFile.name, "model",
       "A file of `models/`, or a Hugging Face config.json, which has `model_type` and whose other keys are ignored.",
       [](const Node& node, Reading& reading) { read_transformer(node, "", "model", reading); }},
      {kPlatformFile.name, "platform",
       "A file of `platforms/`: sites, VMs with their GPUs, and the links between sites.",
       [](const Node& node, Reading& reading) { read_platform(node, "", reading); }},
      {kVmFile.name, "VM type", "A file of `platforms/vms/`.",
       [](const Node& node, Reading& reading) { read_vm_type(node, "", reading); }},
      {kGpuFile.name, "GPU", "A file of `platforms/gpus/`: a GPU by its data sheet.",
       [](const Node& node, Reading& reading) { read_gpu(node, "", reading); }},
      {kDriveFile.name, "drive", "A file of `platforms/drives/`: a drive by its data sheet.",
       [](const Node& node, Reading& reading) { read_drive(node, "", reading); }},
      {kStackFile.name, "software stack", "A file of `scenarios/stacks/`: the kernels of a software stack.",
       [](const Node& node, Reading& reading) {
         Software software;
         read_stack(node, "", reading, software);
       }},
      {"sweep", "sweep", "Input of `slmsim sweep`: one scenario at many points.", describe_sweep},
      {kPathFile.name, "measured path", "A file of `platforms/paths/`, as slmsim-netprobe writes it.",
       [](const Node& node, Reading& reading) { read_path(node, "", reading); }},
      {kProfileFile.name, "GPU profile", "A file of `platforms/profiles/`, as slmsim-calibrate writes it.",
       [](const Node& node, Reading& reading) { read_profile(node, "", reading); }},
  };
  return kReaders;
}

std::vector<std::string> file_names() {
  std::vector<std::string> names;
  for (const auto& reader : file_readers()) names.emplace_back(reader.name);
  return names;
}

std::string schema_text(const SchemaOptions& options) {
  std::vector<FileKeys> files;
  for (const auto& [name, title, about, read] : file_readers()) files.push_back({name, title, about, describe(read)});
  if (options.format == "json") return to_json_schema(files, options.file);
  if (options.file.empty()) return to_markdown(files);
  return to_markdown(*std::ranges::find_if(files, [&](const auto& f) { return f.name == options.file; }));
}

int schema(const SchemaOptions& options) {
  if (options.file.empty() && options.format == "json")
    throw InputError({},
                     fmt::format("a schema describes one kind of file; name one of {}", fmt::join(file_names(), ", ")));
  write_result(schema_text(options), options.output);
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

Command add_schema(CLI::App& app) {
  auto* verb = app.add_subcommand("schema", "print the keys of a kind of file, as a JSON Schema or a reference");
  auto options = std::make_shared<SchemaOptions>();
  choose_from(verb->add_option("FILE", options->file, "kind of file; with --format markdown none stands for all"),
              file_names(), "there is no schema of \"{}\"");
  add_format_option(*verb, options->format, {"json", "markdown"}, "json: a JSON Schema, draft 2020-12");
  add_output_option(*verb, options->output);
  verb->footer(
      "\nExamples:\n  slmsim schema scenario --output scenario.schema.json\n  slmsim schema gpu --format markdown\n"
      "  slmsim schema --format markdown --output reference.md");
  return {verb, [options] { return schema(*options); }};
}

}  // namespace slmsim
