#include <set>

#include "sim/compute/operator_graph.h"
#include "sim/compute/transformer.h"
#include "sim/import/inventory/setup.h"
#include "sim/platform/platform.h"
#include "sim/report/report.h"
#include "sim/scenario/data_root.h"
#include "sim/serve/answer.h"

namespace slmsim::web {
namespace {

namespace fs = std::filesystem;

// The entry of each file of a kind, those of the nearest folder first; each name once.
template <class Entry>
Json entries(const std::vector<fs::path>& roots, const FileKind& kind, Entry entry) {
  Json out = Json::array();
  std::set<std::string> known;
  for (const auto& root : roots) {
    for (const auto& name : names_in(root / kind.folder)) {
      if (!known.insert(name).second) continue;
      try {
        Reading reading;
        Json one = entry(read_yaml(root / kind.folder / (name + ".yaml")), name, reading);
        if (reading.errors.empty()) out.push_back(std::move(one));
      } catch (const InputError&) {  // reported where the file is used
      }
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
  for (const auto& root : roots) {
    for (const auto& name : names_in(root / "scenarios")) scenarios.push_back(name);
  }
  out["scenarios"] = scenarios;
  return out;
}

}  // namespace slmsim::web
