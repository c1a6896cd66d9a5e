#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sim/base/file.h"
#include "sim/fit/measured_step.h"
#include "sim/fit/pilot.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostLines = 2'000'000;

// Drops escape sequences that colour a terminal's text: ESC [ parameters, and a letter.
void drop_colours(std::string& line) {
  for (std::size_t at = 0; (at = line.find("\x1b[", at)) != std::string::npos;) {
    const std::size_t end = line.find_first_not_of("0123456789;", at + 2);
    line.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
}

// The number that follows a marker in a line; "7,503" is read too.
std::optional<double> number_after(const std::string& line, const std::string& marker) {
  const auto at = line.find(marker);
  if (at == std::string::npos) return std::nullopt;
  std::string digits;
  for (std::size_t i = at + marker.size(); i < line.size(); ++i) {
    const char c = line[i];
    if ((c == ' ' || (c == '.' && marker.ends_with('.'))) && digits.empty()) continue;  // "seq_length ..... 1024"
    if (c == ',') continue;
    if (std::string("0123456789.eE+-").find(c) == std::string::npos) break;
    digits += c;
  }
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  return end == digits.c_str() || !std::isfinite(value) || value <= 0 ? std::nullopt : std::optional(value);
}

// The scope of a marker's number, where it differs from the forecast's.
enum class Per { kAll, kGpu, kSequences };

struct Marker {
  const char* program;
  const char* text;
  Measure measure;
  double unit;  // multiplies the number
  Per per;
  bool most;  // take the maximum over all steps, not the median
};

// For each program and measure, the first marker found counts.
constexpr Marker kMarkers[] = {
    {"Megatron-LM", "elapsed time per iteration (ms):", Measure::kIteration, 1e-3, Per::kAll, false},
    {"Megatron-LM", "elapsed time per iteration (s):", Measure::kIteration, 1, Per::kAll, false},
    {"Megatron-LM", "| max reserved:", Measure::kPeakMemory, kMebi, Per::kAll, true},
    {"DeepSpeed", "CurrSamplesPerSec=", Measure::kTokensPerSecond, 1, Per::kSequences, false},
    {"DeepSpeed", " SamplesPerSec=", Measure::kTokensPerSecond, 1, Per::kSequences, false},
    {"DeepSpeed", " iter time (s):", Measure::kIteration, 1, Per::kAll, false},
    {"DeepSpeed", "MaxMemAllocated=", Measure::kPeakMemory, kGibi, Per::kAll, true},
    {"torchtitan", " tps:", Measure::kTokensPerSecond, 1, Per::kGpu, false},
    {"torchtitan", " wps:", Measure::kTokensPerSecond, 1, Per::kGpu, false},
    {"torchtitan", " memory:", Measure::kPeakMemory, kGibi, Per::kAll, true},
    {"Alpa", "token/s,", Measure::kRate, kTera, Per::kAll, false},
};

constexpr const char* kSettingNames[] = {"global batch size", "sequence length", "number of GPUs",
                                         "number of parameters"};

struct SettingMarker {
  LoggedSetting setting;
  const char* text;
  double unit;
};

// For each setting the first marker found counts: a step's own words before those of the start.
constexpr SettingMarker kSettings[] = {
    {LoggedSetting::kBatch, "| global batch size:", 1},
    {LoggedSetting::kBatch, ", global batch size ", 1},
    {LoggedSetting::kBatch, " train_batch_size ..", 1},
    {LoggedSetting::kBatch, "\"train_batch_size\":", 1},
    {LoggedSetting::kBatch, " global_batch_size ..", 1},
    {LoggedSetting::kBatch, "Total train batch size (w. parallel, distributed & accumulation) =", 1},
    {LoggedSetting::kSequence, "| actual seqlen:", 1},
    {LoggedSetting::kSequence, "| curriculum seqlen:", 1},
    {LoggedSetting::kSequence, ", sequence length ", 1},
    {LoggedSetting::kSequence, " seq_length ..", 1},
    {LoggedSetting::kGpus, "using world size:", 1},
    {LoggedSetting::kGpus, " world_size ..", 1},
    {LoggedSetting::kParameters, "Total number of parameters in billions:", 1e9},
};

// The number before a word: "size: 8,030,261,248 total parameters".
std::optional<double> number_before(const std::string& line, const std::string& word) {
  const auto end = line.find(word);
  if (end == std::string::npos || end == 0) return std::nullopt;
  const auto begin = line.find_last_not_of("0123456789,", end - 1);
  return number_after(line, begin == std::string::npos ? "" : line.substr(0, begin + 1));
}

// torchtitan's "Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]": the product of the degrees.
std::optional<double> mesh_size(const std::string& line) {
  const auto mesh = line.find("device mesh with [");
  const auto degrees = mesh == std::string::npos ? mesh : line.find("], [", mesh);
  if (degrees == std::string::npos) return std::nullopt;
  double product = 1;
  for (std::size_t at = degrees + 4; at < line.size() && line[at] != ']'; ++at) {
    char* end = nullptr;
    const double degree = std::strtod(line.c_str() + at, &end);
    if (end == line.c_str() + at || degree < 1) return std::nullopt;
    product *= degree;
    at = static_cast<std::size_t>(end - line.c_str());
    if (at >= line.size() || line[at] == ']') break;
  }
  return product;
}

// Sequences of a step: their rate times its time, which a line states both.
std::optional<double> sequences_of_step(const std::string& line) {
  for (const auto& [time, unit] : {std::pair{"elapsed time per iteration (ms):", 1e-3},
                                   {"elapsed time per iteration (s):", 1.0},
                                   {" iter time (s):", 1.0}}) {
    const auto took = number_after(line, time);
    if (!took) continue;
    for (const char* rate : {"samples per second:", "samples/sec:"}) {
      if (const auto per_second = number_after(line, rate)) return *took * unit * *per_second;
    }
  }
  return std::nullopt;
}

// Values without those of the warm-up.
std::vector<double> after_warm_up(std::vector<double> values) {
  const std::size_t warm = std::min(values.size() - 1, std::max<std::size_t>(1, values.size() / 10));
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(warm));
  return values;
}

// Collects settings line by line.
class SettingReader {
 public:
  void read(const std::string& line) {
    // DeepSpeed lists the data-parallel ranks as its world_size.
    const bool of_deepspeed = line.find("config.py") != std::string::npos;
    for (std::size_t m = 0; m < std::size(kSettings); ++m) {
      if (of_deepspeed && kSettings[m].setting == LoggedSetting::kGpus) continue;
      if (const auto value = number_after(line, kSettings[m].text)) found_[m].push_back(*value * kSettings[m].unit);
    }
    if (const auto size = mesh_size(line)) mesh_.push_back(*size);
    if (const auto count = number_before(line, " total parameters")) parameters_.push_back(*count);
    if (const auto sequences = sequences_of_step(line)) sequences_.push_back(*sequences);
  }

  std::vector<LoggedValues> settings() const {
    std::vector<LoggedValues> out;
    const auto add = [&](LoggedSetting setting, const std::vector<double>& values) {
      const bool known = std::ranges::any_of(out, [&](const auto& one) { return one.setting == setting; });
      if (!known && !values.empty()) out.push_back({setting, after_warm_up(values)});
    };
    for (std::size_t m = 0; m < std::size(kSettings); ++m) add(kSettings[m].setting, found_[m]);
    add(LoggedSetting::kBatch, sequences_);
    add(LoggedSetting::kGpus, mesh_);
    add(LoggedSetting::kParameters, parameters_);
    return out;
  }

 private:
  std::vector<std::vector<double>> found_{std::size(kSettings)};
  std::vector<double> mesh_, parameters_, sequences_;
};

LoggedFigure figure_of(const Marker& marker, std::vector<double> values, int gpus, double sequence) {
  const double unit = marker.unit * (marker.per == Per::kGpu ? gpus : marker.per == Per::kSequences ? sequence : 1.0);
  if (marker.most) return {marker.measure, unit * *std::ranges::max_element(values), 0};
  values = after_warm_up(std::move(values));
  const double median = median_of(values);
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  // Error of the median, estimated as that of a mean of all values.
  const double spread = (at(0.84) - at(0.16)) / 2 / median / std::sqrt(static_cast<double>(values.size()));
  return {marker.measure, unit * median, spread};
}

}  // namespace

const char* setting_name(LoggedSetting setting) { return kSettingNames[static_cast<std::size_t>(setting)]; }

TrainingLog read_training_log(const std::filesystem::path& file, int gpus, double sequence) {
  std::ifstream in = open_regular_file(file);
  std::vector<std::vector<double>> found(std::size(kMarkers));
  SettingReader settings;
  std::string line;
  for (std::size_t number = 0; number < kMostLines && std::getline(in, line); ++number) {
    drop_colours(line);
    settings.read(line);
    for (std::size_t m = 0; m < std::size(kMarkers); ++m) {
      if (const auto value = number_after(line, kMarkers[m].text)) found[m].push_back(*value);
    }
  }
  TrainingLog log;
  log.settings = settings.settings();
  for (std::size_t m = 0; m < std::size(kMarkers); ++m) {
    const Marker& marker = kMarkers[m];
    if (found[m].empty() || (!log.program.empty() && log.program != marker.program)) continue;
    const bool known =
        std::ranges::any_of(log.figures, [&](const LoggedFigure& f) { return f.measure == marker.measure; });
    if (known) continue;
    log.program = marker.program;
    log.figures.push_back(figure_of(marker, found[m], gpus, sequence));
  }
  if (log.figures.empty())
    throw InputError(
        whole_of(file.string()),
        "no steps of Megatron-LM, DeepSpeed, torchtitan or Alpa are in it; give the figure itself, such as "
        "iteration,1.19 s");
  return log;
}

}  // namespace slmsim
