#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/platform/gpu.h"

namespace slmsim {
namespace {

// Names of nvidia-smi that differ from the data sheet's.
constexpr std::pair<const char*, const char*> kDriverNames[] = {
    {"NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM5 80GB"},
    {"NVIDIA GH200 480GB", "NVIDIA GH200 96GB"},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "NVIDIA RTX PRO 6000 Server"},
};

using Words = std::vector<std::string>;

// Lower-case words, without the names of makers and families.
Words words_of(const std::string& text) {
  Words words(1);
  for (const unsigned char c : text) {
    if (std::isalnum(c)) {
      words.back() += static_cast<char>(std::tolower(c));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  static const Words kIdle = {"", "nvidia", "tesla", "quadro", "geforce", "gpu"};
  std::erase_if(words, [](const auto& word) { return std::ranges::find(kIdle, word) != kIdle.end(); });
  return words;
}

std::string joined(const Words& words) {
  std::string out;
  for (const auto& word : words) out += word;
  return out;
}

bool have_same_words(Words a, Words b) {
  if (joined(a) == joined(b)) return true;
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b;
}

// The driver's name in the data sheet's words.
Words sheet_words(const std::string& name) {
  Words words = words_of(name);
  for (const auto& [driver, sheet] : kDriverNames) {
    if (have_same_words(words, words_of(driver))) return words_of(sheet);
  }
  return words;
}

bool is_memory(const std::string& word) {
  return word.size() > 2 && word.ends_with("gb") &&
         std::all_of(word.begin(), word.end() - 2, [](unsigned char c) { return std::isdigit(c); });
}

// "sxm4" and "sxm5" are one kind.
std::string slot_of(const std::string& word) {
  for (const char* slot : {"sxm", "pcie", "nvl"}) {
    if (word.starts_with(slot)) return slot;
  }
  return "";
}

struct Parts {
  Words chip;
  std::string memory, slot;
};
Parts parts_of(const std::string& name) {
  Parts parts;
  for (const auto& word : sheet_words(name)) {
    if (is_memory(word))
      parts.memory = word;
    else if (const std::string slot = slot_of(word); !slot.empty())
      parts.slot = slot;
    else if (!word.starts_with("hbm"))
      parts.chip.push_back(word);
  }
  return parts;
}

}  // namespace

bool is_same_gpu(const std::string& a, const std::string& b) { return have_same_words(sheet_words(a), sheet_words(b)); }

bool is_same_chip(const std::string& a, const std::string& b) {
  const Words one = parts_of(a).chip, other = parts_of(b).chip;
  return one.empty() || other.empty() || have_same_words(one, other);
}

bool is_other_variant(const std::string& a, const std::string& b) {
  const Parts one = parts_of(a), other = parts_of(b);
  const auto differ = [](const std::string& x, const std::string& y) { return !x.empty() && !y.empty() && x != y; };
  return differ(one.memory, other.memory) || differ(one.slot, other.slot);
}

std::string no_such_gpu(const std::string& name, const std::vector<std::string>& known) {
  const std::string meant = did_you_mean(name, known);
  return fmt::format("there is no GPU \"{}\"; {}", printable(name).substr(0, 64),
                     meant.starts_with("did you mean")
                         ? meant
                         : "list them by slmsim list gpus, or state architecture, multiprocessors, memory, "
                           "memory_bandwidth, pcie and peak in a map or file in its place, as "
                           "platforms/gpus/rtx3090.yaml does");
}

bool names_a_gpu(const std::string& text) { return !words_of(text).empty(); }

}  // namespace slmsim
