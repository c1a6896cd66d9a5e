// slmsim shapes MODEL...: the kernels of models, for slmsim-calibrate to time.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/cli/command.h"
#include "sim/cli/machines.h"
#include "sim/compute/operator_graph.h"

namespace slmsim {
namespace {

constexpr int kMostSequences = 4096;

const std::vector<int> kUsualBatches = {1, 2, 4, 8, 16, 32, 64};

struct ShapesOptions {
  std::vector<std::string> models;
  std::vector<int> batch;
  std::int64_t sequence = 0;
  std::string format = "csv", output;
};

Transformer load_model(const std::string& word, std::int64_t sequence) {
  ChosenModel model = choose_model(word, ".", sequence);
  if (sequence == 0 && model.transformer.sequence < model.longest)
    fmt::print(stderr, "slmsim: {}: sequences of {} tokens; --sequence states others, {} at most\n", word,
               model.transformer.sequence, model.longest);
  return std::move(model.transformer);
}

std::string to_csv(const std::vector<Transformer>& models, const std::vector<int>& batch) {
  std::map<KernelShape, std::vector<std::string>> used;
  std::vector<KernelShape> order;
  for (const auto& model : models) {
    for (const auto& kernel : kernels_of(build_operator_graph(model), batch)) {
      auto& users = used[kernel.shape];
      if (users.empty()) order.push_back(kernel.shape);
      for (const auto& name : kernel.operators) users.push_back(model.name + " " + name);
    }
  }
  std::string out = "kernel,batch,m,n,k,operators\n";
  for (const auto& shape : order) {
    out += fmt::format("{},{},{},{},{},{}\n", shape.name, shape.batch, shape.m, shape.n, shape.k,
                       fmt::join(used.at(shape), "; "));
  }
  return out;
}

std::string to_json(const std::vector<Transformer>& models) {
  std::vector<std::string> entries;
  entries.reserve(models.size());
  for (const auto& m : models) {
    entries.push_back(fmt::format(
        "    {{\"name\": \"{}\", \"family\": \"{}\", \"hidden\": {}, \"heads\": {}, \"kv_heads\": {}, \"layers\": {}, "
        "\"sequence\": {}, \"vocabulary\": {}, \"intermediate\": {}, \"tied_embedding\": {}, \"parameters\": {:.0f}}}",
        m.name, name_in(family_names(), m.family), m.hidden, m.heads, m.kv_heads, m.layers, m.sequence, m.vocabulary,
        m.intermediate, m.tied_embedding, parameter_count(build_operator_graph(m))));
  }
  return fmt::format("{{\n  \"schema\": \"slmsim/models/1\",\n  \"models\": [\n{}\n  ]\n}}\n",
                     fmt::join(entries, ",\n"));
}

int shapes(const ShapesOptions& options) {
  const bool kernels = options.format == "csv";
  if (!kernels && !options.batch.empty()) throw InputError({}, "--batch is for csv; sizes do not depend on it");
  for (const int count : options.batch) {
    if (count < 1 || count > kMostSequences)
      throw InputError(
          {}, fmt::format("--batch {}: a number of sequences from 1 to {} is expected", count, kMostSequences));
  }
  std::vector<Transformer> models;
  read_each(options.models, [&](const std::string& name) { models.push_back(load_model(name, options.sequence)); });
  write_result(kernels ? to_csv(models, options.batch.empty() ? kUsualBatches : options.batch) : to_json(models),
               options.output);
  return kDone;
}

}  // namespace

Command add_shapes(CLI::App& app) {
  auto* verb = app.add_subcommand("shapes", "list the kernels of models for slmsim-calibrate, or their sizes");
  auto options = std::make_shared<ShapesOptions>();
  verb->add_option("MODEL", options->models,
                   "names of models/, files (YAML, or Hugging Face's config.json), folders with one, or ids of the hub")
      ->required();
  verb->add_option("--batch", options->batch, "sequences that a GPU has at once; default 1,2,4,8,16,32,64")
      ->delimiter(',');
  add_sequence_option(*verb, options->sequence);
  add_format_option(*verb, options->format, {"csv", "json"}, "csv: the kernels; json: the models' sizes");
  add_output_option(*verb, options->output);
  verb->footer(
      "\nExamples:\n  slmsim shapes gpt2m --output gpt2m.csv\n  slmsim shapes gpt2m my/config.json --batch 1,8\n"
      "  slmsim shapes gpt2m gpt2L --format json");
  return {verb, [options] { return shapes(*options); }};
}

}  // namespace slmsim
