// slmsim import FORMAT FILE...: a GPU's profile from published or measured tables.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/cli/command.h"
#include "sim/import/inventory/inventory.h"
#include "sim/import/measurement/imported_profile.h"
#include "sim/scenario/data_root.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCollectives = 400;
// Most nodes that a profile's reader accepts (kMaxNodes), counted by the values and keys of a kernel, of a collective, and of
// the rest.
constexpr std::size_t kNodesOfKernel = 15, kNodesOfCollective = 11, kNodesOfTheRest = 2000;

struct ImportOptions {
  std::string format, output, name, gpu, precision, shapes, least;
  std::vector<std::string> files, where;
  std::size_t rows = 6000;
};

Gpu load_gpu(const std::string& name) {
  fs::path file = name;
  std::vector<std::string> known;
  if (!name.ends_with(".yaml")) {
    file.clear();
    for (const auto& root : data_roots(fs::current_path() / "x")) {
      for (auto& other : names_in(root / "platforms/gpus")) known.push_back(std::move(other));
      std::error_code ignored;
      if (fs::path found = root / "platforms/gpus" / (name + ".yaml"); file.empty() && fs::exists(found, ignored))
        file = found;
    }
    if (file.empty() || !is_name(name)) throw InputError({}, "--gpu: " + no_such_gpu(name, known));
  }
  Reading reading;
  Gpu gpu = read_gpu(read_yaml(file), file.stem().string(), reading);
  reading.check();
  return gpu;
}

ImportRequest request_of(const ImportOptions& options) {
  ImportRequest request;
  request.shapes = options.shapes;
  if (!options.shapes.empty() && options.format != "nsys")
    throw InputError({}, fmt::format("--shapes is for nsys; {} tables state their sizes", options.format));
  if (!options.precision.empty()) {
    request.precision = precision_called(options.precision);
    if (!request.precision)
      throw InputError({}, fmt::format("--precision \"{}\" is unknown; {}", printable(options.precision).substr(0, 64),
                                       did_you_mean(options.precision, precision_names())));
  }
  if (!options.least.empty()) {
    const auto [value, problem] = parse_quantity(options.least, Dimension::kTime);
    if (!problem.empty()) throw InputError({}, fmt::format("--least: {}", problem));
    request.least = Seconds{value};
  }
  for (const auto& choice : options.where) {
    const auto equals = choice.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw InputError({}, fmt::format("--where \"{}\": COLUMN=VALUE is expected", printable(choice).substr(0, 64)));
    request.where.push_back({choice.substr(0, equals), choice.substr(equals + 1)});
  }
  return request;
}

std::string name_of(const ImportOptions& options) {
  const std::string stem = fs::path(options.output).stem().string();
  std::string name = !options.name.empty() ? options.name : is_name(stem) ? stem : "imported";
  if (!is_name(name))
    throw InputError(
        {}, fmt::format("--name \"{}\": letters, digits and - _ . are expected", printable(name).substr(0, 64)));
  return name;
}

// The command line, without the output file.
std::string command_of(const ImportOptions& options) {
  std::string out = "slmsim import " + options.format;
  for (const auto& file : options.files) out += " " + file;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty())
      out += fmt::format(" {} {}", option, value.find(' ') == std::string::npos ? value : "'" + value + "'");
  };
  add("--gpu", options.gpu);
  add("--precision", options.precision);
  for (const auto& choice : options.where) add("--where", choice);
  add("--shapes", options.shapes);
  add("--least", options.least);
  return out;
}

// The measured GPU: by --gpu, in the tables' words where they mean that GPU; `run` refuses profiles of another chip.
std::string measured_on(const std::string& name_in_file, const Gpu& gpu) {
  if (!names_a_gpu(name_in_file)) return gpu.title;
  if (is_same_chip(name_in_file, gpu.title) || is_same_chip(name_in_file, gpu.name)) return name_in_file;
  const auto& known = gpu_list();
  const auto is_told = [&](const auto& name) {
    return is_same_chip(name_in_file, name) || is_same_chip(name_in_file, gpu_title(name));
  };
  // The user's own words name no other GPU.
  if (std::ranges::none_of(known, is_told)) return gpu.title;
  throw InputError({}, fmt::format("--gpu {}: the tables are for \"{}\", but {} is {}; name the GPU that was timed",
                                   gpu.name, printable(name_in_file).substr(0, 64), gpu.name, gpu.title));
}

void thin(ImportedProfile& profile, const std::optional<Gpu>& gpu, std::size_t rows) {
  thin_collectives(profile, kCollectives);
  const std::size_t taken = kNodesOfTheRest + kNodesOfCollective * profile.collectives.size();
  const std::size_t most = std::min(rows, (kMaxNodes - std::min(taken, kMaxNodes)) / kNodesOfKernel);
  if (const std::size_t points = points_of(profile.points); !gpu && points > most)
    throw InputError(
        {}, fmt::format("{} sizes of kernels, but a profile holds {}; give --gpu NAME to thin them by its data sheet",
                        points, most));
  if (gpu) thin_kernels(profile, *gpu, most);
}

// Reads the written profile back: an error here is the program's, not the user's.
GpuProfile read_back(const std::string& text, const std::string& name) {
  Reading reading;
  try {
    GpuProfile profile = read_profile(parse_yaml(text, name), "", reading);
    reading.check();
    return profile;
  } catch (const InputError& error) {
    throw std::logic_error("the profile cannot be read back: " + to_string(error.errors().front()));
  }
}

// The format that is a folder.
constexpr const char* kMeasured = "measured";

int make_profile_of_folder(const ImportOptions& options) {
  if (options.files.size() != 1)
    throw InputError({}, "measured takes one folder, the output of calibrate/run_on_gpu.sh");
  for (const auto& [option, given] : {std::pair{"--gpu", !options.gpu.empty()},
                                      {"--precision", !options.precision.empty()},
                                      {"--where", !options.where.empty()},
                                      {"--shapes", !options.shapes.empty()},
                                      {"--least", !options.least.empty()}}) {
    if (given) throw InputError({}, fmt::format("{} is for tables; measured imports the whole folder", option));
  }
  const std::string name = name_of(options);
  const std::string text = profile_of_folder(options.files.front(), name, command_of(options));
  const GpuProfile profile = read_back(text, name);
  write_result(text, options.output);
  if (!options.output.empty())
    write_result(fmt::format("{}: {} kernels of {}\n", name, points_of(profile), printable(profile.gpu)), "");
  return kDone;
}

int make_profile(const ImportOptions& options) {
  if (options.format == kMeasured) return make_profile_of_folder(options);
  const ImportFormat& format = import_format(options.format);
  const ImportRequest request = request_of(options);
  const std::string name = name_of(options);
  std::optional<Gpu> gpu;
  if (!options.gpu.empty()) gpu = load_gpu(options.gpu);

  ImportedProfile profile = gather(format, options.files, request, gpu ? &*gpu : nullptr);
  profile.name = name;
  profile.command = command_of(options);
  if (gpu) profile.gpu = measured_on(profile.gpu, *gpu);
  share_layouts(profile);
  tell_what_lacks(profile);
  thin(profile, gpu, options.rows);

  const std::string text = to_yaml(profile);
  read_back(text, name);
  write_result(text, options.output);
  if (!options.output.empty()) write_result(to_summary(profile), "");
  return kDone;
}

std::string help_text() {
  std::string out = "\nFormats:\n";
  for (const auto& format : import_formats()) out += fmt::format("  {:<15} {}\n", format.name, format.about);
  out += fmt::format("  {:<15} Output folder of calibrate/run_on_gpu.sh: gpu.yaml and flash.csv.\n", kMeasured);
  return out +
         "\nslmsim list formats shows their columns. Name the profile in a GPU's file (profile: NAME, in "
         "platforms/profiles),\n"
         "or for one run with --set platform.vms.VM.gpus.0.profile=NAME.\n"
         "\n"
         "Examples:\n"
         "  slmsim import neusight linear.csv bmm.csv --where 'gpu=Tesla T4' --gpu t4 -o t4.yaml\n"
         "  slmsim import sailor A100-40/profiled-data-fp16/*_algo0.csv --gpu a100-40 -o a100.yaml\n"
         "  slmsim import measured results -o platforms/profiles/my-gpu.yaml\n"
         "  slmsim import nccl-tests all_reduce_perf.txt -o collectives.yaml\n"
         "  slmsim import csv mine.csv --gpu a30 --least '10 us' -o a30.yaml";
}

}  // namespace

Command add_import(CLI::App& app) {
  auto* verb = app.add_subcommand("import", "make a GPU's profile from published measurements");
  auto options = std::make_shared<ImportOptions>();
  verb->add_option("FORMAT", options->format, "format of the files, see below")->required();
  verb->add_option("FILE", options->files, "tables in this format, of one GPU or with --where; for measured, a folder")
      ->required();
  add_output_option(*verb, options->output, "write the profile to this file, and print a summary");
  verb->add_option(
      "--gpu", options->gpu,
      "a GPU of platforms/gpus, or a file: times are checked against its data sheet, and large tables thinned");
  verb->add_option("--precision", options->precision, "precision of rows that state none: fp16, bf16, tf32 or fp32");
  verb->add_option("--where", options->where, "COLUMN=VALUE: only rows with this value; gpu=NAME in every format")
      ->expected(1)
      ->take_all();
  verb->add_option("--shapes", options->shapes, "nsys: a CSV that maps names to kernels and sizes");
  verb->add_option("--least", options->least, "skip shorter times; default 300 us for aceso and sailor");
  verb->add_option("--rows", options->rows, "maximum number of kernels in the profile")
      ->capture_default_str()
      ->check(number_within(1, 1e6));
  verb->add_option("--name", options->name, "name of the profile; default the output's name");
  verb->footer(help_text());
  return {verb, [options] { return make_profile(*options); }};
}

}  // namespace slmsim
