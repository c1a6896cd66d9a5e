#include "sim/inventory/gpu_names.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "sim/base/file_kind.h"
#include "sim/base/yaml.h"
#include "sim/scenario/data_root.h"

namespace slmsim {
namespace {

struct KnownGpu {
  std::string name, title;
};

// What nvidia-smi prints where that has other words than the data sheet.
constexpr std::pair<const char*, const char*> kDriverNames[] = {
    {"NVIDIA H100 80GB HBM3", "h100"},
    {"NVIDIA GH200 480GB", "gh200"},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtxpro6000"},
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

// In small letters, without makers' and families' names.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const unsigned char c : text) {
    if (std::isalnum(c)) {
      words.back() += static_cast<char>(std::tolower(c));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  static const std::vector<std::string> kIdle = {"", "nvidia", "tesla", "quadro", "geforce", "gpu"};
  std::erase_if(words, [](const auto& word) { return std::find(kIdle.begin(), kIdle.end(), word) != kIdle.end(); });
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += word;
  return out;
}

bool same(const std::string& a, const std::string& b) {
  auto x = words_of(a), y = words_of(b);
  if (joined(x) == joined(y)) return true;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  return x == y;
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
  if (words_of(word).empty()) return "";
  for (const auto& [driver, name] : kDriverNames) {
    if (same(word, driver)) return name;
  }
  for (const auto& gpu : known_gpus()) {
    if (same(word, gpu.name) || same(word, gpu.title)) return gpu.name;
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
