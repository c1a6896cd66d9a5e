#include "sim/platform/gpu.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <regex>

#include <fmt/format.h>

#include "sim/base/text.h"

namespace slmsim {
namespace {

// Compute capabilities of data-centre GPUs, in the order of architecture_names() (CUDA C++ Programming Guide, compute
// capabilities); a GPU with another one states it.
constexpr std::array kCapabilities = {6.0, 7.0, 7.5, 8.0, 8.9, 9.0, 10.0};

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

// Default for GPUs whose file states no efficiency: the median of the GPUs measured in fp16 (docs/validation/gpu.md),
// and their distance from it.
constexpr MatrixEfficiency kUnknownEfficiency{.share = 0.75, .spread = 0.25, .assumed = true};

// Default share of the fp32 rate that products in emulated bf16 reach: the median of seven Turing GPUs, 0.51 to 0.6
// (github.com/zzc0721/torch-performance-test-data: T4 twice, T10, RTX 2080, RTX 2080 Ti, TU104, Titan RTX). P100 has
// 0.63, V100 0.73.
constexpr double kEmulatedBf16 = 0.55;

// Returns which shares are stated.
std::array<bool, kPrecisions> read_shares(Gpu& gpu, Fields& shares) {
  std::array<bool, kPrecisions> stated{};
  for (std::size_t p = 0; p < kPrecisions; ++p) {
    FileKey share{precision_names()[p],
                  "Share of this precision's peak that large products reach on an otherwise idle GPU. Provenance "
                  "typical: taken from similar GPUs.",
                  "0.75, for GPUs without measurements"};
    if (static_cast<Precision>(p) == Precision::kBf16) {
      share.about = "The same for bf16; relative to fp32's peak where the GPU lacks bf16, which PyTorch emulates.";
      share.otherwise = "0.75, for GPUs without measurements; 0.55 of fp32's where it is emulated";
    }
    if (!shares.has(share.name)) continue;
    stated[p] = true;
    MatrixEfficiency& e = gpu.efficiency[p];
    e = {.share = shares.number(share, {0.01, 2}), .spread = kUnknownEfficiency.spread, .assumed = false};
    if (const Parameter* parameter = shares.stated(share.name)) {
      e.assumed = parameter->provenance == Provenance::kTypical;
      if (parameter->spread > 0) e.spread = parameter->spread;
    }
    if (counted_as(gpu, static_cast<Precision>(p)) != static_cast<Precision>(p))
      shares.error(share.name, fmt::format("{} has no effect, since peak.{} is not stated: products run in fp32",
                                           shares.path_of(share.name), share.name));
  }
  shares.done();
  return stated;
}

// Call after the peaks are read.
void read_efficiency(Gpu& gpu, Fields& fields, const Node* given, Reading& reading) {
  gpu.efficiency.fill(kUnknownEfficiency);
  std::array<bool, kPrecisions> stated{};
  if (given) {
    Fields shares(*given, fields.path_of("efficiency"), reading);
    stated = read_shares(gpu, shares);
  }
  constexpr auto kBf16 = static_cast<std::size_t>(Precision::kBf16);
  if (stated[kBf16] || gpu.peak[kBf16].value > 0) return;
  const double single = gpu.efficiency[static_cast<std::size_t>(Precision::kFp32)].share;
  gpu.efficiency[kBf16] = {.share = kEmulatedBf16 * single, .spread = kUnknownEfficiency.spread, .assumed = true};
}

// Refuses times of another chip. Those of another variant may be useful: remarks_on() reports them.
void attach_profile(Profiles& profiles, const std::string& name, Gpu& gpu, Fields& fields) {
  const std::string path = fields.path_of("profile"), shown = printable(name).substr(0, 64);
  if (!profiles.attach(name, gpu))
    return fields.error("profile", fmt::format("{}: the platform has no profile \"{}\"; name a file of "
                                               "platforms/profiles",
                                               path, shown));
  const std::string& other = gpu.measured_on;
  if (is_same_chip(other, gpu.title) || is_same_chip(other, gpu.name)) return;
  fields.error("profile", fmt::format("{}: \"{}\" was measured on \"{}\", but {} is {}; name a profile of it, or write "
                                      "gpu: {} in that profile if they are the same",
                                      path, shown, printable(other).substr(0, 64), gpu.name, gpu.title, gpu.title));
}

// Inferred from BERT's training on A40, Quadro RTX 6000 and V100 (docs/validation/runs.md).
constexpr double kStill = 0.2;         // share of the board's power: memory, leakage and fans, at any clock
constexpr double kLeastVoltage = 0.8;  // relative to that at full clock
constexpr double kAsking = 0.9;        // clock, relative, at which kernels use all of the memory's bandwidth

PowerShares shares_within(double share) {
  const double cores = cores_within(share);
  return {.cores = cores, .memory = std::min(1.0, cores / kAsking)};
}

}  // namespace

const std::vector<std::string>& precision_names() {
  static const std::vector<std::string> kNames = {"fp16", "bf16", "tf32", "fp32"};
  return kNames;
}

double element_bytes(Precision precision) {
  return precision == Precision::kFp16 || precision == Precision::kBf16 ? 2.0 : 4.0;
}

const std::vector<std::string>& architecture_names() {
  static const std::vector<std::string> kNames = {"Pascal", "Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell"};
  return kNames;
}

FlopsPerSecond peak_of(const Gpu& gpu, Precision precision) {
  const FlopsPerSecond peak = gpu.peak[static_cast<std::size_t>(precision)];
  return peak.value > 0 ? peak : gpu.peak[static_cast<std::size_t>(Precision::kFp32)];
}

Precision counted_as(const Gpu& gpu, Precision precision) {
  const bool own = precision == Precision::kBf16 || gpu.peak[static_cast<std::size_t>(precision)].value > 0;
  return own ? precision : Precision::kFp32;
}

const MatrixEfficiency& efficiency_of(const Gpu& gpu, Precision precision) {
  return gpu.efficiency[static_cast<std::size_t>(counted_as(gpu, precision))];
}

double Gpu::clock() const {
  const bool narrow = compute_capability == 60 || compute_capability / 10 == 7 || compute_capability == 80;
  const double lanes = narrow ? 64 : 128;
  return peak[static_cast<std::size_t>(Precision::kFp32)].value / (2 * lanes * multiprocessors);
}

Gpu read_gpu(const Node& node, const std::string& path, Reading& reading, Profiles* profiles) {
  constexpr Range<FlopsPerSecond> kPeakRange{{1e9}, {1e17}};
  constexpr Range<BytesPerSecond> kBusRange{{1e7}, {1e13}};
  Fields fields(node, path, reading);
  const Owned owned = fields.owned_by(Scope::kGpu);
  Gpu gpu;
  gpu.name = fields.name({"name", "Name of the GPU in results."});
  gpu.title = fields.text({"title", "Its full name.", "its name"}, gpu.name);
  const std::size_t architecture =
      fields.choice({"architecture", "NVIDIA's name of its generation; it selects the kernels."}, architecture_names());
  gpu.architecture = architecture_names()[architecture];
  const FileKey capability{"compute_capability", "CUDA's compute capability, such as 8.6.",
                           "that of its architecture's data-centre GPUs"};
  gpu.compute_capability =
      static_cast<int>(std::lround(10 * fields.number(capability, {5.0, 20.0}, kCapabilities[architecture])));
  gpu.multiprocessors = static_cast<int>(fields.integer({"multiprocessors", "Streaming multiprocessors."}, {1, 4096}));
  gpu.memory = fields.quantity<Bytes>({"memory", "The device memory."}, {{64 * kMebi}, {16384 * kGibi}});
  gpu.memory_bandwidth = fields.quantity<BytesPerSecond>(
      {"memory_bandwidth", "The data sheet's rate of the device memory."}, {{1e9}, {1e15}});
  gpu.pcie = fields.quantity<BytesPerSecond>({"pcie", "The rate of its PCIe slot, in one direction."}, kBusRange);
  const FileKey nvlink{"nvlink", "The rate of all its NVLinks together, in one direction.", "it has no NVLink"};
  gpu.nvlink = fields.has("nvlink") ? fields.quantity<BytesPerSecond>(nvlink, kBusRange) : BytesPerSecond{0};
  gpu.peer_to_peer =
      fields.flag({"peer_to_peer",
                   "Whether NVIDIA's driver copies from it to another GPU over PCIe (not between GeForce cards); a "
                   "warning appears if the VM type states peer_to_peer: yes and this is no."},
                  true);
  const FileKey power{"board_power", "Power limit of the card or module by the data sheet; energy is computed from it.",
                      "no energy is reported"};
  if (fields.has(power.name)) gpu.board_power = fields.quantity<Watts>(power, {{1}, {1e5}});
  const auto read_peaks = [&](Fields& rates) {
    for (std::size_t p = 0; p < kPrecisions; ++p) {
      const auto& name = precision_names()[p];
      // Other precisions fall back on fp32, so its rate is required.
      const bool needed = static_cast<Precision>(p) == Precision::kFp32;
      const FileKey peak{name, "The rate of matrix products in this precision, without sparsity.",
                         needed ? "" : "the rate of fp32"};
      if (needed || rates.has(name)) gpu.peak[p] = rates.quantity<FlopsPerSecond>(peak, kPeakRange);
    }
  };
  fields.inside({"peak", "The data sheet's dense rates, by precision."}, read_peaks, true);
  read_efficiency(gpu, fields,
                  fields.child({"efficiency", "Share of the peak that large matrix products reach, by precision.",
                                "0.75, for GPUs without measurements"}),
                  reading);
  const FileKey sustained{"sustained", "Factor on efficiency during hours of training at the power limit.",
                          "1: whole runs were not compared"};
  if (fields.has(sustained.name)) gpu.sustained = fields.number(sustained, {0.1, 1});
  const std::string profile = fields.text(
      {"profile", "Profile measured by slmsim-calibrate: a name of platforms/profiles or the path of a file.",
       "data-sheet rates times the shares under software"},
      "");
  if (profiles && !profile.empty()) attach_profile(*profiles, profile, gpu, fields);
  fields.done();
  return gpu;
}

double cores_within(double share) {
  const double switching = std::clamp((share - kStill) / (1 - kStill), 0.0, 1.0);
  const double by_voltage = std::cbrt(switching);
  return by_voltage >= kLeastVoltage ? by_voltage : switching / (kLeastVoltage * kLeastVoltage);
}

void limit_power(Gpu& gpu, Watts limit) {
  gpu.power_limit = limit;
  gpu.left = shares_within(limit.value / gpu.board_power.value);
  const bool is_measured = gpu.measured_limit.value > 0;
  const PowerShares then =
      is_measured ? shares_within(std::min(1.0, gpu.measured_limit.value / gpu.board_power.value)) : PowerShares{};
  gpu.left_of_measured = {.cores = gpu.left.cores / then.cores, .memory = gpu.left.memory / then.memory};
}

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

namespace {

// "rtx3090" of "rtx3090:2", "rtx3090 x 2" and "2x rtx3090"; empty: no known GPU with a count.
std::string counted_gpu(const std::string& text, const std::vector<std::string>& known) {
  static const std::regex kBehind("(.+?)\\s*[xX*:]\\s*[0-9]+"), kBefore("[0-9]+\\s*[xX*]\\s*(.+)");
  std::smatch match;
  if (!std::regex_match(text, match, kBehind) && !std::regex_match(text, match, kBefore)) return "";
  return std::ranges::find(known, match[1].str()) == known.end() ? "" : match[1].str();
}

}  // namespace

std::string no_such_gpu(const std::string& name, const std::vector<std::string>& known) {
  // "h100-80" means "h100".
  const std::string* begin = nullptr;
  for (const auto& one : known) {
    const std::size_t at = one.size();
    const bool begins = name.starts_with(one + "-") && name.size() > at + 1 &&
                        std::isdigit(static_cast<unsigned char>(name[at + 1])) != 0;
    if (begins && (!begin || one.size() > begin->size())) begin = &one;
  }
  if (const std::string several = counted_gpu(name, known); !several.empty())
    return fmt::format("there is no GPU \"{}\"; a list names each GPU: [{}, {}, ...]", printable(name).substr(0, 64),
                       several, several);
  const std::string meant = begin ? fmt::format("did you mean \"{}\"?", *begin) : did_you_mean(name, known);
  return fmt::format("there is no GPU \"{}\"; {}", printable(name).substr(0, 64),
                     meant.starts_with("did you mean")
                         ? meant
                         : "list them by slmsim list gpus, or state architecture, multiprocessors, memory, "
                           "memory_bandwidth, pcie and peak in a map or file in its place, as "
                           "platforms/gpus/rtx3090.yaml does");
}

bool names_a_gpu(const std::string& text) { return !words_of(text).empty(); }

}  // namespace slmsim
