// slmsim schema: the keys of the user's files, for editors and as a reference.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"
#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/platform/node.h"
#include "sim/platform/path.h"
#include "sim/platform/profile.h"
#include "sim/report/file_keys.h"
#include "sim/scenario/scenario.h"
#include "sim/sweep/sweep.h"

namespace slmsim {
namespace {

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
