#include "sim/import/inventory/gpu_names.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "sim/base/file_kind.h"
#include "sim/base/yaml.h"
#include "sim/platform/gpu_name.h"
#include "sim/scenario/data_root.h"

namespace slmsim {
namespace {

struct KnownGpu {
  std::string name, title;
};

const std::vector<KnownGpu>& known_gpus() {
  static const std::vector<KnownGpu> kKnown = [] {
    std::vector<KnownGpu> out;
    for (const auto& root : data_roots(std::filesystem::current_path() / "x")) {
      for (const auto& name : names_in(root / kGpuFile.folder)) {
        if (std::any_of(out.begin(), out.end(), [&](const auto& gpu) { return gpu.name == name; })) continue;
        const Node file = read_yaml(root / kGpuFile.folder / (name + ".yaml"));
        const Node* title = file.find("title");
        out.push_back({name, title ? title->scalar : name});
      }
    }
    return out;
  }();
  return kKnown;
}

}  // namespace

std::string gpu_called(const std::string& text) {
  std::string word = text;
  // FABRIC writes "GPU_TeslaT4" for one word "Tesla T4".
  for (const char* prefix : {"GPU_", "GPU-"}) {
    if (word.starts_with(prefix)) word = word.substr(4);
  }
  if (word.starts_with("Tesla") && word.size() > 5 && std::isupper(static_cast<unsigned char>(word[5])))
    word = word.substr(5);
  if (!names_a_gpu(word)) return "";
  for (const auto& gpu : known_gpus()) {
    if (is_same_gpu(word, gpu.name) || is_same_gpu(word, gpu.title)) return gpu.name;
  }
  return "";
}

const std::vector<std::string>& gpu_list() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> out;
    for (const auto& gpu : known_gpus()) out.push_back(gpu.name);
    return out;
  }();
  return kNames;
}

std::string gpu_title(const std::string& name) {
  for (const auto& gpu : known_gpus()) {
    if (gpu.name == name) return gpu.title;
  }
  return "";
}

}  // namespace slmsim
