// The page's view of a scenario, in the report's own sections.

#include "sim/compute/operator_graph.h"
#include "sim/crew/crew.h"
#include "sim/fit/intervals.h"
#include "sim/import/inventory/inventory.h"
#include "sim/report/page/page.h"
#include "sim/report/phrases.h"
#include "sim/scenario/data_root.h"
#include "sim/serve/answer.h"

namespace slmsim::web {
namespace {

Json section(const char* name, const char* title, const std::string& html) {
  return {{"name", name}, {"title", title}, {"html", html}};
}

Json cell_json(const Platform& platform, const Prediction& p) {
  Json out = head_json(p);
  out["place"] = place_of(platform, p);
  out["tflops_per_gpu"] = rounded(p.rate_per_gpu.value / kTera);
  out["tokens_per_second"] = rounded(p.tokens_per_second);
  out["gpu_hours"] = rounded(p.gpu_hours());
  out["energy_kwh"] = p.bill.energy ? Json(rounded(p.bill.energy->value / kJoulesPerKwh)) : Json(nullptr);
  out["cost"] = p.bill.cost ? Json(rounded(*p.bill.cost)) : Json(nullptr);
  out["currency"] = p.bill.cost ? Json(p.bill.currency) : Json(nullptr);
  double most = 0;
  for (const auto& m : p.memory) most = std::max(most, m.total() / m.limit);
  out["memory_share"] = rounded(most);  // share of the fullest GPU's memory
  return out;
}

Json comparison(const ModelReport& report) {
  return section("comparison", "Time of the job", comparison_section(report));
}
Json facts(const ModelReport& report) { return section("facts", "What else counts", facts_section(report)); }

Json figures(const ModelReport& report) {
  return section("figures", "All figures, and how the pick is made", figures_section(report));
}

Json model_json(const ModelReport& report) {
  Json cells = Json::array(), sections = Json::array();
  for (const Prediction* p : report.predictions) cells.push_back(cell_json(report.platform(), *p));
  sections.push_back(comparison(report));
  sections.push_back(facts(report));
  sections.push_back(figures(report));
  sections.push_back(section("memory", "Memory", memory_section(report)));
  sections.push_back(section("iteration", "Time of an iteration", breakdown_section(report)));
  if (const std::string job = job_section(report); !job.empty())
    sections.push_back(section("job", "The whole job, with failures", job));
  const Prediction* pick = report.pick();
  return {{"name", report.model().name},
          {"verdict", verdict_text(report)},
          {"tiles", tiles_section(report, "being computed")},
          {"workload", workload_text(report)},
          {"pick", pick ? cell_json(report.platform(), *pick) : Json(nullptr)},
          {"cells", cells},
          {"sections", sections}};
}

// The report of model number "model"; of the first where it is absent.
ModelReport asked_report(const Question& question, const RunResult& result) {
  const auto at = question.body.find("model");
  const std::size_t index = at != question.body.end() && at->is_number_unsigned() ? at->get<std::size_t>() : 0;
  if (index >= result.scenario.models.size()) throw InputError({}, "\"model\" is not the number of a model");
  return report_of(result, index);
}

bool builds_on_files(const Node& root) {
  const Node* platform = root.find("platform");
  return root.find(kExtends.name) != nullptr || (platform && platform->kind == Node::Kind::kScalar);
}

namespace fs = std::filesystem;

// The entry of each file of a kind, those of the nearest folder first; each name once.
template <class Entry>
Json entries(const std::vector<fs::path>& roots, const FileKind& kind, Entry entry) {
  Json out = Json::array();
  for (const auto& file : files_below(roots, kind.folder)) {
    try {
      Reading reading;
      Json one = entry(read_yaml(file), file.stem().string(), reading);
      if (reading.errors.empty()) out.push_back(std::move(one));
    } catch (const InputError&) {  // reported where the file is used
    }
  }
  return out;
}

// The first sentence of the comment at the file's beginning.
std::string about(const Node& file) {
  std::string out;
  std::string_view text = file.place.source->text;
  while (text.starts_with("#")) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!out.empty()) out += ' ';
    out += line.substr(std::min(line.find_first_not_of("# "), line.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  const auto stop = out.find(". ");
  return printable(out.substr(0, stop == std::string::npos ? out.size() : stop + 1)).substr(0, 200);
}

}  // namespace

Json answer_run(const Question& question, const Workplace&, Memory&, const Progress&) {
  Scenario scenario = load_scenario(question.text, question.set);
  const PredictOptions options = json_options(scenario);
  return Json::parse(to_json(run_scenario(std::move(scenario), options)));
}

Json answer_view(const Question& question, const Workplace&, Memory& memory, const Progress&) {
  const RunResult& result = predicted(question, memory);
  Json models = Json::array();
  for (std::size_t i = 0; i < result.scenario.models.size(); ++i) models.push_back(model_json(report_of(result, i)));
  Json out = {{"scenario", result.scenario.name},
              {"models", models},
              {"assumed", assumed_json(all_assumptions(result))},
              {"compared", compared_text(result.scenario)},
              {"contradictions", contradictions_in(result.scenario.platform)}};
  add_trees(question, out);
  return out;
}

Json answer_timeline(const Question& question, const Workplace&, Memory& memory, const Progress&) {
  const RunResult& result = predicted(question, memory);
  const std::string bars = timelines_of(asked_report(question, result));
  Json sections = Json::array();
  if (!bars.empty()) sections.push_back(section("timeline", "Timeline of an iteration", bars));
  return {{"sections", sections}};
}

Json answer_intervals(const Question& question, const Workplace&, Memory& memory, const Progress&) {
  RunResult result = predicted(question, memory);
  add_intervals(question.text, question.set, result);
  VerdictOptions options;
  options.reload = reload_of(question);
  options.threads = available_cores();
  const std::vector<Verdict> verdicts = verdicts_of(result, options);
  Json models = Json::array();
  for (std::size_t i = 0; i < result.scenario.models.size(); ++i) {
    ModelReport report = report_of(result, i);
    report.verdict = verdicts[i];
    const Prediction* pick = report.pick();
    Json model = {{"name", report.model().name},
                  {"sure", sureness_text(report)},
                  {"tiles", tiles_section(report, "")},
                  {"probability", nullptr},
                  {"fits", nullptr},
                  {"sections", Json::array({comparison(report), facts(report), figures(report)})}};
    if (pick && result.uncertainty) {
      model["probability"] = rounded(result.uncertainty->picks[i].right);
      model["fits"] = rounded(result.uncertainty->cells[pick - result.predictions.data()].fits);
    }
    models.push_back(std::move(model));
  }
  return {{"models", models}};
}

Json answer_curve(const Question& question, const Workplace&, Memory& memory, const Progress&) {
  const RunResult& result = predicted(question, memory);
  ModelReport report = asked_report(question, result);
  report.sweep = sweep_latency(result.scenario, report.model(), result.predictions, {}, available_cores());
  return {{"sections", Json::array({section("rtt", "Round-trip time", latency_section(report))})}};
}

Json error_json(const Error& error, const std::filesystem::path& file) {
  const std::string name = error.place.source ? error.place.source->name : "";
  return {{"text", printable(error.text)},
          {"message", to_string(error)},
          {"file", printable(name)},
          {"line", error.place.line},
          {"column", letter_column(error.place)},
          {"own", !name.empty() && name == file.string()}};
}

Json tree_json(const Node& node) {
  constexpr const char* kKinds[] = {"null", "text", "list", "map"};  // in the order of Node::Kind
  Json out = {
      {"k", kKinds[static_cast<std::size_t>(node.kind)]}, {"l", node.place.line}, {"c", letter_column(node.place)}};
  if (node.kind == Node::Kind::kScalar) out["v"] = node.scalar;
  if (node.kind == Node::Kind::kSequence) out["i"] = Json::array();
  for (const auto& item : node.items) out["i"].push_back(tree_json(item));
  if (node.kind == Node::Kind::kMap) out["e"] = Json::array();
  for (const auto& entry : node.entries)
    out["e"].push_back({entry.key, entry.place.line, letter_column(entry.place), tree_json(entry.value)});
  return out;
}

void add_trees(const Question& question, Json& out) {
  try {
    const Node root = parse_yaml(question.text.text, question.text.file.string());
    out["tree"] = tree_json(root);
    if (builds_on_files(root))
      out["whole"] = tree_json(ScenarioFile(question.text).self_contained(question.text.file.parent_path()));
  } catch (const InputError&) {  // reported to the caller
  }
}

Json catalog_of(const fs::path& folder) {
  const auto roots = data_roots(folder / "x");
  Json out;
  out["models"] = entries(roots, kModelFile, [](const Node& file, const std::string& name, Reading& reading) -> Json {
    const Transformer model = read_transformer(file, name, name, reading);
    const double parameters = reading.errors.empty() ? parameter_count(build_operator_graph(model)) : 0;
    return {{"name", model.name}, {"parameters", parameters}};
  });
  out["gpus"] = entries(roots, kGpuFile, [](const Node& file, const std::string& name, Reading& reading) -> Json {
    const Gpu gpu = read_gpu(file, name, reading);
    return {{"name", name},
            {"title", gpu.title},
            {"memory_bytes", gpu.memory.value},
            {"architecture", gpu.architecture},
            {"usual_vms", {usual_vm_type({name}), usual_vm_type({name, name})}}};
  });
  out["vms"] = entries(roots, kVmFile, [](const Node& file, const std::string& name, Reading& reading) -> Json {
    const VmType type = read_vm_type(file, name, reading);
    return {{"name", name},      {"title", type.title},         {"about", about(file)},
            {"gpus", type.gpus}, {"gpu_count", type.gpu_count}, {"fixed", !type.inside.empty()}};
  });
  out["techniques"] = Json::parse(to_technique_json());
  Json scenarios = Json::array();
  for (const auto& file : files_below(roots, "scenarios")) scenarios.push_back(file.stem().string());
  out["scenarios"] = scenarios;
  return out;
}

}  // namespace slmsim::web
