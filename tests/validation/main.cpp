// slmsim-validation: accuracy of the predictions by the published facts of studies. `slmsim validate STUDY` runs it.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "sim/base/text.h"
#include "sim/cli/command.h"
#include "sim/scenario/data_root.h"
#include "tests/validation/tables.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

struct ValidateOptions {
  std::string study = "fabric", reference, format = "markdown", output;
  Overrides overrides;
  bool held_out = false, memory = false;
  ProtocolOptions protocol;
  double time_limit = 0;
};

bool wants_csv(const ValidateOptions& options) { return options.format == "csv"; }

struct StudyPlace {
  fs::path root, facts;  // root holds scenarios/
};

// The nearest folder with a study's facts and scenarios; a user's own has platforms only.
StudyPlace place_of_study(const std::vector<fs::path>& roots, const std::string& study) {
  std::error_code ignored;
  for (const auto& root : roots) {
    const fs::path facts = root / "tests/reference" / (study + ".csv");
    if (fs::exists(facts, ignored)) return {root, facts};
  }
  return {roots.front(), roots.front() / "tests/reference" / (study + ".csv")};
}

int validate_protocol(const ValidateOptions& options, const std::string& study, const fs::path& root,
                      const fs::path& facts) {
  if (study != "fabric" && study != "deepspeed")
    throw InputError({}, "--held-out is for fabric and deepspeed, whose tables mark the rows to fit");
  ProtocolOptions protocol = options.protocol;
  protocol.stop = stop_at(options.time_limit);
  ProgressLine line;
  protocol.progress = [&](const std::string& text) { line.update(text); };
  const auto write = [&](const auto& result) {
    line.clear();
    write_result(wants_csv(options) ? to_csv(result) : to_markdown(result), options.output);
    return kDone;
  };
  if (study == "fabric") return write(validate_held_out(root, facts, protocol));
  if (protocol.work_given || !protocol.slices.empty()) throw InputError({}, "--work-given and --slice are for fabric");
  return write(validate_deepspeed_held_out(root, facts, protocol));
}

int validate_study(const ValidateOptions& options) {
  const std::string& study = options.study;
  if (!options.overrides.empty() && (study != "fabric" || options.held_out || options.memory))
    throw InputError({}, "--set is for fabric without --held-out and --memory");
  if (options.memory && study != "fabric") throw InputError({}, "--memory is for fabric");
  const bool csv = wants_csv(options);
  const auto roots = data_roots(fs::current_path() / "x");
  if (roots.empty()) throw InputError({}, "no folder with models/ or platforms/ here or above; go to one");
  if (study == "gpu") {
    if (options.reference.empty())
      throw InputError({},
                       "gpu needs --reference FOLDER with published operators.csv and kernels.csv; "
                       "docs/validation/gpu.md describes them");
    const GpuValidation validation = validate_gpus(options.reference, roots);
    write_result(csv ? to_csv(validation) : to_markdown(validation), options.output);
    return kDone;
  }
  if (study == "wan") {
    if (options.reference.empty())
      throw InputError({},
                       "wan needs --reference FOLDER with published iperf.csv and localsgd.csv; docs/validation/wan.md "
                       "describes them");
    const WanValidation validation = validate_wan(options.reference);
    write_result(csv ? to_csv(validation) : to_markdown(validation), options.output);
    return kDone;
  }
  const auto [root, facts] = place_of_study(roots, study);
  if (options.held_out)
    return validate_protocol(options, study, root, options.reference.empty() ? facts : fs::path(options.reference));
  const fs::path file = options.reference.empty() ? facts : fs::path(options.reference);
  const auto write = [&](const auto& validation) {
    write_result(csv ? to_csv(validation) : to_markdown(validation), options.output);
    return kDone;
  };
  if (options.memory) return write(explain_memory(root, file, stop_at(options.time_limit)));
  if (study == "job") return write(validate_jobs(file));
  if (study == "runs" || study == "far-apart") return write(validate_runs(root, file));
  return study == "deepspeed" ? write(validate_deepspeed(root, file))
                              : write(validate_fabric(root, file, options.overrides));
}

int run(int argc, char** argv) {
  CLI::App app{"Compares predictions with the published facts of studies", "slmsim-validation"};
  ValidateOptions options;
  choose_from(app.add_option("STUDY", options.study, "the study"),
              {"fabric", "deepspeed", "gpu", "wan", "job", "runs", "far-apart"}, "there is no study \"{}\"")
      ->capture_default_str();
  app.add_option("--reference", options.reference,
                   "table of published facts; default: the one in tests/reference; for gpu: "
                   "a folder with operators.csv and kernels.csv; for wan: one with iperf.csv and localsgd.csv");
  app.add_option("--set", options.overrides,
                   "fabric: override a value in every slice, e.g. software.kernel_launch=8us");
  auto* held_out = app.add_flag("--held-out", options.held_out,
                                "fabric: fit to all slices but one and predict that one, with no, one and two pilot "
                                "runs; deepspeed: predict rows for a test before and after a fit to those for a fit; "
                                "takes about ten minutes");
  app.add_flag(
         "--memory", options.memory,
         "fabric: which of the study's open choices agree with most facts on fitting in memory, per slice and for all")
      ->excludes(held_out);
  app.add_option("--points", options.protocol.points, "with --held-out: number of points of each fit")
      ->needs(held_out)
      ->capture_default_str()
      ->check(number_within(16, 100'000));
  app.add_flag("--work-given", options.protocol.work_given,
               "with --held-out: the training length of each slice is known from its published rates and times")
      ->needs(held_out);
  app.add_option("--slice", options.protocol.slices, "with --held-out: leave out this one only; may be repeated")
      ->needs(held_out);
  add_seed(app, options.protocol.seed, "with --held-out: seed of the random numbers")->needs(held_out);
  app.add_option("--time-limit", options.time_limit,
                 "with --held-out: seconds after which it stops with the results so far")
      ->needs(held_out)
      ->check(number_within(0.001, 1e7));
  add_format_option(app, options.format, {"markdown", "csv"});
  add_output_option(app, options.output);
  app.footer(
      "\nExamples:\n  slmsim validate fabric --format csv --output facts.csv\n"
      "  slmsim validate fabric --memory\n"
      "  slmsim validate deepspeed\n"
      "  slmsim validate job\n"
      "  slmsim validate runs\n"
      "  slmsim validate gpu --reference tests/data/gpu\n"
      "  slmsim validate wan --reference tests/data/wan");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    return usage_error(plain_words(error.what()) + "; see slmsim-validation --help");
  }
  return validate_study(options);
}

}  // namespace
}  // namespace slmsim

int main(int argc, char** argv) {
  return slmsim::exit_status_of([&] { return slmsim::run(argc, argv); });
}
